import type { ObjectKey, Revision, StoredObject } from '../contract.ts'

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
 * meets U+E000 or above.
 */
export function compareText(a: string, b: string): number {
  if (a === b) return 0
  if (high.test(a) && high.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : 1
}

const high = /[\ud800-\uffff]/

function compareSlot(slot: Slot, namespace: string, name: string): number {
  const order = compareText(slot.namespace, namespace)
  return order === 0 ? compareText(slot.name, name) : order
}

const chunkSlots = 512

/** The slots of one resource, sorted by namespace and name, in chunks so that an insertion moves few of them. */
class ResourceSlots {
  readonly #chunks: Slot[][] = []

  get isEmpty(): boolean {
    return this.#chunks.length === 0
  }

  find(namespace: string, name: string): Slot | undefined {
    const { chunk, index } = this.#seek(namespace, name)
    const slot = this.#chunks[chunk]?.[index]
    return slot !== undefined && compareSlot(slot, namespace, name) === 0 ? slot : undefined
  }

  insert(slot: Slot): void {
    if (this.#chunks.length === 0) this.#chunks.push([])
    const sought = this.#seek(slot.namespace, slot.name)
    const last = this.#chunks.length - 1
    const at = Math.min(sought.chunk, last)
    const chunk = this.#chunks[at] ?? []
    chunk.splice(sought.chunk > last ? chunk.length : sought.index, 0, slot)
    if (chunk.length > chunkSlots) this.#split(at, chunk)
  }

  remove(slot: Slot): boolean {
    const { chunk, index } = this.#seek(slot.namespace, slot.name)
    const slots = this.#chunks[chunk]
    if (slots?.[index] !== slot) return false
    slots.splice(index, 1)
    if (slots.length === 0) this.#chunks.splice(chunk, 1)
    return true
  }

  /** Visits slots in order from the first that is not before (namespace, name) until `visit` answers false. */
  walk(namespace: string, name: string, visit: (slot: Slot) => boolean): void {
    const from = this.#seek(namespace, name)
    let index = from.index
    for (let chunk = from.chunk; chunk < this.#chunks.length; chunk++) {
      const slots = this.#chunks[chunk] ?? []
      for (const slot of index === 0 ? slots : slots.slice(index)) if (!visit(slot)) return
      index = 0
    }
  }

  /** Keys that arrive in order (generated names, restarts) leave full chunks behind, not half empty ones. */
  #split(at: number, chunk: Slot[]): void {
    const isLast = at === this.#chunks.length - 1
    this.#chunks.splice(at + 1, 0, chunk.splice(isLast ? chunkSlots - 8 : chunkSlots / 2))
  }

  /** Where the first slot lies that is not before the key; one chunk too far when there is none. */
  #seek(namespace: string, name: string): { chunk: number; index: number } {
    const chunk = firstNotBefore(this.#chunks.length, at => {
      const slot = this.#chunks[at]?.at(-1)
      return slot !== undefined && compareSlot(slot, namespace, name) < 0
    })
    const slots = this.#chunks[chunk] ?? []
    const index = firstNotBefore(slots.length, at => {
      const slot = slots[at]
      return slot !== undefined && compareSlot(slot, namespace, name) < 0
    })
    return { chunk, index }
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

/** All keys by resource, then in the order of lists. */
export class ObjectIndex {
  readonly #resources = new Map<string, ResourceSlots>()
  #size = 0

  get size(): number {
    return this.#size
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

  /** Takes the slot out when nothing is known about its key any more. */
  prune(slot: Slot): void {
    if (slot.current !== undefined || slot.newest !== undefined) return
    const slots = this.#resources.get(slot.resource)
    if (slots?.remove(slot) !== true) return
    this.#size--
    if (slots.isEmpty) this.#resources.delete(slot.resource)
  }

  /** Visits the slots of a resource, in one namespace or in all, behind `after`. */
  walk(
    resource: string,
    namespace: string,
    after: { readonly namespace: string; readonly name: string } | undefined,
    visit: (slot: Slot) => void,
  ): void {
    const from = after !== undefined && compareText(after.namespace, namespace) >= 0 ? after : undefined
    this.#resources.get(resource)?.walk(from?.namespace ?? namespace, from?.name ?? '', slot => {
      if (namespace !== '' && slot.namespace !== namespace) return false
      if (from === undefined || slot.name !== from.name || slot.namespace !== from.namespace) visit(slot)
      return true
    })
  }
}
