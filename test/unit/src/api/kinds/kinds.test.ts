import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { validateMetadata } from '../../../../../src/api/derive/metadata.ts'
import { toObject } from '../../../../../src/api/derive/object.ts'
import { sampleOf } from '../../../../../src/api/derive/sample.ts'
import { applyDefaults, prune, validateSchema } from '../../../../../src/api/derive/validate.ts'
import { apiVersionOf } from '../../../../../src/api/kind.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'
import { parseJson } from '../../../../../src/codec/json.ts'
import { decodeBody, encodeBody } from '../../../../../src/codec/object-bytes.ts'
import { parseYaml, toYaml } from '../../../../../src/codec/yaml.ts'
import { fromJson } from '../../../../../src/kernel/json.ts'
import { objectsOf } from '../../../../support/kind-arbitrary.ts'

const named = kinds.map(kind => [`${kind.group}/${kind.kind}`, kind] as const)

describe.each(named)('%s', (_, kind) => {
  it('has a sample that is valid', () => {
    const sample = kind.prepare(applyDefaults(kind, sampleOf(kind)))
    expect(validateSchema(kind, sample)).toEqual([])
    expect(kind.validate(sample)).toEqual([])
    if (kind.storage !== 'review') expect(validateMetadata(kind, sample)).toEqual([])
    expect(prune(kind, sample).unknown).toEqual([])
  })

  it('takes every object of its schema, and defaults it once and for all', () => {
    fc.assert(
      fc.property(objectsOf(kind), object => {
        expect(validateSchema(kind, object)).toEqual([])
        expect(prune(kind, object).object).toBe(object)
        const filled = applyDefaults(kind, object)
        expect(applyDefaults(kind, filled)).toEqual(filled)
        expect(validateSchema(kind, filled)).toEqual([])
        expect(prune(kind, filled).unknown).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  it('comes back from bytes, JSON and YAML as it was', () => {
    fc.assert(
      fc.property(objectsOf(kind), object => {
        const text = JSON.stringify(object)
        expect(JSON.stringify(parseJson(text).value)).toBe(text)
        expect(toObject(kind, kind.storageVersion, parseJson(text).value as never)).toEqual(fromJson(text))
        const body = encodeBody(object)
        expect(decodeBody(object.apiVersion, object.kind, { revision: 0, body })).toEqual(fromJson(text))
        expect(parseYaml(toYaml(fromJson(text)))).toEqual({ value: fromJson(text), duplicates: [] })
      }),
      { numRuns: 25 },
    )
  })

  it('never fails on objects of wrong types', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.constantFrom(...Object.keys(kind.schema.properties ?? {}), 'x'), fc.jsonValue()),
        content => {
          const object = {
            apiVersion: apiVersionOf(kind),
            kind: kind.kind,
            metadata: { name: 'a' },
            ...content,
          }
          const pruned = prune(kind, applyDefaults(kind, object)).object
          if (validateSchema(kind, pruned).length === 0) kind.validate(kind.prepare(pruned))
        },
      ),
      { numRuns: 50 },
    )
  })

  it('is described, with every field that its columns show', () => {
    expect(kind.description).toMatch(/\.$/)
    expect(kind.versions.map(v => v.name)).toContain(kind.storageVersion)
    expect(kind.plural).toMatch(/^[a-z]+$/)
  })
})
