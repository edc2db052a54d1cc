import { LRUCache } from 'lru-cache'
import type { Revision, StoredObject } from '../store-contract.ts'

/** Versions that were replaced a short while ago or read from the log again: the most recently used ones, by bytes. */
export class VersionCache {
  readonly #objects: LRUCache<Revision, StoredObject>

  /** Without a bound it keeps what it is not told to delete. */
  constructor(maxBytes: number) {
    this.#objects = new LRUCache({
      // The library takes no zero, which would be no bound there.
      maxSize: Math.min(Math.max(maxBytes, 1), Number.MAX_SAFE_INTEGER),
      sizeCalculation: ({ body }) => body.length + overheadBytes,
    })
  }

  get(revision: Revision): StoredObject | undefined {
    return this.#objects.get(revision)
  }

  add(object: StoredObject): void {
    this.#objects.set(object.revision, object)
  }

  delete(revision: Revision): void {
    this.#objects.delete(revision)
  }
}

const overheadBytes = 256
