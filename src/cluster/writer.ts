import type { ObjectMeta } from '../api/meta.ts'
import { isReason } from '../kernel/errors.ts'
import type { Counter, Metrics } from '../kernel/metrics.ts'
import type { Pace } from '../kernel/pace.ts'
import type { Cluster, Informer, Resource, WriteOptions } from './cluster.ts'

/** Verbs are those of authorization. */
type Write = {
  readonly resource: Resource<unknown>
  readonly subresource?: string
  readonly verb: 'create' | 'update' | 'delete'
}

type Written = { readonly metadata: ObjectMeta }

/**
 * Writes for reconcilers that read from informers. A write that finds another state than the informer had told of changes
 * nothing and answers undefined: the informer is behind, and what it will tell next brings the key back. Everything else
 * that goes wrong is thrown.
 */
export class Writer {
  readonly #cluster: Cluster
  readonly #pace: Pace | undefined
  readonly #writes: Counter
  readonly #listeners: (() => void)[] = []
  /** By resource. */
  readonly #informers = new Map<string, (written: Written) => void>()

  /** Every write waits for its turn when there is a pace, and is tried again when the server is overloaded. */
  constructor(cluster: Cluster, metrics: Metrics, pace?: Pace) {
    this.#cluster = cluster
    this.#pace = pace
    this.#writes = metrics.counter({
      name: 'isthmus_cluster_writes_total',
      help: 'Writes of controllers and agents: done, stale (nothing changed, tried again) or failed.',
      labels: ['cluster', 'resource', 'subresource', 'verb', 'result'],
    })
  }

  /** The informer knows of what is written here from the answer on. */
  informs<O extends Written>(resource: Resource<O>, informer: Informer<O>): void {
    // What is written of a resource is of its type.
    this.#informers.set(nameOf(resource), written => informer.note(written as O))
  }

  /** Called after each write that was carried out: the server can be reached. */
  onWritten(listener: () => void): void {
    this.#listeners.push(listener)
  }

  create<O extends Written>(resource: Resource<O>, object: O, signal: AbortSignal): Promise<O | undefined> {
    const write = () => this.#cluster.create(resource, object, signal)
    return this.#noted(resource, this.#write({ resource, verb: 'create' }, write, signal))
  }

  /** Replaces exactly the version whose resourceVersion the object carries. */
  replace<O extends Written>(
    resource: Resource<O>,
    object: O,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<O | undefined> {
    const { subresource = '' } = options
    const write = () => this.#cluster.replace(resource, object, options, signal)
    return this.#noted(resource, this.#write({ resource, subresource, verb: 'update' }, write, signal))
  }

  /** Deletes this object and none of the same name that came after it. */
  async delete<O extends Written>(resource: Resource<O>, object: O, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = object.metadata
    const ref = namespace === undefined ? { name } : { namespace, name }
    const options = { ...(uid === undefined ? {} : { uid }), signal }
    const write = () => this.#cluster.delete(resource, ref, options)
    await this.#write({ resource, verb: 'delete' }, write, signal)
  }

  async #noted<O extends Written>(
    resource: Resource<O>,
    writing: Promise<O | undefined>,
  ): Promise<O | undefined> {
    const written = await writing
    if (written !== undefined) this.#informers.get(nameOf(resource))?.(written)
    return written
  }

  async #write<T>(
    { resource, subresource = '', verb }: Write,
    write: () => Promise<T>,
    signal: AbortSignal,
  ): Promise<T | undefined> {
    const labels = { cluster: this.#cluster.name, resource: resource.plural, subresource, verb }
    try {
      const written = await this.#inTurn(write, signal)
      this.#writes.add({ ...labels, result: 'done' })
      for (const listener of this.#listeners) listener()
      return written
    } catch (thrown) {
      const stale = isStale(verb, thrown)
      this.#writes.add({ ...labels, result: stale ? 'stale' : 'failed' })
      if (!stale) throw thrown
      return undefined
    }
  }

  /** A server that has too much to do is asked again: meanwhile whoever writes here takes on nothing else. */
  async #inTurn<T>(write: () => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.#pace === undefined) return write()
    for (;;) {
      await this.#pace.turn(signal)
      try {
        return await write()
      } catch (thrown) {
        if (!isReason(thrown, 'TooManyRequests')) throw thrown
        await this.#pace.rest(1_000 * (thrown.details?.retryAfterSeconds ?? 1), signal)
      }
    }
  }
}

function nameOf({ group, plural }: Resource<unknown>): string {
  return `${plural}.${group}`
}

function isStale(verb: Write['verb'], thrown: unknown): boolean {
  if (!isReason(thrown, 'NotFound')) return isReason(thrown, 'Conflict', 'AlreadyExists')
  // Without a name it is a resource that is missing, and on create a namespace: of these the informer tells nothing.
  return verb !== 'create' && thrown.details?.name !== undefined
}

/** Whether a create was refused because its namespace is being deleted (KEP-1645 controllers test for this cause). */
export function isNamespaceTerminating(thrown: unknown): boolean {
  if (!isReason(thrown, 'Forbidden')) return false
  return thrown.details?.causes?.some(cause => cause.reason === 'NamespaceTerminating') ?? false
}
