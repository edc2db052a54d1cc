/** Which fields an object has, and in which two objects differ, by the shape of their kind. */
import { isDeepStrictEqual } from 'node:util'
import { entryOf, isRecord, type JsonRecord } from '../record.ts'
import {
  below,
  type FieldSet,
  type Fields,
  fieldElement,
  hasBelow,
  keyElement,
  Level,
  leaf,
  union,
  valueElement,
  withSelf,
} from './field-set.ts'
import type { ListKey, Shape } from './field-shape.ts'

export type Changes = { readonly added: Fields; readonly modified: Fields; readonly removed: Fields }

export const noChanges: Changes = { added: undefined, modified: undefined, removed: undefined }

type Keyed = Extract<Shape, { readonly type: 'keyed' }>
type Part = { readonly element: string; readonly shape: Shape; readonly value: unknown }

/** The parts that are owned one by one; undefined when the value is owned as a whole. Without those that nobody owns. */
function partsOf(shape: Shape, value: unknown): readonly Part[] | undefined {
  if (shape.type === 'whole') return undefined
  if (value === null) return shape.type === 'free' ? undefined : []
  if (shape.type === 'set' || shape.type === 'keyed') {
    return Array.isArray(value) ? itemsOf(shape, value) : undefined
  }
  return isRecord(value) ? entriesOf(shape, value) : undefined
}

function entriesOf(shape: Shape, value: JsonRecord): readonly Part[] {
  const parts: Part[] = []
  for (const name of Object.keys(value)) {
    const inner = fieldShape(shape, name)
    const part = value[name]
    if (inner === undefined || part === undefined) continue
    parts.push({ element: fieldElement(name), shape: inner, value: part })
  }
  return parts
}

const whole: Shape = { type: 'whole' }

function itemsOf(shape: Shape, items: readonly unknown[]): readonly Part[] {
  if (shape.type !== 'keyed')
    return items.map(value => ({ element: valueElement(value), shape: whole, value }))
  return items.map(value => ({ element: itemElement(shape, value), shape: shape.items, value }))
}

/** How a field of an object is owned; undefined when nobody owns it. */
export function fieldShape(shape: Shape, name: string): Shape | undefined {
  if (shape.type === 'struct') return shape.fields.get(name) ?? shape.rest
  return shape.type === 'map' ? shape.values : shape
}

/** The item of a list by its keys; absent keys have their default, or are left out. */
export function itemElement({ keys }: Keyed, item: unknown): string {
  const record = isRecord(item) ? item : {}
  const given: Record<string, unknown> = {}
  for (const key of keys) {
    const value = keyOf(key, record)
    if (value !== undefined) given[key.name] = value
  }
  return keyElement(given)
}

function keyOf({ name, fallback }: ListKey, item: JsonRecord): unknown {
  return item[name] ?? fallback
}

/** The keys that an item has to have and has not. */
export function missingKeys({ keys }: Keyed, item: unknown): readonly string[] {
  const record = isRecord(item) ? item : {}
  return keys.filter(key => keyOf(key, record) === undefined).map(key => key.name)
}

/** Every place in a value, containers too: what comes and goes with it. */
export function everyField(shape: Shape, value: unknown): FieldSet {
  const parts = partsOf(shape, value) ?? []
  if (parts.length === 0) return leaf
  const level = new Level(true)
  for (const part of parts) level.add(part.element, everyField(part.shape, part.value))
  return level.build() ?? leaf
}

/**
 * What an applied configuration claims: leaves, the entries of maps and the items of lists; named fields that hold others
 * only through these.
 */
export function claimedFields(shape: Shape, value: unknown): Fields {
  const parts = partsOf(shape, value)
  if (parts === undefined) return leaf
  const level = new Level(false)
  for (const part of parts) {
    const fields = claimedFields(part.shape, part.value)
    level.add(part.element, isClaimed(shape, part) ? withSelf(fields) : fields)
  }
  return level.build()
}

function isClaimed(shape: Shape, { element, value }: Part): boolean {
  if (value === null || (isRecord(value) && Object.keys(value).length === 0)) return true
  return shape.type !== 'struct' || !shape.fields.has(element.slice(2))
}

/** From one state to the next. Both are given. */
export function compareFields(shape: Shape, before: unknown, after: unknown): Changes {
  if (before === after) return noChanges
  if (isByName(shape) && isRecord(before) && isRecord(after)) return compareRecords(shape, before, after)
  const had = partsOf(shape, before)
  const has = partsOf(shape, after)
  if (had === undefined || has === undefined) return compareWholes(shape, before, after)
  if (had.length === 0 && has.length === 0) return compareEmpty(before, after)
  return compareParts(had, has)
}

