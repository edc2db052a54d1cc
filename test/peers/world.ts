/** An API server with services of many clusters, described in a few words, for what is to be compared over it. */
import { join } from 'node:path'
import { EndpointSliceKind } from '../../src/api/kinds/endpoint-slice.ts'
import { NamespaceKind } from '../../src/api/kinds/namespace.ts'
import { ServiceImportKind } from '../../src/api/kinds/service-import.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { ClusterClient } from '../../src/cluster/client.ts'
import { type Resource, resource } from '../../src/cluster/cluster.ts'
import { fromKubeconfig } from '../../src/cluster/kubeconfig.ts'
import { never } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { writeKubeconfig } from '../../src/roles/kubeconfig-file.ts'
import { testServer } from '../support/api-server.ts'

export const context = 'test'

export type World = {
  readonly kubeconfig: string
  readonly cluster: ClusterClient
  close(): Promise<void>
}

export async function startWorld(folder: string): Promise<World> {
  const server = await testServer()
  const kubeconfig = join(folder, 'kubeconfig')
  const { certificate, key } = server.admin
  await writeKubeconfig(kubeconfig, [
    { name: context, server: server.url, ca: server.authority.certificate, user: { certificate, key } },
  ])
  const found = await fromKubeconfig({ path: kubeconfig, context, clock: systemClock })
  const cluster = new ClusterClient({ ...found, clock: systemClock })
  return {
    kubeconfig,
    cluster,
    close: async () => {
      cluster.close()
      await server.close()
    },
  }
}

// What these tests write is of these kinds by construction.
const imports = resource(ServiceImportKind) as Resource
const slices = resource(EndpointSliceKind) as Resource
const namespaces = resource(NamespaceKind) as Resource

export type Port = { readonly name: string; readonly port: number; readonly protocol: string }
export type Endpoint = {
  readonly addresses: readonly string[]
  readonly hostname?: string
  readonly ready: boolean
}
export type Slice = {
  readonly cluster: string
  readonly family: 'IPv4' | 'IPv6'
  readonly ports: readonly Port[]
  readonly endpoints: readonly Endpoint[]
}
export type Service = {
  readonly namespace: string
  readonly name: string
  readonly type: 'ClusterSetIP' | 'Headless'
  readonly ips: readonly string[]
  readonly ports: readonly Port[]
  readonly slices: readonly Slice[]
}

export async function createNamespace(cluster: ClusterClient, name: string): Promise<void> {
  await cluster.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, never)
}

export async function createService(cluster: ClusterClient, service: Service): Promise<void> {
  const { namespace, name, type, ips, ports } = service
  const metadata = { namespace, name }
  const spec = { type, ports, ...(ips.length === 0 ? {} : { ips }) }
  await cluster.create(imports, objectOf(imports, { metadata, spec }), never)
  for (const at of service.slices.keys()) await createSlice(cluster, service, at)
}

async function createSlice(cluster: ClusterClient, service: Service, at: number): Promise<void> {
  const slice = service.slices[at]
  if (slice === undefined) return
  const metadata = {
    namespace: service.namespace,
    name: sliceName(service, at),
    labels: {
      'multicluster.kubernetes.io/service-name': service.name,
      'multicluster.kubernetes.io/source-cluster': slice.cluster,
    },
  }
  const endpoints = slice.endpoints.map(({ ready, ...endpoint }) => ({ ...endpoint, conditions: { ready } }))
  const { family: addressType, ports } = slice
  await cluster.create(slices, objectOf(slices, { metadata, addressType, endpoints, ports }), never)
}

export async function removeService(cluster: ClusterClient, service: Service): Promise<void> {
  const { namespace, name } = service
  await cluster.delete(imports, { namespace, name }, { signal: never })
  for (const at of service.slices.keys())
    await cluster.delete(slices, { namespace, name: sliceName(service, at) }, { signal: never })
}

function sliceName({ name }: Service, at: number): string {
  return `${name}-${at}`
}

function objectOf({ apiVersion, kind }: Resource, fields: object): KubeObject {
  // The API server checks what the fields are.
  return { apiVersion, kind, ...fields } as KubeObject
}
