import type { Revision, StoredObject } from '../store-contract.ts'

/** Versions that were replaced a short while ago or read from the log again: the most recently used ones, by bytes. */
export class VersionCache {
  readonly #maxBytes: number
  readonly #objects = new Map<Revision, StoredObject>()
  /** Where the least recently used ones begin. Kept, since a new iterator walks over all that was deleted. */
  #eldest = this.#objects.keys()
  #bytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get(revision: Revision): StoredObject | undefined {
    const object = this.#objects.get(revision)
    if (object !== undefined) {
      this.#objects.delete(revision)
      this.#objects.set(revision, object)
    }
    return object
  }

  add(object: StoredObject): void {
    this.delete(object.revision)
    this.#objects.set(object.revision, object)
    this.#bytes += object.body.length + overheadBytes
    while (this.#bytes > this.#maxBytes) this.#evict()
  }

  delete(revision: Revision): void {
    const object = this.#objects.get(revision)
    if (object === undefined) return
    this.#objects.delete(revision)
    this.#bytes -= object.body.length + overheadBytes
  }

  #evict(): void {
    const { done, value } = this.#eldest.next()
    if (done === true) this.#eldest = this.#objects.keys()
    else this.delete(value)
  }
}

const overheadBytes = 256
