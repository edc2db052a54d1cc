import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { open, proofs } from '../cases/reports.ts'

/** The rows of the notes that are about exports, imports, slices and members. */
const rows =
  'B10 B11 B13 B14 B16 B17 B19 B20 B23 B25 B26 B28 B29 B31 B32 B34 B35 B37 B38 B40 B41 B43 B44 B46 B47 B49 B50 B52 B53 B55 B58 B59 B61 B62 B64 B65 B67 B68 B70 B76 B80 B82 B83 B85 B86 B95 B97 B98 B100 B101 B104'

describe('user reports', () => {
  it('are each proven or said to be open, and never both', () => {
    const told = [...Object.keys(proofs), ...Object.keys(open)]
    expect(told).toHaveLength(new Set(told).size)
    expect(new Set(told)).toEqual(new Set(rows.split(' ')))
  })

  it.each(Object.entries(proofs))('%s is held by a test that is there', (_, { file, title }) => {
    expect(readFileSync(file, 'utf8')).toContain(title)
  })
})
