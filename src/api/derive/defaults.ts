/**
 * Fills in the defaults of a schema and drops nulls that it does not allow, as decoding does in Kubernetes: a field
 * that is null counts as not given. A compiled step answers the very value it got when there was nothing to do.
 */
import { isRecord, type JsonRecord } from '../record.ts'
import type { JsonSchema } from '../schema.ts'

export type Defaulter = (value: unknown) => unknown

type Field = {
  readonly name: string
  readonly nullable: boolean
  readonly fallback: unknown
  readonly step: Defaulter | undefined
}

/** Undefined when there is never anything to do at or below this schema. */
export function compileDefaults(schema: JsonSchema): Defaulter | undefined {
  if (schema.properties !== undefined) return objectStep(Object.entries(schema.properties).map(fieldOf))
  if (schema.additionalProperties !== undefined) return each(compileDefaults(schema.additionalProperties))
  if (schema.items !== undefined) return each(compileDefaults(schema.items))
  return undefined
}

function fieldOf([name, schema]: readonly [string, JsonSchema]): Field {
  return {
    name,
    nullable: schema.nullable === true,
    fallback: schema.default,
    step: compileDefaults(schema),
  }
}

function objectStep(fields: readonly Field[]): Defaulter {
  return value => {
    if (!isRecord(value)) return value
    let changed: Record<string, unknown> | undefined
    for (const field of fields) {
      const current = value[field.name]
      const next = fieldStep(field, current)
      if (next === current) continue
      changed ??= { ...value }
      if (next === undefined) delete changed[field.name]
      else changed[field.name] = next
    }
    return changed ?? value
  }
}

function fieldStep(field: Field, current: unknown): unknown {
  const given = current === null && !field.nullable ? undefined : current
  if (given === undefined) return field.fallback
  return field.step === undefined ? given : field.step(given)
}

/** Every item of a list, or every value of a map. */
function each(step: Defaulter | undefined): Defaulter | undefined {
  if (step === undefined) return undefined
  return value => {
    if (Array.isArray(value)) return eachItem(step, value)
    return isRecord(value) ? eachValue(step, value) : value
  }
}

function eachItem(step: Defaulter, items: readonly unknown[]): readonly unknown[] {
  const next = items.map(step)
  return next.some((item, i) => item !== items[i]) ? next : items
}

function eachValue(step: Defaulter, map: JsonRecord): JsonRecord {
  const entries = Object.entries(map)
  const next = entries.map(([key, inner]) => [key, step(inner)] as const)
  return next.some(([, inner], i) => inner !== entries[i]?.[1]) ? Object.fromEntries(next) : map
}
