/**
 * Stage `endpoints`, in a member. Owns the EndpointSlices that carry its managed-by label.
 * Promises: one slice for each source slice of each exporting cluster, under a name that never changes; one change of a source
 * is one write; endpoints of this cluster go on without the hub.
 * Refuses: to take a slice away before all slices of its source cluster are known.
 */
import { withChanged } from '../api/changed.ts'
import type { ClusterSetService } from '../api/kinds/cluster-set-service.ts'
import { type EndpointSlice, EndpointSliceKind } from '../api/kinds/endpoint-slice.ts'
import type { ExportedPort } from '../api/kinds/exported-service.ts'
import { acceptsObjects, type Namespace } from '../api/kinds/namespace.ts'
import type { ServiceImport } from '../api/kinds/service-import.ts'
import { wellKnown } from '../api/well-known.ts'
import { type Informer, keyOf, type Ref, resource } from '../cluster/cluster.ts'
import { isNamespaceTerminating, type Writer } from '../cluster/writer.ts'
import type { ImportableIndex } from '../contract.ts'
import type { Family } from '../ip/address.ts'
import type { Carried, Changed } from '../kernel/propagation.ts'
import {
  desiredSlice,
  type ImportedService,
  isOurs,
  type Route,
  type SourceSlice,
  sameSlice,
} from './desired.ts'
import { fromImport, fromService } from './imported-service.ts'
import {
  type Candidate,
  distanceOf,
  isStandby,
  type Preference,
  preferenceOf,
  standbySlice,
} from './preference.ts'
import type { SliceSources, Source } from './sources.ts'

export type EndpointsOptions = {
  /** The id of this cluster. */
  readonly cluster: string
  /** The families that pods of this cluster can reach. */
  readonly families: readonly Family[]
  readonly sources: SliceSources
  readonly importables: ImportableIndex
  readonly serviceImports: Informer<ServiceImport>
  readonly endpointSlices: Informer<EndpointSlice>
  readonly namespaces: Informer<Namespace>
  /** The ports of a Service that this cluster exports; undefined when it does not. */
  exportedPorts(service: Ref): readonly ExportedPort[] | undefined
  /** Whether an import was made without the hub, which has not told of the service yet. */
  isUnmerged(imported: ServiceImport): boolean
  readonly local: Writer
  /** Whether the cluster routes packets to imports. */
  readonly routes: boolean
}

/** What is to become of an imported slice. */
type Verdict = { readonly present: EndpointSlice } | 'absent' | 'unknown'

type Rings = NonNullable<Preference['rings']>
type Preferring = { readonly imported: ImportedService; readonly rings: Rings }

const endpointSlices = resource(EndpointSliceKind)

/** Keeps one imported EndpointSlice of this cluster what its source says: one change, one write. */
export class EndpointsController {
  readonly #options: EndpointsOptions

  constructor(options: EndpointsOptions) {
    this.#options = options
  }

  /** `changed`: when the change was seen that this is for, and by whom. */
  async reconcile(ref: Ref, changed: Changed | undefined, signal: AbortSignal): Promise<Carried> {
    const { local, sources } = this.#options
    const current = this.#options.endpointSlices.get(ref)
    const source = sources.get(keyOf(ref))
    const verdict = source === undefined ? this.#orphan(current) : this.#verdict(source, current)
    if (verdict === 'unknown') return 'unchanged'
    if (verdict === 'absent') {
      if (current === undefined || !isOurs(current)) return 'unchanged'
      await local.delete(endpointSlices, current, signal)
      return 'written'
    }
    const { present } = verdict
    if (current !== undefined && sameSlice(current, present)) return 'unchanged'
    const dated = { ...present, metadata: withChanged(present.metadata, changed && { atMs: changed.atMs }) }
    if (current === undefined) return this.#create(dated, source, signal)
    const written = await local.replace(endpointSlices, dated, {}, signal)
    return written === undefined ? 'behind' : 'written'
  }

