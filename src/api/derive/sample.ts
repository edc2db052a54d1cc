/** A valid object of any kind. */
import { type AnyKind, apiVersionOf } from '../kind.ts'
import type { KubeObject } from '../meta.ts'
import type { JsonSchema } from '../schema.ts'

/**
 * The kind's own sample, or else every field of its schema with the plainest value it takes. Without system fields, as a
 * client would send it; `version` is the preferred one by default.
 */
export function sampleOf(kind: AnyKind, version?: string): KubeObject {
  // Values of the schema make an object of the kind.
  const content = (kind.sample ?? plainValue(kind.schema)) as Readonly<Record<string, unknown>>
  return {
    apiVersion: apiVersionOf(kind, version),
    kind: kind.kind,
    metadata: { name: kind.sampleName, ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}) },
    ...content,
  }
}

function plainValue(schema: JsonSchema): unknown {
  if (schema.default !== undefined) return schema.default
  if (schema['x-kubernetes-int-or-string'] === true) return 80
  return schema.type === undefined ? {} : values[schema.type](schema)
}

const values: Readonly<Record<NonNullable<JsonSchema['type']>, (schema: JsonSchema) => unknown>> = {
  string: textOf,
  integer: numberOf,
  number: numberOf,
  boolean: () => true,
  array: schema => (schema.items === undefined || schema.maxItems === 0 ? [] : [plainValue(schema.items)]),
  object: schema => ({
    ...Object.fromEntries(
      Object.entries(schema.properties ?? {}).map(([name, field]) => [name, plainValue(field)]),
    ),
    ...(schema.additionalProperties === undefined ? {} : { key: plainValue(schema.additionalProperties) }),
  }),
}

const formats: Readonly<Record<string, readonly string[]>> = {
  'date-time': ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000000Z'],
  byte: ['aGVsbG8='],
}
/** Candidates for patterns: words, an address, a SHA-256 in hex. */
const words = ['sample', 'Sample', 'a', '1', '10.0.0.1', '0'.repeat(64)]

function textOf({
  enum: allowed,
  format = '',
  pattern,
  minLength = 0,
  maxLength = Infinity,
}: JsonSchema): string {
  if (allowed?.[0] !== undefined) return allowed[0]
  const fits = new RegExp(pattern ?? '', 'u')
  const word = (formats[format] ?? words).find(w => w.length <= maxLength && fits.test(w))
  if (word === undefined)
    throw new Error(`no sample text matches ${pattern}: the kind needs a sample of its own`)
  return word.padEnd(minLength, 'a')
}

function numberOf({ minimum = 1, maximum = Infinity }: JsonSchema): number {
  return Math.min(Math.max(minimum, 1), maximum)
}
