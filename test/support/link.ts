import type { Cluster, ClusterEvent, Resource, Selection } from '../../src/cluster/cluster.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { tooManyRequests, unavailable } from '../../src/kernel/errors.ts'

export type Link = Cluster & {
  /** Every request fails from now on, and open watches end: with this error, or as when the cluster is away. */
  cut(thrown?: Error): void
  restore(): void
  /** Writes beyond so many in a second are refused, as by a server that is overloaded. */
  limit(writesPerSecond: number, clock: Clock): void
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
  let admit = (): void => undefined
  const written = async <R>(call: () => Promise<R>): Promise<R> => {
    open()
    admit()
    return call()
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
    create: (resource, object, signal) => written(() => cluster.create(resource, object, signal)),
    replace: (resource, object, options, signal) =>
      written(() => cluster.replace(resource, object, options, signal)),
    mergePatch: (resource, ref, patch, options) =>
      guarded(() => cluster.mergePatch(resource, ref, patch, options)),
    delete: (resource, ref, options) => written(() => cluster.delete(resource, ref, options)),
    deleteCollection: (resource, selection, signal) =>
      guarded(() => cluster.deleteCollection(resource, selection, signal)),
    discover: signal => guarded(() => cluster.discover(signal)),
    cut: thrown => lifetime.abort(thrown ?? away()),
    limit: (writesPerSecond, clock) => {
      const recent: number[] = []
      admit = () => {
        const nowMs = clock.now()
        while ((recent[0] ?? nowMs) <= nowMs - 1_000) recent.shift()
        if (recent.length >= writesPerSecond) throw tooManyRequests('the hub is overloaded', 1)
        recent.push(nowMs)
      }
    },
    restore: () => {
      lifetime = new AbortController()
    },
  }
}
