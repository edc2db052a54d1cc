// What people and clusters do in the cases, in sentences.
import type { EndpointSlice } from '../../src/api/kinds/endpoint-slice.ts'
import type { Service } from '../../src/api/kinds/service.ts'
import type { ServiceExport } from '../../src/api/kinds/service-export.ts'
import type { ObjectMeta } from '../../src/api/meta.ts'
import type { Resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'
import { isReason } from '../../src/kernel/errors.ts'
import { ports as exportedPorts } from '../support/contributions.ts'
import {
  type MemoryFleet,
  memberClusters,
  namespaces,
  serviceExports,
  serviceImports,
  services,
  slices,
} from '../support/memory-fleet.ts'
import { service, serviceExport, slice } from '../support/shop.ts'
import type { Act } from './case.ts'

type Endpoint = EndpointSlice['endpoints'][number]

export type Exporting = {
  readonly name?: string
  /** `http:80 dns:53/UDP`; each is served by pods at 8000 more. */
  readonly ports?: string
  readonly appProtocol?: string
  readonly spec?: Partial<NonNullable<Service['spec']>>
  /** `none`: an API server that does not default the internal traffic policy. */
  readonly policy?: 'none'
  readonly exported?: ServiceExport['spec']
  readonly annotations?: Readonly<Record<string, string>>
  readonly endpoints?: readonly Endpoint[]
  readonly addressTypes?: readonly EndpointSlice['addressType'][]
}

const startMs = Date.parse('2026-01-02T03:04:05Z')

/** `c1@10`: a Service with its endpoints, and its export of second 10. */
export function exporting(at: string, what: Exporting = {}): readonly Act[] {
  const [cluster = ''] = at.split('@')
  return [serving(cluster, what), ...endpointsOf(cluster, what), exportOf(at, what)]
}

export function exportOf(at: string, { name = 'web', exported, annotations }: Exporting = {}): Act {
  const [cluster = '', second = '0'] = at.split('@')
  const plain = serviceExport(name, exported)
  const object =
    annotations === undefined ? plain : { ...plain, metadata: { ...plain.metadata, annotations } }
  return async fleet => {
    const member = fleet.member(cluster)
    await member.local.dated(startMs + Number(second) * 1_000, () => member.apply(serviceExports, object))
  }
}

export function serving(cluster: string, what: Exporting = {}): Act {
  const { name = 'web', spec = {}, appProtocol } = what
  const ports = exportedPorts(what.ports ?? 'http:80').map(port => ({
    ...port,
    targetPort: 8000 + port.port,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }))
  const plain = service(name, { ports, ...spec })
  const { internalTrafficPolicy: _policy, ...unpoliced } = plain.spec ?? {}
  const object = what.policy === 'none' ? { ...plain, spec: unpoliced } : plain
  return async fleet => {
    await fleet.member(cluster).apply(services, object)
  }
}

/** Of each family: an address from the number of the cluster, unless endpoints are given. */
function endpointsOf(cluster: string, what: Exporting): readonly Act[] {
  return (what.addressTypes ?? ['IPv4']).map(addressType => sliceOf(cluster, addressType, what))
}

export function sliceOf(
  cluster: string,
  addressType: EndpointSlice['addressType'],
  what: Exporting = {},
): Act {
  const number = cluster.replace(/\D/g, '')
  const address = addressType === 'IPv4' ? `10.${number}.0.1` : `fd00:${number}::1`
  const ports = exportedPorts(what.ports ?? 'http:80').map(port => ({
    name: port.name ?? '',
    protocol: port.protocol,
    port: 8000 + port.port,
  }))
  const endpoints = what.endpoints ?? [{ addresses: [address], conditions: { ready: true } }]
  const object = slice(`${what.name ?? 'web'}-${addressType.toLowerCase()}`, [], {
    addressType,
    endpoints: [...endpoints],
    ports,
  })
  return async fleet => {
    await fleet.member(cluster).apply(slices, object)
  }
}

export const unexport = (cluster: string): Act => gone(cluster, serviceExports)
export const withdraw = (cluster: string): Act => gone(cluster, services)

export function gone(cluster: string, of: Resource<{ readonly metadata: ObjectMeta }>, name = 'web'): Act {
  return fleet => ifThere(fleet.member(cluster).remove(of, { namespace: 'shop', name }))
}

export const opened =
  (cluster: string): Act =>
  async fleet => {
    if ((await fleet.member(cluster).local.find(namespaces, 'shop')) === undefined)
      await fleet.member(cluster).namespace('shop')
  }

/** Somebody deletes the namespace: it goes on with everything in it being deleted. */
export const closing =
  (cluster: string): Act =>
  async fleet => {
    const { local } = fleet.member(cluster)
    const there = await local.get(namespaces, { name: 'shop' }, never)
    await local.replace(
      namespaces,
      { ...there, status: { phase: 'Terminating' } },
      { subresource: 'status' },
      never,
    )
  }

/** The exporter's slice becomes another service's. */
export const relabelled =
  (cluster: string, service: string): Act =>
  async fleet => {
    const patch = { metadata: { labels: { 'kubernetes.io/service-name': service } } }
    const ref = { namespace: 'shop', name: 'web-ipv4' }
    await fleet.member(cluster).local.mergePatch(slices, ref, patch, { signal: never })
  }

/** Somebody annotates the namespace, or an import that is there. */
export const annotated =
  (cluster: string, of: 'namespace' | 'import', key: string, value: string): Act =>
  async fleet => {
    const { local } = fleet.member(cluster)
    const patch = { metadata: { annotations: { [key]: value } } }
    const options = { signal: never }
    if (of === 'namespace') await local.mergePatch(namespaces, { name: 'shop' }, patch, options)
    else await local.mergePatch(serviceImports, { namespace: 'shop', name: 'web' }, patch, options)
  }

/** The operator of the hub says in which region a cluster is. */
export const located =
  (cluster: string, region: string): Act =>
  async fleet => {
    const patch = { metadata: { labels: { 'topology.kubernetes.io/region': region } } }
    await fleet.hub.mergePatch(memberClusters, { name: cluster }, patch, { signal: never })
  }

export const passing =
  (seconds: number): Act =>
  fleet =>
    fleet.clock.advance(seconds * 1_000)

export const cut =
  (cluster: string): Act =>
  async fleet =>
    fleet.member(cluster).hub.cut()

export const restored =
  (cluster: string): Act =>
  async fleet =>
    fleet.member(cluster).hub.restore()

export async function ifThere(promise: Promise<void>): Promise<void> {
  try {
    await promise
  } catch (thrown) {
    if (!isReason(thrown, 'NotFound')) throw thrown
  }
}

/** One after the other, and what comes of them. */
export async function happen(fleet: MemoryFleet, acts: readonly Act[]): Promise<void> {
  for (const act of acts) await act(fleet)
  await fleet.settle()
}
