/** A cluster as seen by a program of another release: fields come and go on the way. */
import type { Cluster, ClusterEvent } from '../../src/cluster/cluster.ts'
import { isJsonObject } from '../../src/cluster/json.ts'

export type Skew = {
  /** Of what the program reads, and of what it writes. */
  read(object: unknown): unknown
  write(object: unknown): unknown
}

export function through(cluster: Cluster, { read, write }: Skew): Cluster {
  // Both directions keep what the schema requires.
  const seen = <O>(object: O): O => read(object) as O
  const sent = <O>(object: O): O => write(object) as O
  return {
    name: cluster.name,
    get: async (resource, ref, signal) => seen(await cluster.get(resource, ref, signal)),
    list: async (resource, selection, signal) => {
      const { items, resourceVersion } = await cluster.list(resource, selection, signal)
      return { items: items.map(seen), resourceVersion }
    },
    watch: (resource, selection, signal) => seenEvents(cluster.watch(resource, selection, signal), seen),
    create: async (resource, object, signal) => seen(await cluster.create(resource, sent(object), signal)),
    replace: async (resource, object, options, signal) =>
      seen(await cluster.replace(resource, sent(object), options, signal)),
    mergePatch: async (resource, ref, patch, options) =>
      seen(await cluster.mergePatch(resource, ref, sent(patch), options)),
    delete: (resource, ref, options) => cluster.delete(resource, ref, options),
    deleteCollection: (resource, selection, signal) => cluster.deleteCollection(resource, selection, signal),
    discover: signal => cluster.discover(signal),
  }
}

async function* seenEvents<O>(
  events: AsyncIterable<ClusterEvent<O>>,
  seen: (object: O) => O,
): AsyncIterable<ClusterEvent<O>> {
  for await (const event of events) {
    yield event.type === 'BOOKMARK' ? event : { type: event.type, object: seen(event.object) }
  }
}

/** The object with each object of its spec and status replaced by what `change` makes of it, inner ones first. */
export function changedWithin(object: unknown, change: (part: Parts) => Parts): unknown {
  if (!isJsonObject(object)) return object
  const deep = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(deep)
    if (!isJsonObject(value)) return value
    return change(Object.fromEntries(Object.entries(value).map(([key, part]) => [key, deep(part)])))
  }
  const { spec, status } = object
  return {
    ...object,
    ...(spec === undefined ? {} : { spec: deep(spec) }),
    ...(status === undefined ? {} : { status: deep(status) }),
  }
}

export type Parts = Readonly<Record<string, unknown>>
