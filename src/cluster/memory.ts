/**
 * A cluster without a server: the official fake of the `Cluster` seam. It keeps the rules that controllers rely on
 * (resourceVersions, conflicts, generation, the status subresource, finalizers, watches that resume) and none of a
 * kind's own: no defaulting, no validation, no garbage collection, `propagationPolicy` is ignored.
 */
import type { AnyKind } from '../api/kind.ts'
import type { KubeObject } from '../api/meta.ts'
import type { Clock } from '../kernel/clock.ts'
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
import { MemoryHistory, type Watcher } from './memory-history.ts'
import {
  checkPreconditions,
  created,
  discovered,
  errorRef,
  eventOf,
  frozen,
  generated,
  type Matcher,
  matcherOf,
  refOf,
  shownAs,
  storeKey,
  terminating,
  toObject,
  updated,
} from './memory-object.ts'

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

export class MemoryCluster implements Cluster {
  readonly name: string
  readonly #options: MemoryOptions
  readonly #objects = new Map<string, Map<string, KubeObject>>()
  readonly #history: MemoryHistory

  constructor(options: MemoryOptions) {
    this.name = options.name
    this.#options = options
    this.#history = new MemoryHistory(options.clock, options.history ?? 10_000)
  }

  /** Forgets the history up to now: watches that have not seen it get `Expired`. */
  compact(): void {
    this.#history.compact()
  }

  /** Ends every open watch, as a server does that shuts down. */
  endWatches(): void {
    this.#history.endWatches()
  }

  /** Sends a bookmark on every open watch now; otherwise one goes out every minute. */
  bookmark(): void {
    this.#history.bookmark()
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#history.watches
  }

  async get<O>(resource: Resource<O>, ref: Ref, signal: AbortSignal): Promise<O> {
    await this.#enter({ verb: 'get', resource, ref, subresource: '' }, signal)
    return shownAs(resource, this.#current(resource, ref))
  }

  async list<O>(resource: Resource<O>, selection: Selection, signal: AbortSignal): Promise<Listed<O>> {
    await this.#enter({ verb: 'list', resource, ref: undefined, subresource: '' }, signal)
    const items = this.#selected(resource, selection)
    return {
      items: items.map(item => shownAs(resource, item)),
      resourceVersion: String(this.#history.revision),
    }
  }

  async *watch<O>(
    resource: Resource<O>,
    selection: Selection & { readonly resourceVersion: string },
    signal: AbortSignal,
  ): AsyncIterable<ClusterEvent<O>> {
    await this.#enter({ verb: 'watch', resource, ref: undefined, subresource: '' }, signal)
    const matches = matcherOf(selection)
    let seen = Number(selection.resourceVersion)
    for await (const watcher of this.#history.turns(signal)) {
      const { compacted, revision } = this.#history
      if (seen < compacted) throw expired(`too old resource version: ${seen} (${compacted})`)
      const events = this.#changes(resource, matches, seen)
      seen = Math.max(seen, revision)
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
    const options = { hasStatus: this.#hasStatus(resource), nowMs: this.#options.clock.now() }
    const made = created({ ...sent, metadata: { ...sent.metadata, ...ref } }, options)
    return shownAs(resource, this.#put(resource, made, undefined))
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
    checkPreconditions(resource, current, options)
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
    return (this.#options.kinds ?? []).map(discovered)
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
    checkPreconditions(resource, current, uid === undefined ? {} : { uid })
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
    this.#put(resource, terminating(current, this.#options.clock.now()), current)
  }

  #put(resource: Resource<unknown>, object: KubeObject, previous: KubeObject | undefined): KubeObject {
    const stored = this.#stamped(object)
    this.#of(resource).set(keyOf(stored.metadata), stored)
    this.#history.record({ type: 'PUT', resource: storeKey(resource), object: stored, previous })
    return stored
  }

  #drop(resource: Resource<unknown>, object: KubeObject): KubeObject {
    const previous = this.#of(resource).get(keyOf(object.metadata))
    const last = this.#stamped(object)
    this.#of(resource).delete(keyOf(object.metadata))
    this.#history.record({ type: 'DELETE', resource: storeKey(resource), object: last, previous })
    return last
  }

  #stamped(object: KubeObject): KubeObject {
    const metadata = { ...object.metadata, resourceVersion: String(this.#history.advance()) }
    return frozen(toObject({ ...object, metadata }))
  }

  #changes<O>(resource: Resource<O>, matches: Matcher, after: number): ClusterEvent<O>[] {
    const key = storeKey(resource)
    const events = this.#history.after(after, key).map(past => eventOf(past, matches))
    return events
      .filter(event => event !== undefined)
      .map(event => ({ type: event.type, object: shownAs(resource, event.object) }))
  }

  #bookmarkOf(watcher: Watcher, seen: number): { type: 'BOOKMARK'; resourceVersion: string } {
    watcher.bookmarkDue = false
    return { type: 'BOOKMARK', resourceVersion: String(seen) }
  }
}
