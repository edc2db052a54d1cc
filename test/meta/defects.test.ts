// The faults of `npm run defects` can still be put in: their place is there once, and their line has a test.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { allProofs } from '../conventions/proofs.ts'
import { defects } from '../defects/defects.ts'

const proofs = allProofs()

describe('the listed defects', () => {
  it.each(defects)('line $line: $what', ({ line, file, find, replace }) => {
    expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2)
    expect(replace).not.toBe(find)
    expect(proofs.get(line)).not.toBeUndefined()
  })

  it('are sorted by line', () => {
    const lines = defects.map(({ line }) => line)
    expect(lines).toEqual(lines.toSorted((a, b) => a - b))
  })
})
