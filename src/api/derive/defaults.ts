/**
 * Fills in the defaults of a schema and drops nulls that it does not allow, as decoding does in Kubernetes: a field
 * that is null counts as not given. A compiled step answers the very value it got when there was nothing to do.
 */
import { isRecord, type JsonRecord } from '../record.ts'
import type { JsonSchema } from '../schema.ts'
import { isProven, partOf, putOrDrop } from './visit.ts'

/** Fields that are the very same in a record that has been through it are left alone. */
export type Defaulter = (value: unknown, proven?: JsonRecord) => unknown

/**
 * What becomes of a null in a map of text: `empty` as in Go's maps, which built-in kinds and metadata have, `dropped` as in
 * custom resources.
 */
export type NullText = 'empty' | 'dropped'

type Field = {
  readonly name: string
  readonly nullable: boolean
  readonly fallback: unknown
  readonly step: Defaulter | undefined
}

/** Undefined when there is never anything to do at or below this schema. */
export function compileDefaults(schema: JsonSchema, nullText: NullText): Defaulter | undefined {
  const { properties, additionalProperties, items } = schema
  if (properties !== undefined) {
    return objectStep(Object.entries(properties).map(([name, field]) => fieldOf(name, field, nullText)))
  }
  if (additionalProperties !== undefined) return mapStep(additionalProperties, nullText)
  return items === undefined ? undefined : listStep(compileDefaults(items, nullText))
}

function fieldOf(name: string, schema: JsonSchema, nullText: NullText): Field {
  return {
    name,
    nullable: schema.nullable === true,
    fallback: schema.default,
    step: compileDefaults(schema, nullText),
  }
}

function objectStep(fields: readonly Field[]): Defaulter {
  return (value, proven) => {
    if (!isRecord(value)) return value
    let changed: Record<string, unknown> | undefined
    for (const field of fields) {
      const current = value[field.name]
      const next = isProven(proven, field.name, current)
        ? current
        : fieldStep(field, current, undefined, partOf(proven, field.name))
      if (next === current) continue
      changed ??= { ...value }
      putOrDrop(changed, field.name, next)
    }
    return changed ?? value
  }
}

function fieldStep(field: Field, current: unknown, textOfNull?: string, proven?: JsonRecord): unknown {
  const given = current === null && !field.nullable ? textOfNull : current
  if (given === undefined) return field.fallback
  return field.step === undefined ? given : field.step(given, proven)
}

function listStep(step: Defaulter | undefined): Defaulter | undefined {
  if (step === undefined) return undefined
  return value => {
    if (!Array.isArray(value)) return value
    const items: readonly unknown[] = value
    const next = items.map(item => step(item))
    return next.some((item, i) => item !== items[i]) ? next : items
  }
}

function mapStep(values: JsonSchema, nullText: NullText): Defaulter {
  const field = fieldOf('', values, nullText)
  const textOfNull = nullText === 'empty' && values.type === 'string' ? '' : undefined
  return value => (isRecord(value) ? eachValue(field, textOfNull, value) : value)
}

function eachValue(field: Field, textOfNull: string | undefined, map: JsonRecord): JsonRecord {
  const keys = Object.keys(map)
  if (keys.every(key => fieldStep(field, map[key], textOfNull) === map[key])) return map
  const next = keys.map(key => [key, fieldStep(field, map[key], textOfNull)] as const)
  return Object.fromEntries(next.filter(([, inner]) => inner !== undefined))
}
