// docs/conventions.md says which test proves which line; here is held that it is so. That it is the generated one is
// held with all generated files.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { contract } from '../conventions/contract.ts'
import { deferred, elsewhere, remarks } from '../conventions/elsewhere.ts'
import { allProofs } from '../conventions/proofs.ts'

const lines = Array.from({ length: 150 }, (_, index) => index + 1)
const proofs = allProofs()

describe('the table of API conventions', () => {
  it('has every line once', () => {
    expect([...contract.keys()]).toEqual(lines)
  })

  it('names no line that is not there', () => {
    const named = [...proofs.keys(), ...[elsewhere, deferred, remarks].flatMap(Object.keys).map(Number)]
    expect(named.filter(line => !contract.has(line))).toEqual([])
  })

  it('has a proof for every line, or says why there is none yet', () => {
    const open = lines.filter(line => !proofs.has(line) && deferred[line] === undefined)
    expect(open).toEqual([])
  })

  it('has only lines without proof among those that are put off', () => {
    expect(Object.keys(deferred).filter(line => proofs.has(Number(line)))).toEqual([])
  })

  it('names only tests that are there', () => {
    const missing = Object.values(elsewhere)
      .flat()
      .filter(({ file, title }) => !titlesOf(file).includes(title))
    expect(missing).toEqual([])
  })
})

/** The first arguments of `it`, `test` and their like; a title that is a template is the text between its quotes. */
function titlesOf(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(/(['"`])((?:(?!\1)[^\\\n]|\\.)*)\1,/g)].map(([, , title = '']) =>
    title.replace(/\\(.)/g, '$1'),
  )
}
