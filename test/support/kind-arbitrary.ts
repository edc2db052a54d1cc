/** Objects of any kind, made from its schema. */
import fc from 'fast-check'
import { sampleOf } from '../../src/api/derive/sample.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import type { JsonSchema } from '../../src/api/schema.ts'
import { canonicalInteger } from '../../src/kernel/json.ts'

/** Objects that are valid against the schema of the kind. What the schema cannot say need not hold. */
export function objectsOf(kind: AnyKind): fc.Arbitrary<KubeObject> {
  const { apiVersion, metadata } = sampleOf(kind)
  return valueMatching(kind.schema).map(content => ({
    apiVersion,
    kind: kind.kind,
    metadata,
    ...(content as Readonly<Record<string, unknown>>),
  }))
}

export function valueMatching(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema['x-kubernetes-int-or-string'] === true) {
    return fc.oneof(fc.integer({ min: 1, max: 65535 }), fc.constantFrom('http', 'dns'))
  }
  return schema.type === undefined ? fc.jsonValue() : makers[schema.type](schema)
}

const makers: Readonly<
  Record<NonNullable<JsonSchema['type']>, (schema: JsonSchema) => fc.Arbitrary<unknown>>
> = {
  string: text,
  integer,
  number: ({ minimum = -1e6, maximum = 1e6 }) => fc.double({ min: minimum, max: maximum, noNaN: true }),
  boolean: () => fc.boolean(),
  array: list,
  object,
}

/** Beyond 2^53 integers are bigints. */
function integer({ minimum, maximum, format }: JsonSchema): fc.Arbitrary<unknown> {
  if (format === 'int32') return fc.integer({ min: minimum ?? -(2 ** 31), max: maximum ?? 2 ** 31 - 1 })
  const least = BigInt(minimum ?? -(2n ** 63n))
  const greatest = BigInt(maximum ?? 2n ** 63n - 1n)
  return fc.bigInt({ min: least, max: greatest }).map(canonicalInteger)
}

function text({ enum: allowed, format, pattern, minLength = 0, maxLength = Infinity }: JsonSchema) {
  if (allowed !== undefined) return fc.constantFrom(...allowed)
  if (format === 'date-time') {
    return fc
      .date({ min: new Date('2000-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
      .map(date => date.toISOString().replace('Z', pattern === undefined ? 'Z' : '000Z'))
  }
  if (format === 'byte') return fc.base64String()
  if (pattern !== undefined) {
    return fc
      .stringMatching(new RegExp(pattern))
      .filter(word => word.length <= maxLength && word.length >= minLength)
  }
  return fc.string({ minLength, maxLength: Math.min(maxLength, minLength + 20) })
}

function list(schema: JsonSchema): fc.Arbitrary<unknown> {
  const { items = {}, minItems = 0, maxItems = 4 } = schema
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const bounds = { minLength: minItems, maxLength: Math.min(maxItems, minItems + 4) }
  const item = valueMatching(items)
  const type = schema['x-kubernetes-list-type']
  if (type === 'set') return fc.uniqueArray(item, { ...bounds, selector: value => JSON.stringify(value) })
  if (type === 'map') return fc.uniqueArray(item, { ...bounds, selector: value => keyText(value, keys) })
  return fc.array(item, bounds)
}

function keyText(value: unknown, keys: readonly string[]): string {
  // Items of a map list are objects.
  const item = value as Readonly<Record<string, unknown>>
  return JSON.stringify(keys.map(key => item[key]))
}

function object(schema: JsonSchema): fc.Arbitrary<unknown> {
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) {
    return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  }
  if (schema.additionalProperties !== undefined) {
    return fc.dictionary(fc.string(), valueMatching(schema.additionalProperties), { maxKeys: 4 })
  }
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, valueMatching(field)])
  // One arbitrary for each property of the schema.
  return fc.record(Object.fromEntries(fields) as Readonly<Record<string, fc.Arbitrary<unknown>>>, {
    requiredKeys: [...(schema.required ?? [])],
  })
}
