/** Which fields an object has, by the shape of its kind. */
import { madeOnce } from '../../kernel/made-once.ts'
import { isRecord, type JsonRecord } from '../record.ts'
import {
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
export type Part = { readonly element: string; readonly shape: Shape; readonly value: unknown }

/** The parts that are owned one by one; undefined when the value is owned as a whole. Without those that nobody owns. */
export function partsOf(shape: Shape, value: unknown): readonly Part[] | undefined {
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

export function fieldShape(shape: Shape, name: string): Shape | undefined {
  return fieldOf(shape, name)?.shape
}

/** How a field of an object is owned; undefined when nobody owns it. */
export function fieldOf(shape: Shape, name: string): NamedField | undefined {
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
