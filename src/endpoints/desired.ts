import { derivedServiceName } from '../api/derived-service.ts'
import type { Contributor } from '../api/kinds/cluster-set-service.ts'
import { type EndpointSlice, EndpointSliceKind } from '../api/kinds/endpoint-slice.ts'
import type { ExportedPort } from '../api/kinds/exported-service.ts'
import { ServiceImportKind } from '../api/kinds/service-import.ts'
import type { ObjectMeta } from '../api/meta.ts'
import { sliceManager, wellKnown } from '../api/well-known.ts'
import { type Ref, resource } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'
import type { Family } from '../ip/address.ts'
import { shortHash } from '../kernel/short-hash.ts'

type Endpoint = EndpointSlice['endpoints'][number]
type EndpointPort = NonNullable<EndpointSlice['ports']>[number]

/** What slices need to know of the service that is imported. */
export type ImportedService = {
  readonly type: 'ClusterSetIP' | 'Headless'
  readonly ports: readonly ExportedPort[]
  /** Those that this cluster can use. */
  readonly ipFamilies: readonly Family[]
  readonly trafficDistribution: string | undefined
  /** The clusters whose exports count. */
  readonly clusters: readonly Pick<Contributor, 'cluster' | 'region' | 'taint'>[]
}

/** In a cluster that routes packets: the import that slices go with. */
export type Route = {
  /** Undefined while there is no import. */
  readonly importUid: string | undefined
}

/** A slice of an exporting cluster, this one or another. */
export type SourceSlice = {
  readonly cluster: string
  readonly service: Ref
  /** Its name in the cluster that it comes from. */
  readonly name: string
  readonly addressType: EndpointSlice['addressType']
  readonly endpoints: readonly Endpoint[]
  readonly ports: readonly EndpointPort[]
  /** The ports of that cluster's own Service, by whose names the slice names its ports. */
  readonly servicePorts: readonly ExportedPort[]
  /** Its cluster is not heard any more: no new connections go there. */
  readonly draining: boolean
}

const { apiVersion, kind } = resource(EndpointSliceKind)

/**
 * The name of the slice that stands for a source slice in every importing cluster. The address type is part of it: it
 * cannot change in an EndpointSlice.
 */
export function importedSliceName(
  source: Pick<SourceSlice, 'cluster' | 'service' | 'name' | 'addressType'>,
): string {
  const { addressType, cluster, name, service } = source
  return `imported-${service.name}-${shortHash(cluster, name, addressType)}`
}

/**
 * The slice that this cluster has of a source slice (KEP-1645, "EndpointSlice"), on top of what is there. Undefined when
 * nothing of it can be reached through the import.
 */
export function desiredSlice(
  source: SourceSlice,
  imported: ImportedService,
  {
    current,
    route,
  }: { readonly current?: EndpointSlice | undefined; readonly route?: Route | undefined } = {},
): EndpointSlice | undefined {
  const contributor = imported.clusters.find(({ cluster }) => cluster === source.cluster)
  if (contributor === undefined || contributor.taint === 'NoImport') return undefined
  if (!imported.ipFamilies.some(family => family === source.addressType)) return undefined
  const ports = source.ports.flatMap(port => importedPort(port, source.servicePorts, imported.ports))
  // Addresses of a headless service are of use without ports: its A and AAAA records do not depend on them.
  if (ports.length === 0 && imported.type === 'ClusterSetIP') return undefined
  const metadata = current?.metadata ?? {
    namespace: source.service.namespace ?? '',
    name: importedSliceName(source),
  }
  const routed = route !== undefined && imported.type === 'ClusterSetIP'
  const {
    [wellKnown.coreServiceName]: _routed,
    [wellKnown.standby]: _standby,
    ...otherLabels
  } = metadata.labels ?? {}
  const labels = {
    ...otherLabels,
    [wellKnown.serviceName]: source.service.name,
    [wellKnown.sourceCluster]: source.cluster,
    [wellKnown.managedBy]: sliceManager,
    // By this label kube-proxy finds the endpoints of a Service.
    ...(routed ? { [wellKnown.coreServiceName]: derivedServiceName(source.service) } : {}),
  }
  const use = useOf(source, imported, contributor.taint)
  return {
    ...(current ?? { apiVersion, kind }),
    metadata: { ...metadata, labels, ...ownership(source.service.name, route) },
    addressType: source.addressType,
    endpoints: source.endpoints.map(endpoint => importedEndpoint(endpoint, use)),
    ports,
  }
}

/** The garbage collector of the cluster takes slices away with their import. */
function ownership(name: string, route: Route | undefined): Pick<ObjectMeta, 'ownerReferences'> {
  if (route?.importUid === undefined) return {}
  const { apiVersion: version, kind: ownerKind } = resource(ServiceImportKind)
  return { ownerReferences: [{ apiVersion: version, kind: ownerKind, name, uid: route.importUid }] }
}

/** Zones mean the same in all clusters, nodes do not: of these only the zone can be kept to. */
const nearbyDistributions = new Set(['PreferClose', 'PreferSameZone', 'PreferSameNode'])

/** How endpoints of a source are to be used. */
type Use = { readonly nearby: boolean; readonly draining: boolean }

function useOf({ draining }: SourceSlice, imported: ImportedService, taint: Contributor['taint']): Use {
  return {
    nearby: nearbyDistributions.has(imported.trafficDistribution ?? ''),
    draining: draining || taint === 'NoNewConnections',
  }
}

/** Only endpoints of this cluster come with a node, by which kube-proxy finds those that `internalTrafficPolicy: Local` asks for. */
function importedEndpoint(
  { addresses, conditions = {}, hostname, nodeName, zone }: Endpoint,
  use: Use,
): Endpoint {
  return {
    addresses,
    conditions: use.draining ? { ...conditions, ready: false } : conditions,
    ...(hostname === undefined ? {} : { hostname }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    ...(use.nearby && zone !== undefined ? { hints: { forZones: [{ name: zone }] } } : {}),
  }
}

/**
 * A port is imported when the import has its number and protocol, under the name that it has there; so traffic to a
 * disputed port reaches only clusters that expose that port.
 */
function importedPort(
  port: EndpointPort,
  servicePorts: readonly ExportedPort[],
  importedPorts: readonly ExportedPort[],
): readonly EndpointPort[] {
  const protocol = port.protocol ?? 'TCP'
  const exported = servicePorts.find(p => (p.name ?? '') === (port.name ?? '') && p.protocol === protocol)
  if (exported === undefined) return []
  const imported = importedPorts.find(p => p.port === exported.port && p.protocol === protocol)
  return imported === undefined ? [] : [{ ...port, protocol, name: imported.name ?? '' }]
}

/** Whether the object is what is wanted, whatever the API server has defaulted. */
export function sameSlice(current: EndpointSlice, desired: EndpointSlice): boolean {
  return (
    equalJson(current.metadata, desired.metadata) &&
    current.addressType === desired.addressType &&
    equalJson(current.endpoints.map(plainEndpoint), desired.endpoints.map(plainEndpoint)) &&
    equalJson((current.ports ?? []).map(plainPort), (desired.ports ?? []).map(plainPort))
  )
}

function plainEndpoint(endpoint: Endpoint): Endpoint {
  return { ...endpoint, conditions: endpoint.conditions ?? {} }
}

function plainPort(port: EndpointPort): EndpointPort {
  return { ...port, name: port.name ?? '', protocol: port.protocol ?? 'TCP' }
}

/** Whether an agent made this slice. */
export function isOurs({ metadata }: EndpointSlice): boolean {
  return metadata.labels?.[wellKnown.managedBy] === sliceManager
}
