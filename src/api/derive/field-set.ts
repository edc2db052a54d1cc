/**
 * Sets of fields in the form in which `metadata.managedFields` carries them (`FieldsV1` of structured-merge-diff): a tree
 * of `f:name`, `k:{"key":"value"}` and `v:value` elements. An element without children is in the set itself; one with
 * children is when it also has `.`. The empty set is undefined, so that a tree always holds something.
 */
import { shown } from '../../kernel/field-error.ts'
import { fromJson } from '../../kernel/json.ts'
import { byText } from '../order.ts'
import { isRecord, type JsonRecord } from '../record.ts'

export type FieldSet = { readonly [element: string]: FieldSet }
export type Fields = FieldSet | undefined

/** An element that is in the set and has nothing below it. */
export const leaf: FieldSet = Object.freeze({})

const self = '.'
/** What clients send is refused when it is deeper: no object is. */
const maxDepth = 1_000

export function isMember(set: FieldSet): boolean {
  return set === leaf || self in set || isLeaf(set)
}

function isLeaf(set: FieldSet): boolean {
  if (set === leaf) return true
  for (const _element in set) return false
  return true
}

type Elements = Record<string, FieldSet>

/**
 * One level of a tree: call `add` for each element, then `build`. Items have no end of names, and an object for each name
 * is another hidden class. Without a prototype it is a hash table, which is made in a third of the time but is written as
 * JSON more slowly: that is for levels that are `passing`. One that comes to be stored all the same says the same.
 */
export class Level {
  #elements: Elements | undefined
  readonly #isMember: boolean
  readonly #isPassing: boolean

  constructor(isMember: boolean, lasts: 'kept' | 'passing' = 'kept') {
    this.#isMember = isMember
    this.#isPassing = lasts === 'passing'
  }

  add(element: string, below: Fields): void {
    if (below === undefined) return
    this.#elements ??= this.#opened()
    this.#elements[element] = below
  }

  #opened(): Elements {
    const elements: Elements = this.#isPassing ? Object.create(null) : {}
    if (this.#isMember) elements[self] = leaf
    return elements
  }

  build(): Fields {
    return this.#elements ?? (this.#isMember ? leaf : undefined)
  }
}

export function union(a: Fields, b: Fields): Fields {
  if (a === undefined || b === undefined || a === b) return a ?? b
  let level = isMember(b) && !isMember(a) ? levelOf(a, true) : undefined
  for (const element in b) {
    if (element === self) continue
    const both = union(a[element], b[element])
    if (both === a[element]) continue
    level ??= levelOf(a, isMember(a))
    level.add(element, both)
  }
  return level === undefined ? a : level.build()
}

/** The fields of `a` that are not in `b`. */
export function difference(a: Fields, b: Fields): Fields {
  if (a === b) return undefined
  if (a === undefined || b === undefined || !meet(a, b)) return a
  return rebuilt(a, isMember(a) && !isMember(b), b, difference)
}

/** Whether anything may be in both: most managers have nothing to do with most changes. */
function meet(a: FieldSet, b: FieldSet): boolean {
  for (const element in b) if (element !== self && element in a) return true
  return isMember(a) && isMember(b)
}

/** The fields of `set` without what is gone, and with what has come: at once, since most changes have both. */
export function exchanged(set: Fields, gone: Fields, come: Fields): Fields {
  if (set === undefined || gone === undefined) return union(set, come)
  if (come === undefined) return difference(set, gone)
  const level = new Level(isMember(come) || (isMember(set) && !isMember(gone)))
  for (const element in set) {
    if (element !== self) level.add(element, exchanged(set[element], gone[element], come[element]))
  }
  for (const element in come) {
    if (element !== self && !(element in set)) level.add(element, come[element])
  }
  return level.build()
}

export function intersection(a: Fields, b: Fields): Fields {
  if (a === undefined || b === undefined) return undefined
  return rebuilt(a, isMember(a) && isMember(b), b, intersection)
}

type Combine = (a: Fields, b: Fields) => Fields

/** The set with something else below each element. Where that changes nothing it is the very set: most are large and stay. */
function rebuilt(set: FieldSet, stays: boolean, other: FieldSet, combine: Combine): Fields {
  const edited = new EditedLevel(set, stays)
  for (const element in set) {
    if (element === self) continue
    const before = set[element]
    edited.put(element, combine(before, other[element]), before)
  }
  return edited.build()
}

/** One level of a set that becomes another one: it is made anew only from the first element on that is another one. */
export class EditedLevel {
  readonly #set: Fields
  readonly #isMember: boolean
  #same = 0
  #level: Level | undefined

  constructor(set: Fields, asMember: boolean) {
    this.#set = set
    this.#isMember = asMember
    if (set !== undefined && asMember !== isMember(set)) this.#level = new Level(asMember)
  }

