import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { shortHash } from '../../../../src/kernel/short-hash.ts'

describe('shortHash', () => {
  it('is 16 letters that any Kubernetes name may hold, and never changes', () => {
    fc.assert(fc.property(fc.array(fc.string()), parts => /^[0-9a-v]{16}$/.test(shortHash(...parts))))
    expect(shortHash('shop', 'web-abc')).toMatchInlineSnapshot(`"96apv2gi15agt2le"`)
  })

  it('tells parts apart', () => {
    expect(shortHash('a', 'bc')).not.toBe(shortHash('ab', 'c'))
  })
})
