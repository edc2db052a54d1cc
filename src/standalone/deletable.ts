/** What the loops of this folder know of resources: which there are, and the metadata of their objects. */
import type { KubeObject, ObjectMeta } from '../api/meta.ts'
import type { Cluster, DiscoveredResource } from '../cluster/cluster.ts'
import type { InformerSource } from '../cluster/informer.ts'

/** Only the metadata that loops look at: bodies are not kept. */
export type Bare = { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMeta }

export function offers(resource: DiscoveredResource, ...verbs: readonly string[]): boolean {
  return verbs.every(verb => resource.verbs.includes(verb))
}

/** Lists and watches as the cluster does, without the bodies of objects. */
export function bareSource(cluster: Cluster): InformerSource {
  return {
    name: cluster.name,
    async list(resource, selection, signal) {
      const { items, resourceVersion } = await cluster.list(resource, selection, signal)
      return { items: items.map(bare), resourceVersion }
    },
    async *watch(resource, selection, signal) {
      for await (const event of cluster.watch(resource, selection, signal)) {
        yield event.type === 'BOOKMARK' ? event : { type: event.type, object: bare(event.object) }
      }
    },
  }
}

function bare<O>(object: O): O {
  // Every object of a cluster has these three fields; callers ask for `Bare` and get all of it.
  const { apiVersion, kind, metadata } = object as KubeObject
  const { managedFields: _fields, annotations: _annotations, labels: _labels, ...meta } = metadata
  return { apiVersion, kind, metadata: meta } as O
}
