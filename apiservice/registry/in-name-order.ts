/** A page of what is computed from several resources: each is read in its own order, and all are shown in one. */
import { byText } from '../../src/api/order.ts'
import type { ObjectKey, Revision, Scope, Store, StoredObject } from '../store-contract.ts'
import type { Show } from './selection.ts'

export type NameOrdered = {
  readonly items: readonly StoredObject[]
  readonly revision: Revision
  /** How many stored objects have not been looked at. */
  readonly remaining: number
}

type Read = {
  readonly scope: Scope
  readonly show: Show
  /** Absent: the newest. */
  readonly revision?: Revision
  /** Where to begin in each resource; from its first object where there is none. */
  readonly after: readonly ObjectKey[]
  /** 0 for all. */
  readonly limit: number
  /** How many objects are read at once. */
  readonly chunk: number
}

/** All reads are at the revision of the first. Needs resources whose keys sort as the names that are shown of them. */
export async function inNameOrder(store: Store, read: Read): Promise<NameOrdered> {
  const { scope, limit } = read
  let { revision } = read
  const sources: Source[] = []
  for (const resource of scope.resources) {
    const source = new Source(store, read, resource)
    revision = await source.fill(revision)
    sources.push(source)
  }
  const items: StoredObject[] = []
  for (let next = firstOf(sources); next !== undefined; next = firstOf(sources)) {
    if (limit !== 0 && items.length === limit) break
    items.push(next.object)
    next.source.skip()
    if (next.source.first === undefined) await next.source.fill(revision)
  }
  const remaining = sources.reduce((sum, source) => sum + source.remaining, 0)
  return { items, revision: revision ?? store.revision(), remaining }
}

function firstOf(sources: readonly Source[]): { source: Source; object: StoredObject } | undefined {
  let least: { source: Source; object: StoredObject } | undefined
  for (const source of sources) {
    const object = source.first
    if (object === undefined) continue
    if (least === undefined || byText(object.name, least.object.name) < 0) least = { source, object }
  }
  return least
}

/** What one resource still has to show. */
class Source {
  readonly #store: Store
  readonly #scope: Scope
  readonly #show: Show
  readonly #chunk: number
  #after: ObjectKey | undefined
  #shown: readonly StoredObject[] = []
  #next = 0
  /** Undefined before the first read. */
  #unread: number | undefined

  constructor(store: Store, { scope, show, after, limit, chunk }: Read, resource: string) {
    this.#store = store
    this.#scope = { resources: [resource], namespace: scope.namespace }
    this.#show = show
    this.#chunk = limit === 0 ? 0 : chunk
    this.#after = after.find(key => key.resource === resource)
  }

  get first(): StoredObject | undefined {
    return this.#shown[this.#next]
  }

  get remaining(): number {
    return this.#shown.length - this.#next + (this.#unread ?? 0)
  }

  skip(): void {
    this.#next += 1
  }

  /** Reads on until there is something to show, or nothing is left. Answers the revision that was read. */
  async fill(revision: Revision | undefined): Promise<Revision | undefined> {
    let at = revision
    while (this.first === undefined && this.#unread !== 0) {
      const read = await this.#store.list(this.#scope, {
        ...(at === undefined ? {} : { revision: at }),
        ...(this.#after === undefined ? {} : { after: this.#after }),
        limit: this.#chunk,
      })
      at = read.revision
      this.#unread = read.remaining
      this.#after = read.items.at(-1) ?? this.#after
      this.#shown = read.items.flatMap(object => this.#show(object) ?? [])
      this.#next = 0
    }
    return at
  }
}
