/**
 * Wraps any store and watches over it: revisions rise, lists are sorted and in scope, watches are in order, in scope and
 * without a call after their end. `verify` replays the kept history on the oldest kept list and compares the outcome
 * with the newest one. Complaints are gathered, since a store shields itself from listeners that throw.
 */
import type {
  Guard,
  ListOptions,
  ListResult,
  ObjectKey,
  Revision,
  Scope,
  Store,
  StoredObject,
  StoreEvent,
  StoreListener,
  WriteResult,
} from '../../apiservice/store-contract.ts'

export class CheckedStore implements Store {
  readonly complaints: string[] = []
  isClosed: boolean = false
  readonly #store: Store
  readonly #resources = new Set<string>()
  readonly #used = new Set<Revision>()
  #revision = 0
  #oldest = 0

  constructor(store: Store) {
    this.#store = store
  }

  revision(): Revision {
    const revision = this.#store.revision()
    this.#expect(revision >= this.#revision, `revision went back from ${this.#revision} to ${revision}`)
    this.#revision = revision
    return revision
  }

  oldest(): Revision {
    const oldest = this.#store.oldest()
    this.#expect(oldest >= this.#oldest, `oldest went back from ${this.#oldest} to ${oldest}`)
    this.#expect(oldest <= this.revision(), `oldest ${oldest} lies beyond the newest`)
    this.#oldest = oldest
    return oldest
  }

  fault(): string | undefined {
    return this.#store.fault()
  }

  get(key: ObjectKey): ReturnType<Store['get']> {
    this.#resources.add(key.resource)
    return this.#store.get(key)
  }

  async list(scope: Scope, options: ListOptions): Promise<ListResult> {
    for (const resource of scope.resources) this.#resources.add(resource)
    const before = this.revision()
    const result = await this.#store.list(scope, options)
    if (options.revision === undefined) {
      this.#expect(result.revision >= before, `a list is at ${result.revision}, older than ${before}`)
    } else this.#expect(result.revision === options.revision, `a list is not at ${options.revision}`)
    this.#checkItems(scope, options, result)
    return result
  }

  snapshot(): ReturnType<Store['snapshot']> {
    return this.#store.snapshot()
  }

  watch(scope: Scope, after: Revision, listener: StoreListener): () => void {
    for (const resource of scope.resources) this.#resources.add(resource)
    const checked = new CheckedListener(scope, after, listener, text => this.complaints.push(text))
    const stop = this.#store.watch(scope, after, checked)
    checked.mayBeCalled = true
    return () => {
      checked.mayBeCalled = false
      stop()
    }
  }

  create(key: ObjectKey, body: Buffer, guard?: Guard): Promise<WriteResult> {
    return this.#write(key, () => this.#store.create(key, body, guard))
  }

  update(key: ObjectKey, expected: Revision, body: Buffer, guard?: Guard): Promise<WriteResult> {
    return this.#write(key, () => this.#store.update(key, expected, body, guard))
  }

  delete(key: ObjectKey, expected: Revision, body?: Buffer, guard?: Guard): Promise<WriteResult> {
    return this.#write(key, () => this.#store.delete(key, expected, body, guard))
  }

  compact(revision: Revision): Promise<void> {
    return this.#store.compact(revision)
  }

  close(): Promise<void> {
    this.isClosed = true
    return this.#store.close()
  }

  /** Throws the complaints, and one more when the history does not lead from the oldest kept list to the newest. */
  async verify(): Promise<void> {
    const scope = { resources: [...this.#resources], namespace: '' }
    const from = this.oldest()
    const start = await this.list(scope, { revision: from, limit: 0 })
    const objects = new Map(start.items.map(object => [idOf(object), object]))
    const through = await this.#replay(scope, from, event => this.#applyTo(objects, event))
    const end = await this.list(scope, { revision: through, limit: 0 })
    const listed = new Map(end.items.map(object => [idOf(object), object]))
    this.#expect(
      listed.size === objects.size,
      `watch leads to ${objects.size} objects, list has ${listed.size}`,
    )
    for (const [id, object] of listed) {
      this.#expect(isSame(objects.get(id), object), `watch and list differ in ${id}`)
    }
    if (this.complaints.length > 0) throw new Error(`the store is not sound:\n${this.complaints.join('\n')}`)
  }

  #replay(scope: Scope, from: Revision, apply: (event: StoreEvent) => void): Promise<Revision> {
    const until = this.revision()
    return new Promise((resolve, reject) => {
      const stop = this.watch(scope, from, {
        events: (batch, through) => {
          for (const event of batch) apply(event)
          if (through < until) return
          stop()
          resolve(through)
        },
        end: reason => reject(new Error(`a watch from the oldest revision ${from} ended: ${reason}`)),
      })
    })
  }

