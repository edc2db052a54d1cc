import type { ListOptions, ObjectKey, Revision, Scope, StoredObject } from '../store-contract.ts'
import { CountedTree } from './counted-tree.ts'

/** A change that is still kept. `older` is the change of the same object before it, as long as that is kept. */
export type Version = {
  readonly slot: Slot
  readonly type: 'PUT' | 'DELETE'
  readonly revision: Revision
  /** The version that it replaced or deleted, 0 for none. */
  readonly previous: Revision
  readonly at: number
  /** Of its body. */
  readonly size: number
  /** What is freed when this change is forgotten. */
  readonly bytes: number
  older: Version | undefined
}

/** Everything known about one key. Lives as long as the object or a kept change of it does. */
export type Slot = ObjectKey & {
  current: StoredObject | undefined
  newest: Version | undefined
}

/**
 * Order of UTF-8 bytes, which etcd and LevelDB sort by. JavaScript's own order differs from it only where a surrogate
 * meets U+E000 or above: there the surrogate, one half of U+10000 or above, is the greater.
 */
export function compareText(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let at = 0; at < shared; at++) {
    const left = a.charCodeAt(at)
    const right = b.charCodeAt(at)
    if (left === right) continue
    return isSurrogate(left) === isSurrogate(right) || Math.min(left, right) < firstSurrogate
      ? left - right
      : right - left
  }
  return a.length - b.length
}

const firstSurrogate = 0xd800
const lastSurrogate = 0xdfff

function isSurrogate(code: number): boolean {
  return code >= firstSurrogate && code <= lastSurrogate
}

/** As in a key `namespace/name`: all of `a-b` comes before `a`. */
function compareNamespaces(a: string, b: string): number {
  return a === b ? 0 : compareText(`${a}/`, `${b}/`)
}

function compareSlots(a: ObjectKey, b: ObjectKey): number {
  const order = compareNamespaces(a.namespace, b.namespace)
  return order === 0 ? compareText(a.name, b.name) : order
}

type Keys = CountedTree<Slot>

/** A creation or deletion that is kept. */
type KeyChange = {
  readonly revision: Revision
  readonly slot: Slot
  /** Whether the object was there before. */
  readonly had: boolean
  /** What the keys were before; not of every change, since a tree shares little with what it is a thousand changes later. */
  readonly keys: Keys | undefined
}

/** At most so many changes are undone to know what the keys were, which takes a millisecond or two. */
const changesPerTree = 1024

/** The slots of one resource. */
class ResourceSlots {
  /** By namespace, then by name. */
  readonly #slots = new Map<string, Map<string, Slot>>()
  /** Which of them hold an object, in the order of lists. */
  #keys: Keys = new CountedTree<Slot>(compareSlots)
  /** The kept creations and deletions, oldest first. */
  #past: KeyChange[] = []
  #head = 0
  #sinceTree = 0
  /** What was found out last: the pages of a list are asked for one after the other. */
  #found: { readonly change: KeyChange; readonly keys: Keys } | undefined

  get isEmpty(): boolean {
    return this.#slots.size === 0
  }

  find(namespace: string, name: string): Slot | undefined {
    return this.#slots.get(namespace)?.get(name)
  }

  insert(slot: Slot): void {
    const names = this.#slots.get(slot.namespace) ?? new Map<string, Slot>()
    if (names.size === 0) this.#slots.set(slot.namespace, names)
    names.set(slot.name, slot)
  }

  remove(slot: Slot): void {
    const names = this.#slots.get(slot.namespace)
    names?.delete(slot.name)
    if (names?.size === 0) this.#slots.delete(slot.namespace)
  }

