/** The structured merge of server-side apply: a configuration laid over an object, and parts taken out of one. */
import { copyOf, entryOf, isRecord, type JsonRecord, setEntry } from '../record.ts'
import { fieldShape, itemElement } from './field-paths.ts'
import { type FieldSet, type Fields, fieldElement, isMember, valueElement } from './field-set.ts'
import type { Shape } from './field-shape.ts'

const whole: Shape = { type: 'whole' }

/**
 * Replaces what is owned as a whole, merges the rest part by part. A null stands for itself only over what has no parts.
 * Objects in which nothing changes are the very objects that are live.
 */
export function mergeApplied(shape: Shape, live: unknown, applied: unknown): unknown {
  if (applied === undefined) return live
  if (live === undefined) return applied
  if (shape.type === 'whole') return applied
  if (shape.type === 'set' || shape.type === 'keyed') return mergeLists(shape, live, applied)
  return mergeRecords(shape, live, applied)
}

function mergeRecords(shape: Shape, live: unknown, applied: unknown): unknown {
  if (!isRecord(live)) return applied
  if (!isRecord(applied)) return applied === null && Object.keys(live).length > 0 ? live : applied
  let merged: Record<string, unknown> | undefined
  for (const name of Object.keys(applied)) {
    const before = entryOf(live, name)
    const value = mergeApplied(fieldShape(shape, name) ?? whole, before, applied[name])
    if (value === before) continue
    merged ??= copyOf(live)
    setEntry(merged, name, value)
  }
  return merged ?? live
}

type List = Extract<Shape, { readonly type: 'set' | 'keyed' }>

function mergeLists(shape: List, live: unknown, applied: unknown): unknown {
  if (!Array.isArray(live)) return applied
  if (!Array.isArray(applied)) return applied === null && live.length > 0 ? live : applied
  return mergeItems(shape, live, applied)
}

/** Applied items keep their order; the others stay before the applied item that they stood before. */
function mergeItems(shape: List, live: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const items = shape.type === 'keyed' ? shape.items : whole
  const places = new Map(live.map((item, at) => [elementOf(shape, item), at]))
  const wanted = new Set(applied.map(item => elementOf(shape, item)))
  const merged: unknown[] = []
  let next = 0
  const keepUntil = (end: number) => {
    for (; next < end; next += 1) {
      if (!wanted.has(elementOf(shape, live[next]))) merged.push(live[next])
    }
  }
  const found = applied.map(item => places.get(elementOf(shape, item)))
  const shared = nextShared(found, live.length)
  applied.forEach((item, i) => {
    const ahead = shared[i] ?? live.length
    keepUntil(ahead < next ? live.length : ahead)
    const at = found[i]
    merged.push(at === undefined ? item : mergeApplied(items, live[at], item))
  })
  keepUntil(live.length)
  return merged
}

/** For each applied item the place of the first one, from itself on, that was there before; `end` when none was. */
function nextShared(found: readonly (number | undefined)[], end: number): readonly number[] {
  const shared: number[] = []
  let ahead = end
  for (let i = found.length - 1; i >= 0; i -= 1) {
    ahead = found[i] ?? ahead
    shared[i] = ahead
  }
  return shared
}

function elementOf(shape: List, item: unknown): string {
  return shape.type === 'keyed' ? itemElement(shape, item) : valueElement(item)
}

/** The value without these fields. */
export function withoutFields(shape: Shape, value: unknown, fields: Fields): unknown {
  if (fields === undefined) return value
  if (Array.isArray(value)) return withoutItems(shape, value, fields)
  return isRecord(value) ? withoutEntries(shape, value, fields) : value
}

function withoutEntries(shape: Shape, value: JsonRecord, fields: FieldSet): unknown {
  const kept: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const found = fields[fieldElement(name)]
    if (found === undefined) setEntry(kept, name, value[name])
    else if (!isMember(found))
      setEntry(kept, name, withoutFields(fieldShape(shape, name) ?? whole, value[name], found))
  }
  return kept
}

function withoutItems(shape: Shape, items: readonly unknown[], fields: FieldSet): unknown {
  if (shape.type !== 'set' && shape.type !== 'keyed') return items
  return items.flatMap(item => {
    const found = fields[elementOf(shape, item)]
    if (found === undefined) return [item]
    if (isMember(found)) return []
    return [shape.type === 'keyed' ? withoutFields(shape.items, item, found) : item]
  })
}
