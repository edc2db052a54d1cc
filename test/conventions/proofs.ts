/** Which test proves which line: read from the calls of `must` in this folder, and from the list of those elsewhere. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { elsewhere, type Proof } from './elsewhere.ts'

const folder = 'test/conventions'
const call = /\bmust\(\s*(\d+|\[[\d,\s]+\]),\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|(`))/g

/** Every call of `must`, with its numbers. Throws on a title that is put together, since nobody could look it up. */
export function declaredProofs(root = '.'): ReadonlyMap<number, readonly Proof[]> {
  const proofs = new Map<number, Proof[]>()
  for (const file of testFiles(root)) {
    const text = readFileSync(join(root, file), 'utf8')
    const calls = [...text.matchAll(call)]
    const expected = text.match(/\bmust\(/g)?.length ?? 0
    if (calls.length !== expected || calls.some(found => found[4] !== undefined)) {
      throw new Error(`${file}: lines and titles of must() have to be written out`)
    }
    for (const [, numbers = '', single, double] of calls) {
      const title = (single ?? double ?? '').replace(/\\(.)/g, '$1')
      for (const line of numbers.match(/\d+/g) ?? []) add(proofs, Number(line), { file, title })
    }
  }
  return proofs
}

/** Those of this folder, and behind them those elsewhere. */
export function allProofs(root = '.'): ReadonlyMap<number, readonly Proof[]> {
  const proofs = new Map([...declaredProofs(root)].map(([line, found]) => [line, [...found]]))
  for (const [line, found] of Object.entries(elsewhere)) {
    for (const proof of found) add(proofs, Number(line), proof)
  }
  return proofs
}

function testFiles(root: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.test.ts'))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map(name => `${folder}/${name}`)
}

function add(proofs: Map<number, Proof[]>, line: number, proof: Proof): void {
  const known = proofs.get(line) ?? []
  if (known.some(({ file, title }) => file === proof.file && title === proof.title)) return
  proofs.set(line, [...known, proof])
}
