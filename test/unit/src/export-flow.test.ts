import { afterEach, describe, expect, it } from 'vitest'
import { EventKind } from '../../../src/api/kinds/event.ts'
import { resource } from '../../../src/cluster/cluster.ts'
import { never } from '../../../src/kernel/abort.ts'
import {
  exportedServices,
  type FleetOptions,
  type MemoryFleet,
  memoryFleet,
  serviceExports,
  serviceImports,
  services,
} from '../../support/memory-fleet.ts'
import { exportWeb, service, serviceExport } from '../../support/shop.ts'

let running: MemoryFleet | undefined

async function fleetOf(options: FleetOptions = {}): Promise<MemoryFleet> {
  running = await memoryFleet(options)
  return running
}

afterEach(() => {
  running?.end()
  running = undefined
})

const exported = { Valid: 'True/Valid', Ready: 'True/Exported', Conflict: 'False/NoConflicts' }

describe('one export', () => {
  it('asks for an address that its annotation names later', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const plain = serviceExport()
    const annotations = { 'isthmus.dev/clusterset-ips': '10.7.0.99' }
    await fleet.member('c1').apply(serviceExports, { ...plain, metadata: { ...plain.metadata, annotations } })
    await fleet.settle()
    const held = await fleet.hub.get(exportedServices, { namespace: 'member-c1', name: 'shop.web' }, never)
    expect(held.spec.addresses).toEqual(['10.7.0.99'])
  })

  it('case 1: is imported in every cluster, with one address and slices', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    for (const member of fleet.members) {
      expect(await member.importOf('web')).toMatchObject({
        spec: {
          type: 'ClusterSetIP',
          ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
          ips: [expect.stringMatching(/^10\.7\./)],
          ipFamilies: ['IPv4'],
          sessionAffinity: 'None',
        },
        status: {
          clusters: [{ cluster: 'c1' }],
          endpointSliceObjects: 'Present',
          conditions: [{ type: 'Ready', status: 'True', reason: 'Ready' }],
        },
      })
      expect(await member.slicesOf('web')).toMatchObject([
        {
          metadata: {
            labels: {
              'multicluster.kubernetes.io/service-name': 'web',
              'multicluster.kubernetes.io/source-cluster': 'c1',
              'endpointslice.kubernetes.io/managed-by': 'agent.isthmus.dev',
            },
          },
          addressType: 'IPv4',
          endpoints: [
            {
              addresses: ['10.1.0.1'],
              conditions: { ready: true, serving: true, terminating: false },
              zone: 'a',
            },
          ],
          ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
        },
      ])
    }
    expect(await fleet.member('c1').conditionsOf('web')).toEqual(exported)
  })

  it('has the same address and the same slice name in all clusters', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const imports = await Promise.all(fleet.members.map(member => member.importOf('web')))
    expect(new Set(imports.map(found => found?.spec?.ips?.[0])).size).toBe(1)
    const names = await Promise.all(fleet.members.map(member => member.slicesOf('web')))
    expect(new Set(names.flat().map(found => found.metadata.name)).size).toBe(1)
  })

  it('keeps the node of endpoints in their own cluster, and drops it elsewhere, where it means nothing', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const nodes = fleet.members.map(async member => (await member.slicesOf('web'))[0]?.endpoints[0]?.nodeName)
    expect(await Promise.all(nodes)).toEqual(['node-1', undefined])
  })

  it('writes nothing more once it is settled', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const counts = (): readonly number[] =>
      [fleet.hub, ...fleet.members.map(member => member.local)].map(cluster => cluster.writes.length)
    const before = counts()
    await fleet.clock.advance(120_000)
    await fleet.settle()
    expect(counts()).toEqual(before)
  })

  it('case 13, 14: waits for its Service and keeps its place', async () => {
    const fleet = await fleetOf()
    const { local } = fleet.member('c1')
    await fleet.member('c1').apply(serviceExports, serviceExport())
    await fleet.settle()
    expect(await fleet.member('c1').conditionsOf('web')).toEqual({
      Valid: 'False/NoService',
      Ready: 'False/Pending',
    })
    expect(await fleet.member('c2').importOf('web')).toBeUndefined()
    await local.create(services, service(), never)
    await fleet.settle()
    expect(await fleet.member('c1').conditionsOf('web')).toEqual(exported)
    expect(await fleet.member('c2').importOf('web')).toBeDefined()
  })

  it('case 16: is withdrawn everywhere when its Service goes, and comes back with it', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const before = (await fleet.member('c2').importOf('web'))?.spec?.ips
    await fleet.member('c1').remove(services, { namespace: 'shop', name: 'web' })
    await fleet.settle()
    expect(await fleet.member('c1').conditionsOf('web')).toEqual({
      Valid: 'False/NoService',
      Ready: 'False/Pending',
    })
    for (const member of fleet.members) {
      expect(await member.importOf('web')).toBeUndefined()
      expect(await member.slicesOf('web')).toEqual([])
    }
    await fleet.member('c1').apply(services, service())
    await fleet.settle()
    expect((await fleet.member('c2').importOf('web'))?.spec?.ips).toEqual(before)
    expect(await fleet.member('c2').slicesOf('web')).toHaveLength(1)
  })

  it('case 64: has its conditions written once, and mended when somebody edits them', async () => {
    const fleet = await fleetOf()
    const { local } = fleet.member('c1')
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const there = await local.get(serviceExports, { namespace: 'shop', name: 'web' }, never)
    await local.replace(
      serviceExports,
      { ...there, status: { conditions: [] } },
      { subresource: 'status' },
      never,
    )
    await fleet.settle()
    expect(await fleet.member('c1').conditionsOf('web')).toEqual(exported)
  })

  it('tells of itself in Events that count up instead of piling up', async () => {
    const fleet = await fleetOf()
    const member = fleet.member('c1')
    for (let round = 0; round < 2; round++) {
      await exportWeb(member)
      await fleet.settle()
      await member.remove(services, { namespace: 'shop', name: 'web' })
      await fleet.settle()
    }
    const { items } = await member.local.list(resource(EventKind), { namespace: 'shop' }, never)
    expect(items.map(({ type, reason, count }) => ({ type, reason, count }))).toEqual(
      expect.arrayContaining([
        { type: 'Normal', reason: 'Exported', count: 2 },
        { type: 'Warning', reason: 'NoService', count: 2 },
      ]),
    )
    expect(items[0]).toMatchObject({
      involvedObject: { kind: 'ServiceExport', name: 'web', namespace: 'shop' },
    })
  })
})

