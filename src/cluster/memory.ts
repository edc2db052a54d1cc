/**
 * A cluster without a server: the official fake of the `Cluster` seam. It keeps the rules that controllers rely on
 * (resourceVersions, conflicts, generation, the status subresource, finalizers, watches that resume) and none of a
 * kind's own: no defaulting, no validation, no garbage collection, `propagationPolicy` is ignored.
 */
import { randomUUID } from 'node:crypto'
import { type AnyKind, apiVersionOf } from '../api/kind.ts'
import type { KubeObject } from '../api/meta.ts'
import { type Clock, toTime } from '../kernel/clock.ts'
import { alreadyExists, badRequest, conflict, expired, notFound } from '../kernel/errors.ts'
import {
  type Cluster,
  type ClusterEvent,
  type DeleteOptions,
  type DiscoveredResource,
  keyOf,
  type Listed,
  type Ref,
  type Resource,
  type Selection,
  type WriteOptions,
} from './cluster.ts'
import { equalJson, mergedJson } from './json.ts'
import {
  errorRef,
  eventOf,
  frozen,
  generated,
  matcherOf,
  type Past,
  precondition,
  refOf,
  shownAs,
  storeKey,
  toObject,
  updated,
} from './memory-object.ts'
import type { Matcher } from './selector.ts'

export type MemoryRequest = {
  readonly verb:
    | 'get'
    | 'list'
    | 'watch'
    | 'create'
    | 'replace'
    | 'mergePatch'
    | 'delete'
    | 'deleteCollection'
  readonly resource: Resource<unknown>
  readonly ref: Ref | undefined
  readonly subresource: string
}

export type MemoryOptions = {
  readonly name: string
  readonly clock: Clock
  /** What `discover` answers, and which kinds have a status subresource; without it every kind has one. */
  readonly kinds?: readonly AnyKind[]
  /** How many changes are kept for watches. */
  readonly history?: number
  /** Called before each request is answered; what it throws is the answer. */
  intercept?(request: MemoryRequest): void | Promise<void>
}

type Watcher = { wake(): void; ended: boolean; bookmarkDue: boolean }

const bookmarkIntervalMs = 60_000
const allVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']

export class MemoryCluster implements Cluster {
  readonly name: string
  readonly #options: MemoryOptions
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #past: Past[] = []
  readonly #watchers = new Set<Watcher>()
  #revision = 1
  /** Changes up to here are forgotten. */
  #compacted = 0

  constructor(options: MemoryOptions) {
    this.name = options.name
    this.#options = options
  }

