/** What a writer owns after a write, found in one walk: most write what nobody else does. */
import { compareFields, noChanges, partsBelow, takenFields } from './field-changes.ts'
import { everyField } from './field-paths.ts'
import { difference, EditedLevel, exchanged, type Fields, isMember, leaf, union } from './field-set.ts'
import type { Shape } from './field-shape.ts'
import { type Differing, walkDifferences } from './field-walk.ts'

/** What a writer owns after it has made one object of another. */
export type Written = {
  readonly fields: Fields
  /** The fields of the object, as sets of fields name them, in which anything differs. */
  readonly touched: readonly string[]
  /** Whether something has come or has another value, and not only gone. */
  readonly takes: boolean
}

/** `owned` is what it owned before. */
export function writtenFields(shape: Shape, before: unknown, after: unknown, owned: Fields): Written {
  const parts = new OwnedParts()
  const seen: Seen = { differs: false, takes: false, touched: [] }
  walkDifferences(shape, before, after, parts)
  const fields = parts.after(owned, seen, true)
  return { fields, touched: seen.touched, takes: seen.takes }
}

type Seen = { differs: boolean; takes: boolean; readonly touched: string[] }

/** A part that may differ; without `before` it has come, without `after` it is gone. */
type Change = {
  readonly element: string
  readonly shape: Shape
  readonly before: unknown
  readonly after: unknown
  isMade: boolean
}

/** More are found by a map. */
const few = 8

/**
 * One level of a set that becomes another one. Changes are made where the set has their elements: to look these up in it
 * takes longer than to go through them, since a text that no object was ever asked for has no place in its tables.
 */
class OwnedParts implements Differing {
  readonly #changes: Change[] = []

  both(element: string, shape: Shape, before: unknown, after: unknown): void {
    this.#changes.push({ element, shape, before, after, isMade: false })
  }

  come(element: string, shape: Shape, after: unknown): void {
    this.#changes.push({ element, shape, before: undefined, after, isMade: false })
  }

  go(element: string, shape: Shape, before: unknown): void {
    this.#changes.push({ element, shape, before, after: undefined, isMade: false })
  }

  /** Not of a list that has an item twice. */
  get areDistinct(): boolean {
    const changes = this.#changes
    if (changes.length > few) return new Set(changes.map(change => change.element)).size === changes.length
    return changes.every(
      (change, at) => changes.findIndex(({ element }) => element === change.element) === at,
    )
  }

  /** What becomes of the set. */
  after(owned: Fields, seen: Seen, isRoot = false): Fields {
    if (this.#changes.length === 0) return owned
    const find = this.#finder()
    const level = new EditedLevel(owned, owned !== undefined && isMember(owned))
    for (const element in owned) {
      if (element === '.') continue
      const change = find(element)
      const fields = owned[element]
      level.put(element, change === undefined ? fields : made(change, fields, seen, isRoot), fields)
    }
    for (const change of this.#changes) {
      if (!change.isMade) level.put(change.element, made(change, undefined, seen, isRoot), undefined)
    }
    return level.build()
  }

  #finder(): (element: string) => Change | undefined {
    const changes = this.#changes
    if (changes.length <= few) return element => changes.find(change => change.element === element)
    const byElement = new Map(changes.map(change => [change.element, change]))
    return element => byElement.get(element)
  }
}

function made(change: Change, owned: Fields, seen: Seen, isRoot: boolean): Fields {
  change.isMade = true
  if (isRoot) seen.differs = false
  const fields = fieldsAfter(change, owned, seen)
  if (isRoot && seen.differs) seen.touched.push(change.element)
  return fields
}

/** The fields of a set without what is gone, and with what has come or has another value. */
function fieldsAfter({ shape, before, after }: Change, owned: Fields, seen: Seen): Fields {
  if (before !== undefined && after !== undefined) return changed(shape, { before, after }, owned, seen)
  seen.differs = true
  if (after === undefined) return owned === undefined ? owned : difference(owned, everyField(shape, before))
  seen.takes = true
  return union(owned, everyField(shape, after))
}

type States = { readonly before: unknown; readonly after: unknown }

function changed(shape: Shape, { before, after }: States, owned: Fields, seen: Seen): Fields {
  const parts = new OwnedParts()
  const found = walkDifferences(shape, before, after, parts)
  if (found === 'none') return owned
  if (found === 'parts') {
    const isClear = shape.type === 'struct' || parts.areDistinct
    return isClear ? parts.after(owned, seen) : compared(shape, { before, after }, owned, seen)
  }
  seen.differs = true
  seen.takes = true
  if (found === 'whole') return union(owned, leaf)
  return union(difference(owned, partsBelow(shape, before)), union(partsBelow(shape, after), leaf))
}

/** The same in two walks. */
function compared(shape: Shape, { before, after }: States, owned: Fields, seen: Seen): Fields {
  const changes = compareFields(shape, before, after)
  const taken = takenFields(changes)
  seen.differs ||= changes !== noChanges
  seen.takes ||= taken !== undefined
  return exchanged(owned, changes.removed, taken)
}
