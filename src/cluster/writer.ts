import type { ObjectMeta } from '../api/meta.ts'
import { isReason } from '../kernel/errors.ts'
import type { Counter, Metrics } from '../kernel/metrics.ts'
import type { Cluster, Resource, WriteOptions } from './cluster.ts'

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
  readonly #writes: Counter
  readonly #listeners: (() => void)[] = []

  constructor(cluster: Cluster, metrics: Metrics) {
    this.#cluster = cluster
    this.#writes = metrics.counter({
      name: 'isthmus_cluster_writes_total',
      help: 'Writes of controllers and agents: done, stale (nothing changed, tried again) or failed.',
      labels: ['cluster', 'resource', 'subresource', 'verb', 'result'],
    })
  }

  /** Called after each write that was carried out: the server can be reached. */
  onWritten(listener: () => void): void {
    this.#listeners.push(listener)
  }

  create<O extends Written>(resource: Resource<O>, object: O, signal: AbortSignal): Promise<O | undefined> {
    return this.#write({ resource, verb: 'create' }, () => this.#cluster.create(resource, object, signal))
  }

  /** Replaces exactly the version whose resourceVersion the object carries. */
  replace<O extends Written>(
    resource: Resource<O>,
    object: O,
    options: WriteOptions,
    signal: AbortSignal,
  ): Promise<O | undefined> {
    const { subresource = '' } = options
    return this.#write({ resource, subresource, verb: 'update' }, () =>
      this.#cluster.replace(resource, object, options, signal),
    )
  }

  /** Deletes this object and none of the same name that came after it. */
  async delete<O extends Written>(resource: Resource<O>, object: O, signal: AbortSignal): Promise<void> {
    const { namespace, name, uid } = object.metadata
    const ref = namespace === undefined ? { name } : { namespace, name }
    const options = { ...(uid === undefined ? {} : { uid }), signal }
    await this.#write({ resource, verb: 'delete' }, () => this.#cluster.delete(resource, ref, options))
  }

  async #write<T>(
    { resource, subresource = '', verb }: Write,
    write: () => Promise<T>,
  ): Promise<T | undefined> {
    const labels = { cluster: this.#cluster.name, resource: resource.plural, subresource, verb }
    try {
      const written = await write()
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
