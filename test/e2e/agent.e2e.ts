// The agent of a member behind a stock kube-apiserver: what it derives there, and who takes it away.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { derivedServiceName } from '../../src/api/derived-service.ts'
import { ConfigMapKind } from '../../src/api/kinds/config-map.ts'
import { EndpointSliceKind } from '../../src/api/kinds/endpoint-slice.ts'
import { ServiceKind } from '../../src/api/kinds/service.ts'
import { ServiceImportKind } from '../../src/api/kinds/service-import.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'
import { eventually } from '../support/eventually.ts'
import { contextClient } from '../support/fleet-client.ts'
import { type RoleProcess, runRole, startRole } from '../support/role-process.ts'
import { serviceExport, slice } from '../support/shop.ts'
import { type AggregatedMember, startAggregatedMember } from './aggregated-member.ts'
import { freePort } from './lab/ready.ts'
import { useLab } from './lab/use-lab.ts'

const services = resource(ServiceKind)
const serviceImports = resource(ServiceImportKind)
const configMaps = resource(ConfigMapKind)
const web = { namespace: 'shop', name: 'web' }
const derived = { namespace: 'shop', name: derivedServiceName(web) }
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: web,
  spec: { ports: [{ name: 'http', port: 80 }], ipFamilyPolicy: 'PreferDualStack' },
}

describe.each(['shared', 'local'])('an agent with --clustersetip %s', routing => {
  const lab = useLab({ name: `agent-${routing}`, count: 1, nodes: false })
  let hub: RoleProcess
  let member: AggregatedMember
  /** Through kube-apiserver, ServiceImports too. */
  let cluster: ClusterClient
  const kubectl = (...args: readonly string[]): Promise<string> =>
    lab.cluster(0).kubectl.run(['-n', 'shop', ...args])
  const apply = (object: object): Promise<string> =>
    lab.cluster(0).kubectl.run(['apply', '-f', '-'], JSON.stringify(object))
  const importedSlices = async () => {
    const labelSelector = 'multicluster.kubernetes.io/service-name=web'
    const selection = { namespace: 'shop', labelSelector }
    return (await cluster.list(resource(EndpointSliceKind), selection, never)).items
  }

  beforeAll(async () => {
    const { folder, kubeconfig, name } = lab.cluster(0)
    cluster = await contextClient(kubeconfig, name)
    const home = join(folder, 'hub')
    mkdirSync(home, { recursive: true })
    const port = String(await freePort())
    hub = await startRole(['hub', '--home', home, '--host', '127.0.0.1', '--port', port])
    const token = await runRole(['token', 'create', '--home', home])
    const flags = ['--cluster-id', 'east', '--join', token, '--clustersetip', routing]
    member = await startAggregatedMember(lab.cluster(0), flags)
    await kubectl('create', 'namespace', 'shop')
    await apply(service)
    await apply(slice('web-abc', ['10.244.1.5']))
    await apply(serviceExport())
  }, 300_000)
  afterAll(async () => {
    cluster.close()
    await member.stop()
    await hub.stop()
  })

  it('routes an import by a Service that kube-proxy knows', async () => {
    await kubectl('wait', '--for=create', 'serviceimport/web', '--timeout=30s')
    await kubectl('wait', '--for=condition=Ready', 'serviceimport/web', '--timeout=30s')
    const imported = await cluster.get(serviceImports, web, never)
    expect(imported.spec?.ips).toHaveLength(2)
    const owner = { kind: 'ServiceImport', name: 'web', uid: imported.metadata.uid }
    await eventually(async () => {
      const { metadata, spec, status } = await cluster.get(services, derived, never)
      const ingress = status?.loadBalancer?.ingress?.map(({ ip }) => ip)
      expect(routing === 'shared' ? ingress : spec?.clusterIPs).toEqual(imported.spec?.ips)
      expect(metadata.ownerReferences).toMatchObject([owner])
      expect(spec?.ports).toEqual([{ name: 'http', port: 80, protocol: 'TCP', targetPort: 80 }])
    })
    await eventually(async () =>
      expect(await importedSlices()).toMatchObject([
        {
          metadata: { labels: { 'kubernetes.io/service-name': derived.name }, ownerReferences: [owner] },
          endpoints: [{ addresses: ['10.244.1.5'] }],
        },
      ]),
    )
  })

  it('writes nothing more when nothing changes', async () => {
    const versions = async (): Promise<unknown> => [
      (await cluster.get(services, derived, never)).metadata.resourceVersion,
      (await importedSlices()).map(({ metadata }) => metadata.resourceVersion),
      (await cluster.get(serviceImports, web, never)).metadata.resourceVersion,
    ]
    const before = await versions()
    await kubectl('annotate', 'namespace', 'shop', 'seen=yes')
    await kubectl('annotate', 'service', 'web', 'seen=yes')
    // What is exported afterwards comes after what these changes could have brought about.
    await apply({ ...service, metadata: { ...web, name: 'last' } })
    await apply(serviceExport('last'))
    await kubectl('wait', '--for=create', 'serviceimport/last', '--timeout=30s')
    expect(await versions()).toEqual(before)
  })

  it('mends what others edit, and makes again what they delete', async () => {
    const before = await cluster.get(services, derived, never)
    await kubectl('patch', 'service', derived.name, '--type=merge', '-p', '{"spec":{"selector":{"app":"x"}}}')
    await eventually(async () =>
      expect((await cluster.get(services, derived, never)).spec).toEqual(before.spec),
    )
    await kubectl('delete', 'service', derived.name)
    await eventually(async () => {
      const after = await cluster.get(services, derived, never)
      expect(after.metadata.uid).not.toBe(before.metadata.uid)
      expect(after.spec?.type).toBe(before.spec?.type)
    })
    const [imported] = await importedSlices()
    await kubectl('delete', 'endpointslice', imported?.metadata.name ?? '')
    await eventually(async () => expect(await importedSlices()).toHaveLength(1))
  })

  it('has what an import owns collected, and makes its own part again', async () => {
    const { apiVersion, kind, metadata } = await cluster.get(serviceImports, web, never)
    const ownerReferences = [{ apiVersion, kind, name: 'web', uid: metadata.uid ?? '' }]
    const owned = { namespace: 'shop', name: 'owned' }
    await cluster.create(
      configMaps,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...owned, ownerReferences } },
      never,
    )
    await kubectl('delete', 'serviceimport', 'web')
    await kubectl('wait', '--for=delete', 'configmap/owned', '--timeout=60s')
    await eventually(async () => {
      const { uid } = (await cluster.get(serviceImports, web, never)).metadata
      expect(uid).not.toBe(metadata.uid)
      const service = await cluster.get(services, derived, never)
      const [imported] = await importedSlices()
      for (const each of [service, imported]) expect(each?.metadata.ownerReferences).toMatchObject([{ uid }])
    }, 60_000)
  })

  it('leaves nothing of an export that is gone', async () => {
    await kubectl('delete', 'serviceexports', '--all')
    await eventually(async () => {
      expect(await kubectl('get', 'serviceimports', '-o', 'name')).toBe('')
      expect(await importedSlices()).toEqual([])
      expect(await kubectl('get', 'services', '-o', 'name')).toBe('service/last\nservice/web\n')
    }, 30_000)
  })
})