  keysAt(revision: Revision): Keys {
    const index = firstNotBefore(this.#past.length - this.#head, at => {
      const change = this.#past[this.#head + at]
      return change !== undefined && change.revision <= revision
    })
    return this.#keysBefore(this.#head + index)
  }

  change(slot: Slot): void {
    this.#keys = slot.current === undefined ? this.#keys.without(slot) : this.#keys.with(slot)
  }

  /** To be called before the change is made. */
  remember(revision: Revision, slot: Slot, had: boolean): void {
    this.#sinceTree = (this.#sinceTree + 1) % changesPerTree
    this.#past.push({ revision, slot, had, keys: this.#sinceTree === 0 ? this.#keys : undefined })
  }

  forget(revision: Revision): void {
    while ((this.#past[this.#head]?.revision ?? Number.POSITIVE_INFINITY) <= revision) this.#head++
    if (this.#head * 2 > this.#past.length) {
      this.#past = this.#past.slice(this.#head)
      this.#head = 0
    }
    if (this.#found !== undefined && this.#found.change.revision <= revision) this.#found = undefined
  }

  /** Undoes changes from the next tree that is kept. */
  #keysBefore(index: number): Keys {
    const change = this.#past[index]
    if (change === undefined) return this.#keys
    if (this.#found?.change === change) return this.#found.keys
    const undone: KeyChange[] = []
    let keys: Keys | undefined
    for (let at = index; keys === undefined; at++) {
      const later = this.#past[at]
      keys = later === undefined ? this.#keys : later.keys
      if (keys === undefined && later !== undefined) undone.push(later)
    }
    for (const { slot, had } of undone.reverse()) keys = had ? keys.with(slot) : keys.without(slot)
    this.#found = { change, keys }
    return keys
  }
}

/** Binary search: the first index below `length` for which `isBefore` is false. */
export function firstNotBefore(length: number, isBefore: (index: number) => boolean): number {
  let low = 0
  let end = length
  while (low < end) {
    const middle = (low + end) >>> 1
    if (isBefore(middle)) low = middle + 1
    else end = middle
  }
  return low
}

/**
 * All keys by resource, and which of them held an object at each kept revision. A page of them takes time by its own
 * length and by the logarithm of how many there are.
 */
export class ObjectIndex {
  readonly #resources = new Map<string, ResourceSlots>()
  #size = 0

  get size(): number {
    return this.#size
  }

  get resources(): readonly string[] {
    return [...this.#resources.keys()].sort(compareText)
  }

  find(key: ObjectKey): Slot | undefined {
    return this.#resources.get(key.resource)?.find(key.namespace, key.name)
  }

  /** The slot of a key, made when there is none. */
  obtain(key: ObjectKey): Slot {
    let slots = this.#resources.get(key.resource)
    if (slots === undefined) {
      slots = new ResourceSlots()
      this.#resources.set(key.resource, slots)
    }
    const found = slots.find(key.namespace, key.name)
    if (found !== undefined) return found
    const slot: Slot = {
      resource: key.resource,
      namespace: key.namespace,
      name: key.name,
      current: undefined,
      newest: undefined,
    }
    slots.insert(slot)
    this.#size++
    return slot
  }

  /**
   * Sets what a slot holds. `revision` is that of the change when lists at revisions before it may still be asked for;
   * revisions rise.
   */
  put(slot: Slot, current: StoredObject | undefined, revision: Revision | undefined): void {
    const had = slot.current !== undefined
    slot.current = current
    if (had === (current !== undefined)) return
    const slots = this.#resources.get(slot.resource)
    if (revision !== undefined) slots?.remember(revision, slot, had)
    slots?.change(slot)
  }

  /** A change is no longer kept: nobody asks for revisions before it. */
  forget({ slot, revision }: Version): void {
    this.#resources.get(slot.resource)?.forget(revision)
    if (slot.current !== undefined || slot.newest !== undefined) return
    const slots = this.#resources.get(slot.resource)
    if (slots?.find(slot.namespace, slot.name) !== slot) return
    slots.remove(slot)
    this.#size--
    if (slots.isEmpty) this.#resources.delete(slot.resource)
  }

  /**
   * Visits the slots of a scope that held an object at a kept revision, in the order of lists, from behind `after` and
   * at most `limit`, 0 for all; answers how many are left.
   */
  page(revision: Revision, scope: Scope, options: ListOptions, visit: (slot: Slot) => void): number {
    const { after, limit } = options
    const first = after === undefined ? 0 : scope.resources.indexOf(after.resource)
    let room = limit > 0 ? limit : Number.POSITIVE_INFINITY
    let remaining = 0
    for (const [index, resource] of scope.resources.entries()) {
      const keys = index < first ? undefined : this.#resources.get(resource)?.keysAt(revision)
      if (keys === undefined) continue
      const { from, to } = rangeOf(keys, scope.namespace, index === first ? after : undefined)
      const count = Math.min(to - from, room)
      keys.visit(from, from + count, visit)
      room -= count
      remaining += to - from - count
    }
    return remaining
  }
}

/** Which of the keys are in a namespace, or in any, and behind `after`. */
function rangeOf(keys: Keys, namespace: string, after: ObjectKey | undefined): { from: number; to: number } {
  const isAll = namespace === ''
  const behind = after === undefined ? 0 : keys.rank(slot => compareSlots(slot, after) <= 0)
  const start = isAll ? 0 : keys.rank(slot => compareNamespaces(slot.namespace, namespace) < 0)
  const to = isAll ? keys.size : keys.rank(slot => compareNamespaces(slot.namespace, namespace) <= 0)
  return { from: Math.min(Math.max(behind, start), to), to }
}
