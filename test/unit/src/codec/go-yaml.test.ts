// What sigs.k8s.io/yaml makes of texts (test/peers/goyaml says it), and that ours does the same.
import { describe, expect, it } from 'vitest'
import { parseYaml } from '../../../../src/codec/yaml.ts'
import { type Fact, goYamlFacts } from '../../../support/go-yaml.ts'

/** What the parser of our library reads in another way. */
const differ = new Set([
  // Only YAML 1.1 breaks lines here.
  'a: \u0085b\n',
  'a: x\u2028y\n',
  // What is between brackets is to be indented.
  'a: [\n1\n]\n',
  'a: {\nb: 1\n}\n',
  'a: [\n1,\n2]\nb: 1\n',
  'y: {? <<\n: {a: 1}}\n',
  // An escape of JSON.
  'a: "\\n\\t\\"\\\\\\/\\a\\e\\_\\N\\L\\P\\0"\n',
  'a: "x\\/y"\n',
])

function ours(text: string): Omit<Fact, 'text'> {
  try {
    const { value, duplicates } = parseYaml(text)
    return { value: { read: value }, hasDuplicates: duplicates.length > 0 }
  } catch {
    // Go says in other words what is wrong.
    return { value: 'refused', hasDuplicates: false }
  }
}

function gos({ value, hasDuplicates }: Fact): Omit<Fact, 'text'> {
  return { value, hasDuplicates }
}

describe('a text', () => {
  it.each(goYamlFacts.filter(({ text }) => !differ.has(text)).map(fact => [fact.text, fact] as const))(
    'is read as in Go: %j',
    (text, fact) => {
      expect(ours(text)).toEqual(gos(fact))
    },
  )

  it.each(goYamlFacts.filter(({ text }) => differ.has(text)).map(fact => [fact.text, fact] as const))(
    'is not read as in Go: %j',
    (text, fact) => {
      expect(ours(text)).not.toEqual(gos(fact))
    },
  )
})
