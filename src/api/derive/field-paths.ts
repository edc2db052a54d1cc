/** Which fields an object has, and in which two objects differ, by the shape of their kind. */
import { isDeepStrictEqual } from 'node:util'
import { madeOnce } from '../../kernel/made-once.ts'
import { entryOf, isRecord, type JsonRecord } from '../record.ts'
import { type Changes, Differences, noChanges } from './field-changes.ts'
import {
  below,
  type FieldSet,
  type Fields,
  fieldElement,
  hasBelow,
  Level,
  leaf,
  valueElement,
  withSelf,
} from './field-set.ts'
import type { ListKey, NamedField, Shape } from './field-shape.ts'

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
    const field = fieldOf(shape, name)
    const part = value[name]
    if (field === undefined || part === undefined) continue
    parts.push({ element: field.element, shape: field.shape, value: part })
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
  return fieldOf(shape, name)?.shape
}

function fieldOf(shape: Shape, name: string): NamedField | undefined {
  if (shape.type !== 'struct')
    return { element: fieldElement(name), shape: shape.type === 'map' ? shape.values : shape }
  const { fields, rest } = shape
  return fields.get(name) ?? (rest && { element: fieldElement(name), shape: rest })
}

/** The item of a list by its keys; absent keys have their default, or are left out. */
export function itemElement({ keys }: Keyed, item: unknown): string {
  const record = isRecord(item) ? item : {}
  let pairs = ''
  for (const key of keys) {
    const value = keyOf(key, record)
    if (value !== undefined) pairs += `${pairs && ','}${key.text}:${JSON.stringify(value)}`
  }
  return `k:{${pairs}}`
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
  if (shape.type !== 'struct' || parts.some(isDeep)) return everyPart(parts)
  const last = lastSet(shape)
  if (!isOf(parts, last.elements)) {
    last.elements = parts.map(part => part.element)
    last.set = everyPart(parts)
  }
  return last.set
}

function everyPart(parts: readonly Part[]): FieldSet {
  const level = new Level(true)
  for (const part of parts) level.add(part.element, everyField(part.shape, part.value))
  return level.build() ?? leaf
}

function isDeep({ shape }: Part): boolean {
  return shape.type !== 'whole'
}

type FlatSet = { elements: readonly string[]; set: FieldSet }

/** The set of the last object of a shape that had nothing but wholes: mostly the next has the same fields. */
const lastSet = madeOnce((_shape: Shape): FlatSet => ({ elements: [], set: leaf }))

function isOf(parts: readonly Part[], elements: readonly string[]): boolean {
  return parts.length === elements.length && parts.every((part, i) => part.element === elements[i])
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
  if (shape.type === 'whole') return compareLeaves(before, after)
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
  const found = new Differences('kept')
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
  const field = fieldOf(shape, name)
  if (field === undefined) return
  const { element, shape: inner } = field
  const had = entryOf(before, name)
  const has = entryOf(after, name)
  if (had !== undefined && has !== undefined) found.add(element, compareFields(inner, had, has))
  else if (has !== undefined) found.come(element, everyField(inner, has))
  else if (had !== undefined) found.go(element, everyField(inner, had))
}

const itself: Changes = { ...noChanges, modified: leaf }

/** Both are not the very same. */
function compareLeaves(before: unknown, after: unknown): Changes {
  const areScalars = typeof before !== 'object' && typeof after !== 'object'
  return !areScalars && isDeepStrictEqual(before, after) ? noChanges : itself
}

/** Null is not the same as empty. What nobody owns does not count. */
function compareEmpty(before: unknown, after: unknown): Changes {
  return (before === null) === (after === null) ? noChanges : itself
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
  const found = new Differences('passing')
  const [first, next] = [had[0], has[0]]
  // Many lists have one item, and need no map to find it.
  if (had.length === 1 && has.length === 1 && first !== undefined && next !== undefined) {
    compareOne(first, next, found)
    return found.build()
  }
  const old = new Map<string, Part>()
  for (const part of had) old.set(part.element, part)
  for (const { element, shape, value } of has) {
    const before = old.get(element)
    if (before === undefined) {
      found.come(element, everyField(shape, value))
      continue
    }
    old.delete(element)
    found.add(element, compareFields(shape, before.value, value))
  }
  for (const { element, shape, value } of old.values()) found.go(element, everyField(shape, value))
  return found.build()
}

function compareOne(before: Part, after: Part, found: Differences): void {
  const { element, shape, value } = after
  if (element === before.element) {
    found.add(element, compareFields(shape, before.value, value))
    return
  }
  found.come(element, everyField(shape, value))
  found.go(before.element, everyField(before.shape, before.value))
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
