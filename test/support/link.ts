import type { Cluster, ClusterEvent, Resource, Selection } from '../../src/cluster/cluster.ts'
import { unavailable } from '../../src/kernel/errors.ts'

export type Link = Cluster & {
  /** Every request fails from now on, and open watches end: with this error, or as when the cluster is away. */
  cut(thrown?: Error): void
  restore(): void
}

/** A way to a cluster that can be cut. */
export function linkTo(cluster: Cluster): Link {
  const away = (): Error => unavailable(`${cluster.name} is away`)
  let lifetime = new AbortController()
  const open = (): AbortSignal => {
    lifetime.signal.throwIfAborted()
    return lifetime.signal
  }
  async function* watch<O>(
    resource: Resource<O>,
    selection: Selection & { readonly resourceVersion: string },
    signal: AbortSignal,
  ): AsyncIterable<ClusterEvent<O>> {
    yield* cluster.watch(resource, selection, AbortSignal.any([open(), signal]))
  }
  const guarded = async <R>(call: () => Promise<R>): Promise<R> => {
    open()
    return call()
  }
  return {
    name: cluster.name,
    get: (resource, ref, signal) => guarded(() => cluster.get(resource, ref, signal)),
    list: (resource, selection, signal) => guarded(() => cluster.list(resource, selection, signal)),
    watch,
    create: (resource, object, signal) => guarded(() => cluster.create(resource, object, signal)),
    replace: (resource, object, options, signal) =>
      guarded(() => cluster.replace(resource, object, options, signal)),
    mergePatch: (resource, ref, patch, options) =>
      guarded(() => cluster.mergePatch(resource, ref, patch, options)),
    delete: (resource, ref, options) => guarded(() => cluster.delete(resource, ref, options)),
    deleteCollection: (resource, selection, signal) =>
      guarded(() => cluster.deleteCollection(resource, selection, signal)),
    discover: signal => guarded(() => cluster.discover(signal)),
    cut: thrown => lifetime.abort(thrown ?? away()),
    restore: () => {
      lifetime = new AbortController()
    },
  }
}