  /** To be called for each element of the set, in their order, with what it had; then for those that come. */
  put(element: string, fields: Fields, before: Fields): void {
    if (this.#level === undefined && fields === before) {
      this.#same++
      return
    }
    this.#level ??= levelOf(this.#set, this.#isMember, this.#same)
    this.#level.add(element, fields)
  }

  build(): Fields {
    return this.#level === undefined ? this.#set : this.#level.build()
  }
}

/** The level of a set, with its first elements. */
function levelOf(set: Fields, asMember: boolean, count = Number.POSITIVE_INFINITY): Level {
  const level = new Level(asMember)
  let left = count
  for (const element in set) {
    if (element === self) continue
    left -= 1
    if (left < 0) break
    level.add(element, set[element])
  }
  return level
}

/** The set with an element that is in it whatever is below. */
export function withSelf(set: Fields): FieldSet {
  if (set === undefined || isLeaf(set)) return leaf
  return self in set ? set : { [self]: leaf, ...set }
}

/** Whether anything is below an element. */
export function hasBelow(set: FieldSet): boolean {
  for (const element in set) if (element !== self) return true
  return false
}

/** What is below an element, without it. */
export function below(set: FieldSet): Fields {
  if (isLeaf(set)) return undefined
  const { [self]: _self, ...rest } = set
  return isLeaf(rest) ? undefined : rest
}

/** Field names of an object or keys of a map. */
export function fieldElement(name: string): string {
  return `f:${name}`
}

/** An item of a set. */
export function valueElement(value: unknown): string {
  return `v:${JSON.stringify(value)}`
}

/** An item of a list that is told apart by keys, which are sorted. */
function keyElement(keys: JsonRecord): string {
  return `k:${JSON.stringify(keys)}`
}

/** What a client sent for a set; undefined when it is none. */
export function parseFields(value: unknown): { readonly fields: Fields } | undefined {
  if (!isRecord(value)) return undefined
  if (Object.keys(value).every(element => element === self)) return { fields: undefined }
  const fields = parseLevel(value, maxDepth)
  return fields && { fields }
}

function parseLevel(value: JsonRecord, depth: number): Fields {
  if (depth === 0) return undefined
  const level = new Level(self in value || Object.keys(value).length === 0)
  for (const element of Object.keys(value)) {
    if (element === self) continue
    const inner = value[element]
    const name = canonicalElement(element)
    const parsed = isRecord(inner) ? parseLevel(inner, depth - 1) : undefined
    if (name === undefined || parsed === undefined) return undefined
    level.add(name, parsed)
  }
  return level.build()
}

function canonicalElement(element: string): string | undefined {
  switch (element.slice(0, 2)) {
    case 'f:':
      return element
    case 'k:':
      return canonicalKeys(parseJson(element.slice(2)))
    case 'v:':
      return canonicalValue(parseJson(element.slice(2)))
    case 'i:':
      return /^i:\d{1,15}$/.test(element) ? element : undefined
    default:
      return undefined
  }
}

function canonicalKeys(keys: unknown): string | undefined {
  if (!isRecord(keys)) return undefined
  return keyElement(Object.fromEntries(Object.entries(keys).toSorted(([a], [b]) => byText(a, b))))
}

function canonicalValue(value: unknown): string | undefined {
  return value === undefined ? undefined : valueElement(value)
}

function parseJson(text: string): unknown {
  try {
    return fromJson(text)
  } catch {
    // Whoever asked for a value learns that there is none.
    return undefined
  }
}

/** The paths of all fields, as conflicts name them: `.spec.ports[port=80,protocol="TCP"].name`, `.spec.set[="a"]`. */
export function pathsOf(set: Fields): readonly string[] {
  return set === undefined ? [] : pathsBelow(set, '')
}

function pathsBelow(set: FieldSet, path: string): readonly string[] {
  const elements = Object.keys(set)
    .filter(element => element !== self)
    .toSorted(byText)
    .map(element => ({ path: path + elementText(element), inner: set[element] ?? leaf }))
  return [
    ...elements.filter(({ inner }) => isMember(inner)).map(found => found.path),
    ...elements.flatMap(found => pathsBelow(found.inner, found.path)),
  ]
}

/** One element of a path. */
export function elementText(element: string): string {
  const text = element.slice(2)
  if (element.startsWith('f:')) return `.${text}`
  if (element.startsWith('i:')) return `[${text}]`
  if (element.startsWith('v:')) return `[=${shown(parseJson(text))}]`
  const keys = parseJson(text)
  const pairs = isRecord(keys) ? Object.entries(keys) : []
  return `[${pairs.map(([name, value]) => `${name}=${shown(value)}`).join(',')}]`
}