  #applyTo(objects: Map<string, StoredObject>, event: StoreEvent): void {
    const id = idOf(event.object)
    const known = objects.get(id)
    this.#expect(
      isSame(known, event.previous),
      `event ${event.object.revision} of ${id} has another previous`,
    )
    if (event.type === 'PUT') objects.set(id, event.object)
    else objects.delete(id)
  }

  async #write(key: ObjectKey, write: () => Promise<WriteResult>): Promise<WriteResult> {
    this.#resources.add(key.resource)
    const before = this.revision()
    const result = await write()
    if (!result.done) return result
    const { revision } = result.object
    this.#expect(revision > before, `a write got revision ${revision} after ${before}`)
    this.#expect(!this.#used.has(revision), `revision ${revision} was used twice`)
    this.#expect(this.revision() >= revision, `a write was answered before it was seen`)
    this.#used.add(revision)
    return result
  }

  #checkItems(scope: Scope, options: ListOptions, result: ListResult): void {
    const places = result.items.map(item => placeOf(scope, item))
    for (const [index, item] of result.items.entries()) {
      this.#expect(isIn(scope, item), `a list holds ${idOf(item)} of another scope`)
      this.#expect(item.revision <= result.revision, `a list at ${result.revision} holds ${item.revision}`)
      const before = places[index - 1]
      const here = places[index]
      const isSorted = before === undefined || here === undefined || Buffer.compare(before, here) < 0
      this.#expect(isSorted, `a list is not sorted at ${idOf(item)}`)
    }
    this.#expect(options.limit === 0 || result.items.length <= options.limit, 'a list exceeds its limit')
  }

  #expect(holds: boolean, complaint: string): void {
    if (!holds) this.complaints.push(complaint)
  }
}

class CheckedListener implements StoreListener {
  mayBeCalled: boolean = false
  readonly #scope: Scope
  readonly #listener: StoreListener
  readonly #complain: (text: string) => void
  #position: Revision

  constructor(scope: Scope, after: Revision, listener: StoreListener, complain: (text: string) => void) {
    this.#scope = scope
    this.#position = after
    this.#listener = listener
    this.#complain = complain
  }

  events(batch: readonly StoreEvent[], through: Revision): void {
    if (!this.mayBeCalled)
      this.#complain('a watch was called within its call, after its end or after it was stopped')
    for (const { object, previous, type } of batch) {
      if (object.revision <= this.#position)
        this.#complain(`event ${object.revision} after ${this.#position}`)
      if (!isIn(this.#scope, object)) this.#complain(`event of ${idOf(object)} in another scope`)
      if (type === 'DELETE' && previous === undefined) this.#complain('a deletion of nothing')
      this.#position = object.revision
    }
    if (through < this.#position) this.#complain(`through ${through} after ${this.#position}`)
    this.#position = through
    this.#listener.events(batch, through)
  }

  end(reason: 'expired' | 'closed'): void {
    if (!this.mayBeCalled) this.#complain('a watch ended within its call, twice or after it was stopped')
    this.mayBeCalled = false
    this.#listener.end(reason)
  }
}

function idOf(key: ObjectKey): string {
  return JSON.stringify([key.resource, key.namespace, key.name])
}

function isIn(scope: Scope, key: ObjectKey): boolean {
  return scope.resources.includes(key.resource) && ['', key.namespace].includes(scope.namespace)
}

/** Sorts bytewise as the scope lists: no part of a key contains a zero byte in what is compared here. */
function placeOf(scope: Scope, key: ObjectKey): Buffer {
  const resource = String(scope.resources.indexOf(key.resource)).padStart(4, '0')
  return Buffer.from(`${resource}\0${key.namespace}/\0${key.name}`)
}

function isSame(a: StoredObject | undefined, b: StoredObject | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.revision === b.revision && a.body.equals(b.body)
}
