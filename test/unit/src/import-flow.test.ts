import { afterEach, describe, expect, it } from 'vitest'
import type { ServiceImport } from '../../../src/api/kinds/service-import.ts'
import { never } from '../../../src/kernel/abort.ts'
import {
  type FleetOptions,
  type MemoryFleet,
  memoryFleet,
  namespaces,
  serviceExports,
  serviceImports,
  services,
  slices,
  textOf,
} from '../../support/memory-fleet.ts'
import { exportWeb, service, serviceExport, slice } from '../../support/shop.ts'

let running: MemoryFleet | undefined

async function fleetOf(options: FleetOptions = {}): Promise<MemoryFleet> {
  running = await memoryFleet(options)
  return running
}

afterEach(() => {
  running?.end()
  running = undefined
})

const foreignImport: ServiceImport = {
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceImport',
  metadata: { name: 'mine', namespace: 'shop' },
  spec: { type: 'Headless', ports: [] },
}
const readyByOthers = {
  type: 'Ready',
  status: 'True' as const,
  reason: 'Ready',
  message: '',
  lastTransitionTime: '2026-01-02T03:04:05Z',
}

async function exportNamedMine(fleet: MemoryFleet): Promise<void> {
  await fleet.member('c1').apply(services, service('mine'))
  await fleet.member('c1').apply(serviceExports, serviceExport('mine'))
  await fleet.settle()
}

describe('an importing cluster', () => {
  it('case 47, B10: makes nothing in a namespace that is going, and everything when it is there again', async () => {
    const fleet = await fleetOf()
    const c2 = fleet.member('c2')
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const there = await c2.local.get(namespaces, { name: 'shop' }, never)
    await c2.local.replace(
      namespaces,
      { ...there, status: { phase: 'Terminating' } },
      { subresource: 'status' },
      never,
    )
    await fleet.settle()
    c2.local.writes.length = 0
    await c2.local.deleteCollection(serviceImports, { namespace: 'shop' }, never)
    await c2.local.deleteCollection(slices, { namespace: 'shop' }, never)
    await fleet.settle()
    expect(c2.local.writes.filter(write => write.verb === 'create')).toEqual([])
    await c2.remove(namespaces, { name: 'shop' })
    await c2.namespace('shop')
    await fleet.settle()
    expect(await c2.importOf('web')).toBeDefined()
    expect(await c2.slicesOf('web')).toHaveLength(1)
    expect(await fleet.member('c1').importOf('web')).toBeDefined()
  })

  it('case 50: restores an import and slices that somebody deletes or edits', async () => {
    const fleet = await fleetOf()
    const c2 = fleet.member('c2')
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const before = await c2.importOf('web')
    const [slicesBefore] = await c2.slicesOf('web')
    await c2.local.deleteCollection(serviceImports, { namespace: 'shop' }, never)
    await c2.local.deleteCollection(slices, { namespace: 'shop' }, never)
    await fleet.settle()
    expect((await c2.importOf('web'))?.spec).toEqual(before?.spec)
    expect((await c2.importOf('web'))?.metadata.uid).not.toBe(before?.metadata.uid)
    const [mended] = await c2.slicesOf('web')
    expect(mended?.endpoints).toEqual(slicesBefore?.endpoints)
    const edited = await c2.importOf('web')
    if (edited === undefined || mended === undefined) throw new Error('nothing was restored')
    await c2.local.replace(serviceImports, { ...edited, spec: { type: 'Headless', ports: [] } }, {}, never)
    const { labels: _labels, ...unlabelled } = mended.metadata
    await c2.local.replace(slices, { ...mended, metadata: unlabelled, endpoints: [] }, {}, never)
    await fleet.settle()
    expect((await c2.importOf('web'))?.spec).toEqual(before?.spec)
    expect(await c2.slicesOf('web')).toMatchObject([{ endpoints: slicesBefore?.endpoints }])
  })

  it('leaves alone what somebody else made and nobody exports', async () => {
    const fleet = await fleetOf()
    const c2 = fleet.member('c2')
    await c2.local.create(serviceImports, foreignImport, never)
    await fleet.settle()
    c2.stop()
    c2.start()
    await fleet.settle()
    const mine = await c2.importOf('mine')
    expect(mine?.spec).toEqual({ type: 'Headless', ports: [] })
    expect(mine?.status?.conditions).toMatchObject([
      {
        type: 'Ready',
        status: 'Unknown',
        reason: 'Pending',
        message: expect.stringMatching(/^no cluster exports this service/),
      },
    ])
    c2.local.writes.length = 0
    await fleet.clock.advance(60_000)
    expect(c2.local.writes).toEqual([])
    await exportNamedMine(fleet)
    expect(textOf((await c2.importOf('mine'))?.status?.conditions)).toEqual({ Ready: 'True/Ready' })
  })

  it('leaves the status to whoever made an import and says how it is doing', async () => {
    const fleet = await fleetOf()
    const c2 = fleet.member('c2')
    await c2.local.create(serviceImports, foreignImport, never)
    await fleet.settle()
    const there = await c2.local.get(serviceImports, { namespace: 'shop', name: 'mine' }, never)
    const conditions = [readyByOthers]
    await c2.local.replace(
      serviceImports,
      { ...there, status: { conditions } },
      { subresource: 'status' },
      never,
    )
    await fleet.settle()
    expect((await c2.importOf('mine'))?.status?.conditions).toEqual(conditions)
  })

  it('case 40, 41: uses only the families that it supports', async () => {
    const fleet = await fleetOf({ families: { c2: ['IPv4'] } })
    await exportWeb(fleet.member('c1'), { spec: { ipFamilies: ['IPv6', 'IPv4'] } })
    await fleet.settle()
    expect((await fleet.member('c1').importOf('web'))?.spec).toMatchObject({
      ipFamilies: ['IPv6', 'IPv4'],
      ips: [expect.stringMatching(/^fd07:/), expect.stringMatching(/^10\.7\./)],
    })
    expect((await fleet.member('c2').importOf('web'))?.spec).toMatchObject({
      ipFamilies: ['IPv4'],
      ips: [expect.stringMatching(/^10\.7\./)],
    })
    await fleet.member('c1').apply(services, service('web', { ipFamilies: ['IPv6'] }))
    await fleet.settle()
    const narrowed = await fleet.member('c2').importOf('web')
    expect(narrowed?.spec?.ips).toEqual([])
    expect(narrowed?.status?.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason: 'IPFamilyNotSupported' },
    ])
    expect((await fleet.member('c1').importOf('web'))?.status?.conditions).toMatchObject([{ status: 'True' }])
  })
})

