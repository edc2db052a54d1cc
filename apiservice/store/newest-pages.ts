import type { ListOptions, Revision, Scope, StoredObject } from '../store-contract.ts'

export type Page<T> = { readonly items: readonly T[]; readonly remaining: number }

/** What is there of one resource. */
type Known = {
  changedAt: Revision
  /** How many items all of its pages have. */
  items: number
  readonly pages: Map<string, Page<StoredObject>>
}

/** Over all resources: of items there is one in memory, so these are as many references. */
const maxItems = 64 * 1024
/** Shorter pages are found as soon as they are remembered. */
const minItems = 32
/** Where a page begins is what a client says, who may say anything. */
const maxKeyLength = 1024

/**
 * Lists of what is there now, for as long as nothing of their resource changes: informers that start together all ask for
 * the same pages. Whoever gets a page again gets the same array, and can know by that what it has made of it before.
 */
export class NewestPages {
  readonly #resources = new Map<string, Known>()
  #items = 0

  /** To be told of every change. */
  changed(resource: string, revision: Revision): void {
    const known = this.#resources.get(resource)
    if (known === undefined) {
      this.#resources.set(resource, { changedAt: revision, items: 0, pages: new Map() })
      return
    }
    known.changedAt = Math.max(known.changedAt, revision)
    if (known.pages.size > 0) this.#forget(known)
  }

  /** Whether everything of a scope is as it was at an earlier revision. */
  isSameSince({ resources }: Scope, revision: Revision): boolean {
    return resources.every(resource => (this.#resources.get(resource)?.changedAt ?? 0) <= revision)
  }

  /** The page that is known, or else the one that `read` finds. */
  page(scope: Scope, options: ListOptions, read: () => Page<StoredObject>): Page<StoredObject> {
    const [resource = '', ...others] = scope.resources
    const known = this.#resources.get(resource)
    if (known === undefined || others.length > 0) return read()
    const key = keyOf(scope, options)
    const found = known.pages.get(key)
    if (found !== undefined) return found
    const made = read()
    if (made.items.length >= minItems && key.length <= maxKeyLength) this.#keep(known, key, made)
    return made
  }

  #keep(known: Known, key: string, page: Page<StoredObject>): void {
    const items = page.items.length
    if (items > maxItems) return
    if (this.#items + items > maxItems) for (const each of this.#resources.values()) this.#forget(each)
    known.pages.set(key, page)
    known.items += items
    this.#items += items
  }

  #forget(known: Known): void {
    this.#items -= known.items
    known.items = 0
    known.pages.clear()
  }
}

function keyOf({ namespace }: Scope, { limit, after }: ListOptions): string {
  return JSON.stringify([namespace, limit, after?.namespace, after?.name])
}