function isByName({ type }: Shape): boolean {
  return type === 'struct' || type === 'map' || type === 'free'
}

/** Most fields are the same in both, and cost nothing but a look at each. What is inherited equals nothing that JSON has. */
function compareRecords(shape: Shape, before: JsonRecord, after: JsonRecord): Changes {
  const found = new Differences()
  for (const name of Object.keys(after)) {
    if (after[name] !== before[name]) compareEntry(shape, name, { before, after }, found)
  }
  for (const name of Object.keys(before)) {
    if (before[name] !== after[name] && entryOf(after, name) === undefined)
      compareEntry(shape, name, { before, after }, found)
  }
  return found.build()
}

type States = { readonly before: JsonRecord; readonly after: JsonRecord }

function compareEntry(shape: Shape, name: string, { before, after }: States, found: Differences): void {
  const inner = fieldShape(shape, name)
  if (inner === undefined) return
  const had = entryOf(before, name)
  const has = entryOf(after, name)
  if (had !== undefined && has !== undefined) found.add(fieldElement(name), compareFields(inner, had, has))
  else if (has !== undefined) found.added.add(fieldElement(name), everyField(inner, has))
  else if (had !== undefined) found.removed.add(fieldElement(name), everyField(inner, had))
}

/** What was found in the parts of two states. */
class Differences {
  readonly added = new Level(false)
  readonly modified = new Level(false)
  readonly removed = new Level(false)

  add(element: string, changes: Changes): void {
    this.added.add(element, changes.added)
    this.modified.add(element, changes.modified)
    this.removed.add(element, changes.removed)
  }

  build(): Changes {
    const [added, modified, removed] = [this.added.build(), this.modified.build(), this.removed.build()]
    return added === undefined && modified === undefined && removed === undefined
      ? noChanges
      : { added, modified, removed }
  }
}

function compareLeaves(before: unknown, after: unknown): Changes {
  return isDeepStrictEqual(before, after) ? noChanges : { ...noChanges, modified: leaf }
}

/** Null is not the same as empty. What nobody owns does not count. */
function compareEmpty(before: unknown, after: unknown): Changes {
  return (before === null) === (after === null) ? noChanges : { ...noChanges, modified: leaf }
}

/** When only one of the two has parts, they come or go besides. */
function compareWholes(shape: Shape, before: unknown, after: unknown): Changes {
  const changes = compareLeaves(before, after)
  if (changes.modified === undefined) return changes
  return { ...changes, added: partsBelow(shape, after), removed: partsBelow(shape, before) }
}

function partsBelow(shape: Shape, value: unknown): Fields {
  return below(everyField(shape, value))
}

function compareParts(had: readonly Part[], has: readonly Part[]): Changes {
  const found = new Differences()
  const old = new Map(had.map(part => [part.element, part]))
  for (const { element, shape, value } of has) {
    const before = old.get(element)
    if (before === undefined) {
      found.added.add(element, everyField(shape, value))
      continue
    }
    old.delete(element)
    found.add(element, compareFields(shape, before.value, value))
  }
  for (const { element, shape, value } of old.values()) found.removed.add(element, everyField(shape, value))
  return found.build()
}

/** What changed and is still there. */
export function takenFields({ added, modified }: Changes): Fields {
  return union(added, modified)
}

/** The set with every named field in it that something below it is in. */
export function withContainers(shape: Shape, set: Fields): Fields {
  if (set === undefined || !hasNamedFields(shape)) return set
  const level = new Level('.' in set)
  for (const element in set) {
    if (element === '.') continue
    const inner = elementShape(shape, element)
    const fields = inner === undefined ? set[element] : deepen(inner, set[element])
    const isNamed = shape.type === 'struct' && shape.fields.has(element.slice(2))
    level.add(element, isNamed ? withSelf(fields) : fields)
  }
  return level.build()
}

function hasNamedFields(shape: Shape): boolean {
  if (shape.type === 'map') return hasNamedFields(shape.values)
  return shape.type === 'struct' || shape.type === 'keyed'
}

function deepen(shape: Shape, set: Fields): Fields {
  return set === undefined || !hasBelow(set) ? set : withContainers(shape, set)
}

function elementShape(shape: Shape, element: string): Shape | undefined {
  if (element.startsWith('f:')) return fieldShape(shape, element.slice(2))
  return shape.type === 'keyed' ? shape.items : undefined
}
