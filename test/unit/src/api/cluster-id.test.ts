import { describe, expect, it } from 'vitest'
import { clusterIdProblem, memberNamespace } from '../../../../src/api/cluster-id.ts'

const long = 'a'.repeat(63)

describe('a cluster id', () => {
  it.each(['east', 'a', '1', 'east-1', 'east.example', long, `${'a'.repeat(31)}.${'b'.repeat(31)}`])(
    '%s is good',
    id => expect(clusterIdProblem(id)).toBeUndefined(),
  )

  it.each(['', 'East', '-east', 'east-', 'a.b.c', 'a..b', '.a', 'a.', 'a_b', 'a b', `${long}a`, 'a/b', 'é'])(
    '%j is refused',
    id => expect(clusterIdProblem(id)).toMatch(/^must be one or two DNS labels/),
  )
})

describe("a member's namespace", () => {
  it('is named after its id', () => {
    expect(memberNamespace('east')).toBe('member-east')
  })

  it.each(['east.example', long, `${'a'.repeat(31)}.${'b'.repeat(31)}`])(
    'is a label for %s too, and no other id has it',
    id => {
      const namespace = memberNamespace(id)
      expect(namespace).toMatch(/^member-[a-z0-9][-a-z0-9]*-[0-9a-f]{8}$/)
      expect(namespace.length).toBeLessThanOrEqual(63)
      expect(memberNamespace(`${id.slice(0, -1).replace('.', '-')}c`)).not.toBe(namespace)
    },
  )
})