describe('slices', () => {
  it('follow a change with one write in each importing cluster', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.member('c1').apply(slices, slice('web-def', ['10.1.0.9']))
    await fleet.settle()
    fleet.hub.writes.length = 0
    fleet.member('c2').local.writes.length = 0
    await fleet.member('c1').apply(slices, slice('web-abc', ['10.1.0.1', '10.1.0.2']))
    await fleet.settle()
    expect(fleet.hub.writes.map(w => `${w.verb} ${w.resource.plural}`)).toEqual([
      'replace exportedendpointslices',
      'replace importables',
    ])
    expect(fleet.member('c2').local.writes.map(w => `${w.verb} ${w.resource.plural}`)).toEqual([
      'replace endpointslices',
    ])
  })

  it('are not exported when they are imported ones, or of a Service that is not', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.member('c1').apply(services, service('other'))
    await fleet.member('c1').apply(slices, slice('other-abc', ['10.1.0.7']))
    await fleet.settle()
    expect(await fleet.member('c2').slicesOf('other')).toEqual([])
    expect(await fleet.member('c2').slicesOf('web')).toHaveLength(1)
  })

  it('B20, B28: that go, or come and go at once, go everywhere', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.member('c1').apply(slices, slice('web-def', ['10.1.0.9']))
    await fleet.settle()
    await fleet.member('c1').remove(slices, { namespace: 'shop', name: 'web-def' })
    await fleet.member('c1').apply(slices, slice('web-brief', ['10.1.0.8']))
    await fleet.member('c1').remove(slices, { namespace: 'shop', name: 'web-brief' })
    await fleet.settle()
    for (const member of fleet.members) {
      expect((await member.slicesOf('web')).flatMap(s => s.endpoints.flatMap(e => e.addresses))).toEqual([
        '10.1.0.1',
      ])
    }
  })

  it('of a family that the service lost go, and of both families stay apart', async () => {
    const fleet = await fleetOf()
    const dual = { ipFamilies: ['IPv4', 'IPv6'] as const }
    await exportWeb(fleet.member('c1'), { spec: { ipFamilies: [...dual.ipFamilies] } })
    await fleet.member('c1').apply(slices, slice('web-six', ['fd00::1'], { addressType: 'IPv6' }))
    await fleet.settle()
    expect(await fleet.member('c2').slicesOf('web')).toHaveLength(2)
    await fleet.member('c1').apply(services, service('web', { ipFamilies: ['IPv6'] }))
    await fleet.settle()
    for (const member of fleet.members) {
      expect((await member.slicesOf('web')).map(s => s.addressType)).toEqual(['IPv6'])
    }
  })

  it('keep traffic in the zone when the service says so', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'), { spec: { trafficDistribution: 'PreferClose' } })
    await fleet.settle()
    expect(await fleet.member('c2').slicesOf('web')).toMatchObject([
      { endpoints: [{ zone: 'a', hints: { forZones: [{ name: 'a' }] } }] },
    ])
  })
})
