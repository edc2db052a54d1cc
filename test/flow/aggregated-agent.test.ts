// The agent of a member behind a kube-apiserver: our kinds at its own server, everything else in the cluster.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { derivedServiceName } from '../../src/api/derived-service.ts'
import { EndpointSliceKind } from '../../src/api/kinds/endpoint-slice.ts'
import { EventKind } from '../../src/api/kinds/event.ts'
import { ServiceKind } from '../../src/api/kinds/service.ts'
import { ServiceExportKind } from '../../src/api/kinds/service-export.ts'
import { ServiceImportKind } from '../../src/api/kinds/service-import.ts'
import { type Cluster, resource } from '../../src/cluster/cluster.ts'
import { never } from '../../src/kernel/abort.ts'
import type { RunningHub } from '../../src/roles/hub.ts'
import { type Aggregation, namespaces, startAggregation, startJoinableHub } from '../support/aggregation.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { serviceExport, slice } from '../support/shop.ts'

const services = resource(ServiceKind)
const slices = resource(EndpointSliceKind)
const serviceImports = resource(ServiceImportKind)
const web = { namespace: 'shop', name: 'web' }
const derived = { namespace: 'shop', name: derivedServiceName(web) }

const folder = temporaryFolder()
let hub: RunningHub
let under: Aggregation
/** The member's own server. */
let own: Cluster

beforeAll(async () => {
  const joinable = await startJoinableHub(join(folder.path, 'hub'))
  hub = joinable
  under = await startAggregation({ controllers: true, join: await joinable.token() })
  own = under.server.running.operator
  const { cluster } = under
  await cluster.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }, never)
  const spec = { selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] }
  await cluster.create(services, { apiVersion: 'v1', kind: 'Service', metadata: web, spec }, never)
  await cluster.create(slices, slice('web-abc', ['10.244.1.5']), never)
  await own.create(resource(ServiceExportKind), serviceExport(), never)
}, 60_000)
afterAll(async () => {
  await under.close()
  await hub.close()
  folder.dispose()
})

it('what the cluster exports is imported, and routed in it', async () => {
  const imported = await eventually(async () => {
    const found = await own.get(serviceImports, web, never)
    expect(found.status?.conditions).toMatchObject([{ type: 'Ready', status: 'True' }])
    return found
  })
  const owner = { kind: 'ServiceImport', name: 'web', uid: imported.metadata.uid }
  await eventually(async () =>
    expect(await under.cluster.get(services, derived, never)).toMatchObject({
      metadata: { ownerReferences: [owner] },
      spec: { type: 'LoadBalancer', loadBalancerClass: 'isthmus.dev/clusterset' },
      status: { loadBalancer: { ingress: [{ ip: imported.spec?.ips?.[0] }] } },
    }),
  )
  await eventually(async () => {
    const labelSelector = `kubernetes.io/service-name=${derived.name}`
    const { items } = await under.cluster.list(slices, { namespace: 'shop', labelSelector }, never)
    expect(items).toMatchObject([
      { metadata: { ownerReferences: [owner] }, endpoints: [{ addresses: ['10.244.1.5'] }] },
    ])
  })
})

it('events of exports are told in the cluster', async () => {
  await eventually(async () => {
    const { items } = await under.cluster.list(resource(EventKind), { namespace: 'shop' }, never)
    expect(items.map(event => event.involvedObject)).toContainEqual(
      expect.objectContaining({ kind: 'ServiceExport', name: 'web' }),
    )
  })
})

it('nothing of it is written where users would not look', async () => {
  expect((await own.discover(never)).map(({ plural }) => plural)).toEqual([
    'serviceexports',
    'serviceimports',
  ])
  expect((await under.cluster.discover(never)).map(({ plural }) => plural)).not.toContain('serviceimports')
})

it('what others delete comes back', async () => {
  const before = await under.cluster.get(services, derived, never)
  await under.cluster.delete(services, derived, { signal: never })
  await eventually(async () => {
    const after = await under.cluster.get(services, derived, never)
    expect(after.metadata.uid).not.toBe(before.metadata.uid)
    expect(after.status).toEqual(before.status)
  })
})

it('nothing is left of an export that is gone', async () => {
  await own.delete(resource(ServiceExportKind), web, { signal: never })
  await eventually(async () => {
    await expect(own.get(serviceImports, web, never)).rejects.toMatchObject({ code: 404 })
    await expect(under.cluster.get(services, derived, never)).rejects.toMatchObject({ code: 404 })
    const { items } = await under.cluster.list(slices, { namespace: 'shop' }, never)
    expect(items.map(({ metadata }) => metadata.name)).toEqual(['web-abc'])
  })
})
