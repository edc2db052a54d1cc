// What the processes of the load bench tell each other, and the objects that they write.
import { EndpointSliceKind } from '../../../src/api/kinds/endpoint-slice.ts'
import { ServiceKind } from '../../../src/api/kinds/service.ts'
import { ServiceExportKind } from '../../../src/api/kinds/service-export.ts'
import { ServiceImportKind } from '../../../src/api/kinds/service-import.ts'
import { resource } from '../../../src/cluster/cluster.ts'

export const endpointSlices = resource(EndpointSliceKind)
export const serviceExports = resource(ServiceExportKind)
export const serviceImports = resource(ServiceImportKind)
export const services = resource(ServiceKind)

export type ServicePlan = { readonly name: string; readonly headless: boolean; readonly address: string }

export type MemberPlan = {
  readonly id: string
  readonly namespace: string
  readonly token: string
  /** That it exports. */
  readonly services: readonly ServicePlan[]
}

export type ServerPlan = {
  readonly home: string
  readonly port: number
  readonly members: readonly MemberPlan[]
}

export type ToWorker =
  | { readonly type: 'start'; readonly servers: readonly ServerPlan[] }
  | { readonly type: 'agents' | 'export' | 'count' }
  | { readonly type: 'change'; readonly member: string; readonly service: string; readonly address: string }

export type FromWorker =
  | { readonly type: 'done'; readonly what: 'start' | 'agents' | 'export' }
  | { readonly type: 'counts'; readonly imports: number; readonly slices: number; readonly derived: number }
  | { readonly type: 'changed'; readonly key: string; readonly address: string; readonly atMs: number }
  | {
      readonly type: 'view'
      readonly member: string
      readonly key: string
      /** The first address that is answered. */
      readonly first: string
      readonly atMs: number
    }
  | { readonly type: 'failed'; readonly error: string }

const endpointsEach = 10

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

/** Ten endpoints, of which the first has this address. */
export function sliceOf(namespace: string, { name }: ServicePlan, first: string) {
  const others = Array.from({ length: endpointsEach - 1 }, (_, at) => `10.250.0.${at + 1}`)
  return {
    apiVersion: endpointSlices.apiVersion,
    kind: endpointSlices.kind,
    metadata: { name: `${name}-abc`, namespace, labels: { 'kubernetes.io/service-name': name } },
    addressType: 'IPv4' as const,
    endpoints: [first, ...others].map(address => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'http', port: 8_080, protocol: 'TCP' as const }],
  }
}