  /** A slice that no source stands for. It is too much only when all sources of its cluster are known. */
  #orphan(current: EndpointSlice | undefined): Verdict {
    const { cluster, sources } = this.#options
    const isOwn = current?.metadata.labels?.[wellKnown.sourceCluster] === cluster
    return (isOwn ? sources.ownComplete : sources.remoteComplete) ? 'absent' : 'unknown'
  }

  #verdict(source: Source, current: EndpointSlice | undefined): Verdict {
    const slice = this.#sourceSlice(source)
    if (slice === undefined) return 'absent'
    const imported = this.#imported(source.service)
    if (imported === 'unknown') return 'unknown'
    const route = this.#route(source.service)
    const present = imported && desiredSlice(slice, imported, { current, route })
    if (imported === undefined || present === undefined) return 'absent'
    const rings = this.#rings(source.service)
    return rings === undefined ? { present } : this.#placed(present, slice, { imported, rings })
  }

  #sourceSlice(source: Source): SourceSlice | undefined {
    return source.type === 'own' ? this.#ownSlice(source) : this.#remoteSlice(source)
  }

  #rings(service: Ref): Rings | undefined {
    const { namespaces, serviceImports } = this.#options
    const namespace = namespaces.get({ name: service.namespace ?? '' })
    return preferenceOf(serviceImports.get(service), namespace).rings
  }

  /** As this cluster prefers: what is too far is not imported, what is farther than need be stands by. */
  #placed(present: EndpointSlice, { cluster, service }: SourceSlice, here: Preferring): Verdict {
    const distance = this.#distance(cluster, here)
    if (distance === undefined) return 'absent'
    const { sources } = this.#options
    if (distance === 0) return { present }
    const all = sources.keysOf(service).flatMap(key => this.#nearer(sources.get(key), here, distance))
    return { present: isStandby({ slice: present, distance }, all) ? standbySlice(present) : present }
  }

  #nearer(source: Source | undefined, here: Preferring, than: number): readonly Candidate[] {
    const from = source && this.#sourceSlice(source)
    const distance = from && this.#distance(from.cluster, here)
    if (from === undefined || distance === undefined || distance >= than) return []
    const slice = desiredSlice(from, here.imported)
    return slice === undefined ? [] : [{ slice, distance }]
  }

  #distance(cluster: string, { imported, rings }: Preferring): number | undefined {
    const region = imported.clusters.find(each => each.cluster === cluster)?.region
    return distanceOf(rings, { isOwn: cluster === this.#options.cluster, region })
  }

  #route(service: Ref): Route | undefined {
    if (!this.#options.routes) return undefined
    return { importUid: this.#options.serviceImports.get(service)?.metadata.uid }
  }

  /** Undefined when this cluster does not export the service, or the slice is gone. */
  #ownSlice(source: Source & { readonly type: 'own' }): SourceSlice | undefined {
    const servicePorts = this.#options.exportedPorts(source.service)
    const slice = this.#options.endpointSlices.get(source.slice)
    if (servicePorts === undefined || slice === undefined) return undefined
    return {
      cluster: this.#options.cluster,
      service: source.service,
      name: slice.metadata.name,
      addressType: slice.addressType,
      endpoints: slice.endpoints,
      ports: slice.ports ?? [],
      servicePorts,
      draining: false,
    }
  }

  #remoteSlice(source: Source & { readonly type: 'remote' }): SourceSlice | undefined {
    const { importables } = this.#options
    const slice = importables.slice(source.importable)
    const contributor = this.#contributor(importables.service(source.service), source.cluster)
    if (slice === undefined || contributor === undefined || contributor.unreachable === true) return undefined
    const { slice: name, addressType, endpoints, ports } = slice.spec
    return {
      cluster: source.cluster,
      service: source.service,
      name,
      addressType,
      endpoints,
      ports,
      servicePorts: contributor.ports,
      draining: contributor.draining === true,
    }
  }

  #contributor(service: ClusterSetService | undefined, cluster: string) {
    return service?.status.clusters.find(contributor => contributor.cluster === cluster)
  }

  /** As the hub has told; until it has, as this cluster's own import says. Undefined when there is no such service. */
  #imported(service: Ref): ImportedService | 'unknown' | undefined {
    const { families, importables, isUnmerged, serviceImports } = this.#options
    const there = serviceImports.get(service)
    if (importables.hasSynced()) {
      const known = importables.service(service)
      if (known !== undefined) return fromService(known, families)
      if (there === undefined || !isUnmerged(there)) return undefined
    }
    return there?.spec === undefined ? 'unknown' : fromImport(there, families)
  }

  async #create(slice: EndpointSlice, source: Source | undefined, signal: AbortSignal): Promise<Carried> {
    const { local, namespaces } = this.#options
    if (!acceptsObjects(namespaces.get({ name: slice.metadata.namespace ?? '' }))) return 'unchanged'
    const route = source && this.#route(source.service)
    // Where the cluster routes, slices come after the import that they go with: it brings them back.
    if (route !== undefined && route.importUid === undefined) return 'behind'
    try {
      const written = await local.create(endpointSlices, slice, signal)
      return written === undefined ? 'behind' : 'written'
    } catch (thrown) {
      // The informer of namespaces is behind; it brings the key back when the namespace is made again.
      if (!isNamespaceTerminating(thrown)) throw thrown
      return 'unchanged'
    }
  }
}
