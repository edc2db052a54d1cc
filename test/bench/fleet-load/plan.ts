// What the processes of the load benches tell each other, and the objects that they write.
import { type EndpointSlice, EndpointSliceKind } from '../../../src/api/kinds/endpoint-slice.ts'
import { ServiceKind } from '../../../src/api/kinds/service.ts'
import { ServiceExportKind } from '../../../src/api/kinds/service-export.ts'
import { ServiceImportKind } from '../../../src/api/kinds/service-import.ts'
import { resource } from '../../../src/cluster/cluster.ts'

export const endpointSlices = resource(EndpointSliceKind)
export const serviceExports = resource(ServiceExportKind)
export const serviceImports = resource(ServiceImportKind)
export const services = resource(ServiceKind)

export type ServicePlan = {
  readonly name: string
  /** The services of a namespace are numbered: some may be exported before others. */
  readonly number: number
  readonly headless: boolean
  readonly endpoints: number
}

export type MemberPlan = {
  readonly id: string
  readonly namespace: string
  /** That it exports. */
  readonly services: readonly ServicePlan[]
}

export type ServerPlan = {
  readonly home: string
  readonly port: number
  readonly members: readonly (MemberPlan & { readonly token: string })[]
}

/** Another address for one endpoint of a service. */
export type ChangePlan = {
  readonly member: string
  readonly service: string
  readonly endpoint: number
  readonly address: string
}

export type ToWorker =
  | { readonly type: 'start'; readonly servers: readonly ServerPlan[] }
  | { readonly type: 'agents' | 'count' }
  /** Services with these numbers, the end not included. */
  | { readonly type: 'export'; readonly from: number; readonly to: number }
  | ({ readonly type: 'change' } & ChangePlan)

export type Counts = {
  readonly imports: number
  readonly slices: number
  readonly derived: number
  /** How often imported slices were written, and everything else that agents write in their clusters. */
  readonly sliceWrites: number
  readonly otherWrites: number
  /** The most endpoints that an imported slice has had. */
  readonly largest: number
}

export type FromWorker =
  | { readonly type: 'done' }
  | ({ readonly type: 'counts' } & Counts)
  | { readonly type: 'changed'; readonly address: string; readonly atMs: number }
  | {
      readonly type: 'view'
      readonly member: string
      readonly key: string
      /** Addresses that were not answered before. */
      readonly added: readonly string[]
      /** How many endpoints are answered, each of which has a name. */
      readonly names: number
      readonly atMs: number
    }
  | { readonly type: 'failed'; readonly error: string }

/** As many as kube-controller-manager puts into one. */
const endpointsEach = 100

export function serviceOf(namespace: string, { headless, name }: ServicePlan) {
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' as const }]
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace },
    spec: { ports, ...(headless ? { clusterIP: 'None' } : {}) },
  }
}

export function exportOf(namespace: string, { name }: ServicePlan) {
  return { apiVersion: serviceExports.apiVersion, kind: serviceExports.kind, metadata: { name, namespace } }
}

export function slicesOf(namespace: string, service: ServicePlan): readonly EndpointSlice[] {
  const count = Math.ceil(service.endpoints / endpointsEach)
  return Array.from({ length: count }, (_, at): EndpointSlice => {
    const first = at * endpointsEach
    const length = Math.min(endpointsEach, service.endpoints - first)
    return {
      apiVersion: endpointSlices.apiVersion,
      kind: endpointSlices.kind,
      metadata: {
        name: sliceName(service, first),
        namespace,
        labels: { 'kubernetes.io/service-name': service.name },
      },
      addressType: 'IPv4' as const,
      endpoints: Array.from({ length }, (_each, n) => endpointOf(first + n, addressOf(first + n))),
      ports: [{ name: 'http', port: 8_080, protocol: 'TCP' as const }],
    }
  })
}

export function sliceName({ name }: ServicePlan, endpoint: number): string {
  return `${name}-${Math.floor(endpoint / endpointsEach)}`
}

/** The slice with another address for one endpoint of the service. */
export function withAddress(slice: EndpointSlice, endpoint: number, address: string): EndpointSlice {
  return {
    ...slice,
    endpoints: slice.endpoints.with(endpoint % endpointsEach, endpointOf(endpoint, address)),
  }
}

function endpointOf(number: number, address: string) {
  return { addresses: [address], hostname: `pod-${number}`, conditions: { ready: true } }
}

function addressOf(number: number): string {
  return `10.250.${Math.floor(number / 250)}.${(number % 250) + 1}`
}
