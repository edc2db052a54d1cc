// A namespace of a shared API server as the whole cluster of a member, and a count of what the server tells of it.
import type { EndpointSlice } from '../../../src/api/kinds/endpoint-slice.ts'
import { NamespaceKind } from '../../../src/api/kinds/namespace.ts'
import type { Service } from '../../../src/api/kinds/service.ts'
import type { ServiceImport } from '../../../src/api/kinds/service-import.ts'
import type { KubeObject } from '../../../src/api/meta.ts'
import { type Cluster, type Resource, resource, type Selection } from '../../../src/cluster/cluster.ts'
import { type Counts, endpointSlices, serviceImports, services } from './plan.ts'

const namespaces = resource(NamespaceKind)

/**
 * Which objects are there and done, and how many versions of them there were, by member, as the watches of agents and DNS
 * tell: nothing is asked for to count them.
 */
export class Tally {
  readonly #imports = new Set<string>()
  readonly #slices = new Set<string>()
  readonly #derived = new Set<string>()
  /** The last version of each object. */
  readonly #versions = new Map<string, number>()
  #sliceWrites = 0
  #otherWrites = 0
  #largest = 0

  counts(): Counts {
    return {
      imports: this.#imports.size,
      slices: this.#slices.size,
      derived: this.#derived.size,
      sliceWrites: this.#sliceWrites,
      otherWrites: this.#otherWrites,
      largest: this.#largest,
    }
  }

  take(member: string, object: KubeObject, gone: boolean): void {
    const key = `${member} ${object.kind} ${object.metadata.name}`
    const version = Number(object.metadata.resourceVersion)
    // Two watches tell of it.
    if (version <= (this.#versions.get(key) ?? 0)) return
    this.#versions.set(key, version)
    const note = (set: Set<string>, isDone: boolean): unknown =>
      isDone && !gone ? set.add(key) : set.delete(key)
    // What a watch of a kind tells is of that kind.
    if (object.kind === endpointSlices.kind) {
      if (isImported(object)) this.#takeSlice(object as EndpointSlice)
      note(this.#slices, isImported(object))
      return
    }
    if (object.kind === serviceImports.kind) note(this.#imports, isReady(object as ServiceImport))
    else if (object.kind === services.kind) note(this.#derived, isRouted(object as Service))
    else return
    this.#otherWrites += 1
  }

  #takeSlice({ endpoints }: EndpointSlice): void {
    this.#sliceWrites += 1
    this.#largest = Math.max(this.#largest, endpoints.length)
  }
}

function isReady({ status }: ServiceImport): boolean {
  return status?.conditions?.some(({ status: is, type }) => type === 'Ready' && is === 'True') === true
}

function isRouted({ status }: Service): boolean {
  return status?.loadBalancer?.ingress !== undefined
}

function isImported({ metadata }: KubeObject): boolean {
  return metadata.labels?.['multicluster.kubernetes.io/source-cluster'] !== undefined
}
type Narrow = { readonly id: string; readonly namespace: string; readonly tally: Tally }

/** The cluster as if it had one namespace. */
export function narrowed(cluster: Cluster, { id, namespace, tally }: Narrow): Cluster {
  const narrow = <S extends Selection>(of: Resource<unknown>, selection: S): S => {
    if (of.namespaced) return { ...selection, namespace }
    return of.plural === namespaces.plural
      ? { ...selection, fieldSelector: `metadata.name=${namespace}` }
      : selection
  }
  return {
    name: cluster.name,
    get: (of, ref, inner) => cluster.get(of, ref, inner),
    list: (of, selection, inner) => cluster.list(of, narrow(of, selection), inner),
    async *watch(of, selection, inner) {
      for await (const event of cluster.watch(of, narrow(of, selection), inner)) {
        // Every object of an API has metadata.
        if (event.type !== 'BOOKMARK') tally.take(id, event.object as KubeObject, event.type === 'DELETED')
        yield event
      }
    },
    create: (of, object, inner) => cluster.create(of, object, inner),
    replace: (of, object, options, inner) => cluster.replace(of, object, options, inner),
    mergePatch: (of, ref, patch, options) => cluster.mergePatch(of, ref, patch, options),
    delete: (of, ref, options) => cluster.delete(of, ref, options),
    deleteCollection: (of, selection, inner) => cluster.deleteCollection(of, narrow(of, selection), inner),
    discover: inner => cluster.discover(inner),
  }
}
