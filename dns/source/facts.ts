/**
 * API objects → facts. Takes what other implementations publish too: lists may be null, fields may be missing, labels
 * may be nonsense; nothing of it throws, and what cannot become a record is sorted out when records are made.
 */
import type { ObjectMeta } from '../../src/api/meta.ts'
import type { EndpointFacts, PortFacts, ServiceFacts, SliceFacts } from '../contract.ts'

/** On EndpointSlices: the ServiceImport that they belong to, and the cluster that they come from (KEP-1645). */
export const serviceNameLabel = 'multicluster.kubernetes.io/service-name'
export const sourceClusterLabel = 'multicluster.kubernetes.io/source-cluster'

/** On ServiceImports, where `true`: each cluster has a name of its own below that of the service. */
const perClusterAnnotation = 'isthmus.dev/expose-per-cluster'
/** On EndpointSlices, where `true`: the cluster prefers others, which serve. They are not ready, but are what they serve. */
const standbyLabel = 'isthmus.dev/standby'

type Maybe<T> = T | null | undefined

type PortObject = {
  readonly name?: Maybe<string>
  readonly protocol?: Maybe<string>
  readonly port?: Maybe<number>
}

/** As much of a ServiceImport as DNS needs. */
export type ImportObject = {
  readonly metadata: ObjectMeta
  readonly spec?: Maybe<{
    readonly type?: Maybe<string>
    readonly ips?: Maybe<readonly string[]>
    readonly ports?: Maybe<readonly PortObject[]>
  }>
}

type EndpointObject = {
  readonly addresses?: Maybe<readonly string[]>
  readonly hostname?: Maybe<string>
  readonly conditions?: Maybe<{
    readonly ready?: Maybe<boolean>
    readonly serving?: Maybe<boolean>
    readonly terminating?: Maybe<boolean>
  }>
}

/** As much of an EndpointSlice as DNS needs. */
export type SliceObject = {
  readonly metadata: ObjectMeta
  readonly addressType?: Maybe<string>
  readonly endpoints?: Maybe<readonly EndpointObject[]>
  readonly ports?: Maybe<readonly PortObject[]>
}

/** The order of `slices` does not matter. */
export function serviceFacts(serviceImport: ImportObject, slices: readonly SliceObject[]): ServiceFacts {
  const { metadata, spec } = serviceImport
  const headless = spec?.type === 'Headless'
  const perCluster = metadata.annotations?.[perClusterAnnotation] === 'true'
  return {
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    type: headless ? 'Headless' : 'ClusterSetIP',
    // Some controllers write "None" into headless imports.
    ips: headless ? [] : (spec?.ips ?? []),
    ports: (spec?.ports ?? []).map(portFacts),
    perCluster,
    slices: headless || perCluster ? slices.filter(hasAddresses).toSorted(byName).map(sliceFacts) : [],
  }
}

function hasAddresses(slice: SliceObject): boolean {
  return slice.addressType !== 'FQDN'
}

function byName(one: SliceObject, other: SliceObject): number {
  if (one.metadata.name === other.metadata.name) return 0
  return one.metadata.name < other.metadata.name ? -1 : 1
}

function sliceFacts(slice: SliceObject): SliceFacts {
  const standby = slice.metadata.labels?.[standbyLabel] === 'true'
  return {
    ...(standby ? { standby } : {}),
    cluster: slice.metadata.labels?.[sourceClusterLabel] ?? '',
    ports: (slice.ports ?? []).map(portFacts),
    endpoints: (slice.endpoints ?? []).filter(standby ? isServing : isReady).map(endpointFacts),
  }
}

/**
 * Unknown counts as ready. A terminating endpoint says ready only where its Service publishes addresses that are not, so
 * `serving` and `terminating` add nothing.
 */
function isReady(endpoint: EndpointObject): boolean {
  return endpoint.conditions?.ready !== false
}

function isServing({ conditions }: EndpointObject): boolean {
  return conditions?.serving !== false && conditions?.terminating !== true
}

function endpointFacts(endpoint: EndpointObject): EndpointFacts {
  return { addresses: endpoint.addresses ?? [], hostname: endpoint.hostname ?? '' }
}

function portFacts(port: PortObject): PortFacts {
  return { name: port.name ?? '', protocol: (port.protocol ?? 'TCP').toLowerCase(), port: port.port ?? 0 }
}
