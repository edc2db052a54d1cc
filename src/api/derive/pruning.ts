/** Drops fields that a schema does not know, at any depth, and says which. */
import { isRecord, type JsonRecord } from '../record.ts'
import type { JsonSchema } from '../schema.ts'
import { isOpen, isProven, partOf, putOrDrop, type Walk } from './visit.ts'

/**
 * Answers the very value it got when all is known. `found` is told the walk's place of each unknown field. Fields that are
 * the very same in a record that has been through it are left alone.
 */
export type Pruner = (
  value: unknown,
  walk: Walk,
  found: (place: string) => void,
  proven?: JsonRecord,
) => unknown

/** Undefined when everything at and below this schema is kept. */
export function compilePruner(schema: JsonSchema): Pruner | undefined {
  if (schema.items !== undefined) return eachItem(compilePruner(schema.items))
  if (schema.properties !== undefined) return objectPruner(schema)
  if (schema.additionalProperties !== undefined) return eachValue(compilePruner(schema.additionalProperties))
  return schema.type === 'object' && !isOpen(schema) ? objectPruner({ ...schema, properties: {} }) : undefined
}

function objectPruner(schema: JsonSchema): Pruner {
  const open = isOpen(schema)
  const fields = new Map(
    Object.entries(schema.properties ?? {}).map(([name, field]) => [name, compilePruner(field)]),
  )
  return (value, walk, found, proven) => {
    if (!isRecord(value)) return value
    let changed: Record<string, unknown> | undefined
    for (const name in value) {
      const inner = value[name]
      const next = isProven(proven, name, inner)
        ? inner
        : field(name, inner, { walk, found, proven: partOf(proven, name) })
      if (next === inner) continue
      changed ??= { ...value }
      putOrDrop(changed, name, next)
    }
    return changed ?? value
  }

  function field(name: string, inner: unknown, { walk, found, proven }: Finding): unknown {
    const pruner = fields.get(name)
    if (pruner === undefined && (open || fields.has(name))) return inner
    walk.path.push(name)
    const next = pruner === undefined ? found(walk.at()) : pruner(inner, walk, found, proven)
    walk.path.pop()
    return next
  }
}

function eachItem(pruner: Pruner | undefined): Pruner | undefined {
  if (pruner === undefined) return undefined
  return (value, walk, found) => {
    if (!Array.isArray(value)) return value
    const items: readonly unknown[] = value
    const next = items.map((item, index) => at(index, item, pruner, { walk, found }))
    return next.some((item, i) => item !== items[i]) ? next : items
  }
}

function eachValue(pruner: Pruner | undefined): Pruner | undefined {
  if (pruner === undefined) return undefined
  return (value, walk, found) => {
    if (!isRecord(value)) return value
    const map: JsonRecord = value
    const next = Object.entries(map).map(
      ([key, inner]) => [key, at(key, inner, pruner, { walk, found })] as const,
    )
    return next.some(([key, inner]) => inner !== map[key]) ? Object.fromEntries(next) : map
  }
}

type Finding = {
  readonly walk: Walk
  readonly found: (place: string) => void
  readonly proven?: JsonRecord | undefined
}

function at(segment: string | number, value: unknown, pruner: Pruner, { walk, found }: Finding): unknown {
  walk.path.push(segment)
  const next = pruner(value, walk, found)
  walk.path.pop()
  return next
}