  /** Forgets the history up to now: watches that have not seen it get `Expired`. */
  compact(): void {
    this.#compacted = this.#revision
    this.#past.length = 0
    for (const watcher of this.#watchers) watcher.wake()
  }

  /** Ends every open watch, as a server does that shuts down. */
  endWatches(): void {
    for (const watcher of this.#watchers) {
      watcher.ended = true
      watcher.wake()
    }
  }

  /** Sends a bookmark on every open watch now; otherwise one goes out every minute. */
  bookmark(): void {
    for (const watcher of this.#watchers) {
      watcher.bookmarkDue = true
      watcher.wake()
    }
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#watchers.size
  }

  async get<O>(resource: Resource<O>, ref: Ref, signal: AbortSignal): Promise<O> {
    await this.#enter({ verb: 'get', resource, ref, subresource: '' }, signal)
    return shownAs(resource, this.#current(resource, ref))
  }

  async list<O>(resource: Resource<O>, selection: Selection, signal: AbortSignal): Promise<Listed<O>> {
    await this.#enter({ verb: 'list', resource, ref: undefined, subresource: '' }, signal)
    const items = this.#selected(resource, selection)
    return { items: items.map(item => shownAs(resource, item)), resourceVersion: String(this.#revision) }
  }

  async *watch<O>(
    resource: Resource<O>,
    selection: Selection & { readonly resourceVersion: string },
    signal: AbortSignal,
  ): AsyncIterable<ClusterEvent<O>> {
    await this.#enter({ verb: 'watch', resource, ref: undefined, subresource: '' }, signal)
    const matches = matcherOf(selection)
    let seen = Number(selection.resourceVersion)
    for await (const watcher of this.#turns(signal)) {
      if (seen < this.#compacted) throw expired(`too old resource version: ${seen} (${this.#compacted})`)
      const events = this.#changes(resource, matches, seen)
      seen = Math.max(seen, this.#revision)
      yield* events
      if (watcher.bookmarkDue) yield this.#bookmarkOf(watcher, seen)
    }
  }

  async create<O>(resource: Resource<O>, object: O, signal: AbortSignal): Promise<O> {
    const sent = toObject(object)
    const name = sent.metadata.name || generated(sent.metadata)
    const ref = refOf(resource, { ...sent.metadata, name })
    await this.#enter({ verb: 'create', resource, ref, subresource: '' }, signal)
    if (name === '') throw badRequest('metadata.name: Required value: name or generateName is required')
    if (resource.namespaced && ref.namespace === undefined) throw badRequest('metadata.namespace is missing')
    if (this.#of(resource).has(keyOf(ref))) throw alreadyExists(errorRef(resource), name)
    const { status, ...body } = sent
    const {
      deletionTimestamp: _deletionTimestamp,
      deletionGracePeriodSeconds: _grace,
      ...metadata
    } = sent.metadata
    const created: KubeObject = {
      ...body,
      ...(this.#hasStatus(resource) || status === undefined ? {} : { status }),
      metadata: {
        ...metadata,
        ...ref,
        uid: randomUUID(),
        generation: 1,
        creationTimestamp: toTime(this.#options.clock.now()),
      },
    }
    return shownAs(resource, this.#put(resource, created, undefined))
  }

  async replace<O>(resource: Resource<O>, object: O, options: WriteOptions, signal: AbortSignal): Promise<O> {
    const sent = toObject(object)
    const ref = refOf(resource, sent.metadata)
    await this.#enter({ verb: 'replace', resource, ref, subresource: options.subresource ?? '' }, signal)
    const current = this.#current(resource, ref)
    if (sent.metadata.resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(errorRef(resource), ref.name)
    }
    return shownAs(resource, this.#update(resource, current, sent, options))
  }

  async mergePatch<O>(
    resource: Resource<O>,
    ref: Ref,
    patch: unknown,
    options: WriteOptions & { readonly signal: AbortSignal },
  ): Promise<O> {
    const subresource = options.subresource ?? ''
    await this.#enter({ verb: 'mergePatch', resource, ref, subresource }, options.signal)
    const current = this.#current(resource, ref)
    const patched = toObject(mergedJson(current, patch))
    if (patched.metadata.resourceVersion !== current.metadata.resourceVersion) {
      throw conflict(errorRef(resource), ref.name)
    }
    return shownAs(resource, this.#update(resource, current, patched, options))
  }

  async delete(
    resource: Resource<unknown>,
    ref: Ref,
    options: DeleteOptions & { readonly signal: AbortSignal },
  ): Promise<void> {
    await this.#enter({ verb: 'delete', resource, ref, subresource: '' }, options.signal)
    const current = this.#current(resource, ref)
    const { uid, resourceVersion } = current.metadata
    if (options.uid !== undefined && options.uid !== uid) {
      throw conflict(errorRef(resource), ref.name, precondition('UID', options.uid, uid))
    }
    if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
      const why = precondition('ResourceVersion', options.resourceVersion, resourceVersion)
      throw conflict(errorRef(resource), ref.name, why)
    }
    this.#remove(resource, current)
  }

  async deleteCollection(
    resource: Resource<unknown>,
    selection: Selection,
    signal: AbortSignal,
  ): Promise<void> {
    await this.#enter({ verb: 'deleteCollection', resource, ref: undefined, subresource: '' }, signal)
    for (const object of this.#selected(resource, selection)) this.#remove(resource, object)
  }

  async discover(signal: AbortSignal): Promise<readonly DiscoveredResource[]> {
    await Promise.resolve()
    signal.throwIfAborted()
    return (this.#options.kinds ?? []).map(kind => ({
      group: kind.group,
      version: kind.versions[0].name,
      apiVersion: apiVersionOf(kind),
      kind: kind.kind,
      plural: kind.plural,
      namespaced: kind.scope === 'Namespaced',
      verbs: allVerbs,
    }))
  }

  async #enter(request: MemoryRequest, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    await this.#options.intercept?.(request)
    // An answer never comes in the turn of the request, as with a server.
    await Promise.resolve()
    signal.throwIfAborted()
  }

  #of(resource: Resource<unknown>): Map<string, KubeObject> {
    const key = storeKey(resource)
    const objects = this.#objects.get(key) ?? new Map<string, KubeObject>()
    this.#objects.set(key, objects)
    return objects
  }

  #current(resource: Resource<unknown>, ref: Ref): KubeObject {
    const found = this.#of(resource).get(keyOf(ref))
    if (found === undefined) throw notFound(errorRef(resource), ref.name)
    return found
  }

  #selected(resource: Resource<unknown>, selection: Selection): readonly KubeObject[] {
    const matches = matcherOf(selection)
    return [...this.#of(resource).entries()]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object)
      .filter(matches)
  }

  #hasStatus(resource: Resource<unknown>): boolean {
    const kind = this.#options.kinds?.find(k => k.group === resource.group && k.plural === resource.plural)
    return kind === undefined || kind.status !== undefined
  }

  #update(
    resource: Resource<unknown>,
    current: KubeObject,
    sent: KubeObject,
    options: WriteOptions,
  ): KubeObject {
    const { uid } = sent.metadata
    if (uid !== undefined && uid !== current.metadata.uid) {
      throw conflict(
        errorRef(resource),
        current.metadata.name,
        precondition('UID', uid, current.metadata.uid),
      )
    }
    const next =
      options.subresource === 'status'
        ? { ...current, status: sent.status }
        : updated(current, sent, this.#hasStatus(resource))
    if (equalJson(next, current)) return current
    const done =
      next.metadata.deletionTimestamp !== undefined && (next.metadata.finalizers ?? []).length === 0
    return done ? this.#drop(resource, next) : this.#put(resource, next, current)
  }

  #remove(resource: Resource<unknown>, current: KubeObject): void {
    const { metadata } = current
    if ((metadata.finalizers ?? []).length === 0) {
      this.#drop(resource, current)
      return
    }
    if (metadata.deletionTimestamp !== undefined) return
    const marked = {
      ...metadata,
      deletionTimestamp: toTime(this.#options.clock.now()),
      deletionGracePeriodSeconds: 0,
      generation: (metadata.generation ?? 1) + 1,
    }
    this.#put(resource, { ...current, metadata: marked }, current)
  }

  #put(resource: Resource<unknown>, object: KubeObject, previous: KubeObject | undefined): KubeObject {
    const stored = this.#stamped(object)
    this.#of(resource).set(keyOf(stored.metadata), stored)
    this.#record({ type: 'PUT', resource: storeKey(resource), object: stored, previous })
    return stored
  }

  #drop(resource: Resource<unknown>, object: KubeObject): KubeObject {
    const previous = this.#of(resource).get(keyOf(object.metadata))
    const last = this.#stamped(object)
    this.#of(resource).delete(keyOf(object.metadata))
    this.#record({ type: 'DELETE', resource: storeKey(resource), object: last, previous })
    return last
  }

  #stamped(object: KubeObject): KubeObject {
    this.#revision += 1
    const metadata = { ...object.metadata, resourceVersion: String(this.#revision) }
    return frozen(toObject({ ...object, metadata }))
  }

  #record(past: Omit<Past, 'revision'>): void {
    this.#past.push({ ...past, revision: this.#revision })
    if (this.#past.length > (this.#options.history ?? 10_000)) {
      this.#compacted = this.#past.shift()?.revision ?? this.#compacted
    }
    for (const watcher of this.#watchers) watcher.wake()
  }

  /** Yields at once and then whenever there may be something to send, until the stream is ended. */
  async *#turns(signal: AbortSignal): AsyncIterable<Watcher> {
    let wake = (): void => undefined
    const watcher: Watcher = { wake: () => wake(), ended: false, bookmarkDue: false }
    this.#watchers.add(watcher)
    const onAbort = (): void => wake()
    signal.addEventListener('abort', onAbort)
    let cancelTimer = this.#bookmarkTimer(watcher)
    try {
      while (!watcher.ended) {
        const woken = new Promise<void>(resolve => {
          wake = resolve
        })
        const hadBookmark = watcher.bookmarkDue
        yield watcher
        if (hadBookmark) {
          cancelTimer()
          cancelTimer = this.#bookmarkTimer(watcher)
        }
        if (!signal.aborted) await woken
        signal.throwIfAborted()
      }
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', onAbort)
      this.#watchers.delete(watcher)
    }
  }

  #changes<O>(resource: Resource<O>, matches: Matcher, after: number): ClusterEvent<O>[] {
    const key = storeKey(resource)
    const events = this.#past.map(past =>
      past.revision > after && past.resource === key ? eventOf(past, matches) : undefined,
    )
    return events
      .filter(event => event !== undefined)
      .map(event => ({ type: event.type, object: shownAs(resource, event.object) }))
  }

  #bookmarkOf(watcher: Watcher, seen: number): { type: 'BOOKMARK'; resourceVersion: string } {
    watcher.bookmarkDue = false
    return { type: 'BOOKMARK', resourceVersion: String(seen) }
  }

  #bookmarkTimer(watcher: Watcher): () => void {
    return this.#options.clock.after(bookmarkIntervalMs, () => {
      watcher.bookmarkDue = true
      watcher.wake()
    })
  }
}
