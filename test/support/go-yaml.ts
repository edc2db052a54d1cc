/** Texts, and what sigs.k8s.io/yaml makes of them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '../../src/codec/json.ts'

export type Fact = {
  readonly text: string
  readonly value: { readonly read: unknown } | 'refused'
  readonly hasDuplicates: boolean
}

/** A line of `test/peers/goyaml`: the text, then JSON and whether a key stands twice, or null and what is wrong. */
export function toFact([text, json, last]: readonly [string, string | null, boolean | string]): Fact {
  if (json === null) return { text, value: 'refused', hasDuplicates: false }
  return { text, value: { read: parseJson(json).value }, hasDuplicates: last === true }
}

const stored = readFileSync(join(import.meta.dirname, 'go-yaml.json'), 'utf8')

// The file has lines of that program.
export const goYamlFacts: readonly Fact[] = (
  JSON.parse(stored) as readonly (readonly [string, string | null, boolean | string])[]
).map(toFact)
