/** What the store promises, and what those that use it may count on. */

/** Position in the one sequence of all writes of a server. A `resourceVersion` is this number in decimal. */
export type Revision = number

/**
 * One version of one object. `body` is its JSON with two holes: see `src/codec/object-bytes.ts`. The same instance is
 * handed to every get, list and watch of that version.
 */
export type StoredObject = {
  /** 0 when it was never written (dry run, reviews): then no resourceVersion is sent. */
  readonly revision: Revision
  /** `<plural>.<group>`, the plural alone in the core group. */
  readonly resource: string
  readonly namespace: string
  readonly name: string
  readonly body: Buffer
}

/** Where an object is kept; `namespace` is empty on cluster scope. */
export type ObjectKey = { readonly resource: string; readonly namespace: string; readonly name: string }

/** Several resources at one revision; `namespace` empty for all of them. Keys sort bytewise as `namespace/name`. */
export type Scope = { readonly resources: readonly string[]; readonly namespace: string }

export type StoreEvent = {
  readonly type: 'PUT' | 'DELETE'
  /** After PUT the new version; after DELETE the last state at the revision of the deletion. */
  readonly object: StoredObject
  /** The version before; absent on creation. */
  readonly previous: StoredObject | undefined
}

export interface StoreListener {
  /**
   * Events in order of revision, none missing, none twice. All up to `through` have now been delivered. An empty batch
   * only tells that: once when the listener has caught up with the newest write, later every few seconds while others
   * are written.
   */
  events(batch: readonly StoreEvent[], through: Revision): void
  /** The last call: the history no longer reaches to where the listener is, or the store closes. */
  end(reason: 'expired' | 'closed'): void
}

export type ListOptions = {
  /** Exactly this revision; absent for the newest. Throws 410 when it is no longer kept, 504 when it lies ahead. */
  readonly revision?: Revision
  /** Start behind this object, in key order. */
  readonly after?: ObjectKey
  /** At most so many; 0 for all. */
  readonly limit: number
}

export type ListResult = {
  readonly revision: Revision
  /** In the order of the scope's resources, then of keys. */
  readonly items: readonly StoredObject[]
  /** How many are left behind the last one. */
  readonly remaining: number
}

/** Has all objects of a scope, again whenever the history was lost, and then every change of them. */
export interface Follower {
  reset(items: readonly StoredObject[]): void
  events(batch: readonly StoreEvent[]): void
}

/** Keeps a follower current until the signal aborts; resolves when it has been given all objects for the first time. */
export type Follow = (scope: Scope, follower: Follower, signal: AbortSignal) => Promise<void>

/** What a write found. A refused write has changed nothing. */
export type WriteResult =
  | { readonly done: true; readonly object: StoredObject }
  /** The key holds another version than expected: `current`, or nothing. */
  | { readonly done: false; readonly current: StoredObject | undefined; readonly isGuarded?: never }
  /** The guard of the write holds no more. */
  | { readonly done: false; readonly current: undefined; readonly isGuarded: true }

/**
 * Makes a write depend on another object: it is only done while that one is at this revision, judged together with the
 * write, so that nothing comes between. What a deposed leader sent is refused by it, however late it arrives.
 */
export type Guard = { readonly key: ObjectKey; readonly revision: Revision }

/**
 * The store. One revision sequence for all resources, strictly increasing and never reused, also after a crash. A
 * write is durable when its promise resolves and is then seen by every later read and by every listener in order.
 * After a throw of a write (`ServiceUnavailable`) it is unknown whether it happened.
 */
export interface Store {
  /** The revision of the newest durable write. */
  revision(): Revision
  /** The oldest revision that lists and watches may start from. */
  oldest(): Revision
  /** At once where the newest state is in memory; what it throws may be thrown at once, too. */
  get(key: ObjectKey): StoredObject | undefined | Promise<StoredObject | undefined>
  list(scope: Scope, options: ListOptions): Promise<ListResult>
  /** Every object of every resource, also of those that nobody serves any more, at one revision. */
  snapshot(): Promise<Pick<ListResult, 'revision' | 'items'>>
  /** Delivers all changes after `after`; calls come in later turns of the event loop until the result is called. */
  watch(scope: Scope, after: Revision, listener: StoreListener): () => void
  create(key: ObjectKey, body: Buffer, guard?: Guard): Promise<WriteResult>
  /** Replaces exactly the version `expected`. */
  update(key: ObjectKey, expected: Revision, body: Buffer, guard?: Guard): Promise<WriteResult>
  /** Deletes exactly the version `expected`. The result carries the revision of the deletion; `body` is its last state. */
  delete(key: ObjectKey, expected: Revision, body?: Buffer, guard?: Guard): Promise<WriteResult>
  /** Why no write can be made at the moment, while reads and watches go on; undefined when writes can be made. */
  fault(): string | undefined
  /** Forgets history before `revision`. */
  compact(revision: Revision): Promise<void>
  /** Waits for writes under way, ends all watches. */
  close(): Promise<void>
}