describe('exported labels and annotations', () => {
  it('case 34, 35: come and go with the export, and nothing else leaks or is lost', async () => {
    const fleet = await fleetOf()
    const member = fleet.member('c1')
    await exportWeb(member, { exported: { exportedAnnotations: { x: '1' }, exportedLabels: { l: '1' } } })
    const annotated = serviceExport()
    await member.apply(serviceExports, {
      ...annotated,
      metadata: { ...annotated.metadata, annotations: { y: '1' } },
    })
    await fleet.settle()
    const imported = await fleet.member('c2').importOf('web')
    expect(imported?.metadata.labels).toEqual({ l: '1' })
    expect(imported?.metadata.annotations).toEqual({
      x: '1',
      'isthmus.dev/exported-keys': expect.any(String),
      'isthmus.dev/exports': expect.any(String),
    })
    const own = {
      ...imported?.metadata.annotations,
      'multicluster.kubernetes.io/derived-service': 'derived-1',
    }
    await fleet.member('c2').apply(serviceImports, {
      ...serviceExport(),
      kind: 'ServiceImport',
      metadata: { name: 'web', namespace: 'shop', annotations: own },
      spec: imported?.spec ?? { type: 'Headless', ports: [] },
    })
    await member.apply(serviceExports, serviceExport('web', {}))
    await fleet.settle()
    const after = await fleet.member('c2').importOf('web')
    expect(after?.metadata.labels).toBeUndefined()
    expect(after?.metadata.annotations).toEqual({
      'multicluster.kubernetes.io/derived-service': 'derived-1',
      'isthmus.dev/exported-keys': '{}',
      'isthmus.dev/exports': expect.any(String),
    })
  })

  it('that an import cannot carry are left out, and the export says so', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'), {
      exported: {
        exportedLabels: { ok: '1', 'bad key!': '1', long: 'x'.repeat(64) },
        exportedAnnotations: { 'multicluster.kubernetes.io/derived-service': 'mine', fine: 'yes' },
      },
    })
    await fleet.settle()
    const imported = await fleet.member('c2').importOf('web')
    expect(imported?.metadata.labels).toEqual({ ok: '1' })
    expect(Object.keys(imported?.metadata.annotations ?? {})).toEqual([
      'fine',
      'isthmus.dev/exported-keys',
      'isthmus.dev/exports',
    ])
    const found = await fleet
      .member('c1')
      .local.get(serviceExports, { namespace: 'shop', name: 'web' }, never)
    const valid = found.status?.conditions?.find(c => c.type === 'Valid')
    expect(valid?.status).toBe('True')
    expect(valid?.message).toMatch(
      /^not exported: spec\.exportedLabels\[bad key!\]: .*exportedLabels\[long\].*derived-service/,
    )
  })
})
