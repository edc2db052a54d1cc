import { afterEach, describe, expect, it } from 'vitest'
import { never } from '../../../src/kernel/abort.ts'
import { invalid } from '../../../src/kernel/errors.ts'
import {
  exportedServices,
  type FleetOptions,
  type MemoryFleet,
  type MemoryMember,
  memoryFleet,
  serviceExports,
  services,
  slices,
} from '../../support/memory-fleet.ts'
import { exportWeb, headless, service, serviceExport, slice } from '../../support/shop.ts'

let running: MemoryFleet | undefined

async function fleetOf(options: FleetOptions = {}): Promise<MemoryFleet> {
  running = await memoryFleet(options)
  return running
}

afterEach(() => {
  running?.end()
  running = undefined
})

/** One member starts without a hub, and exports. */
async function fleetApart(): Promise<{ readonly fleet: MemoryFleet; readonly c1: MemoryMember }> {
  const fleet = await fleetOf()
  const c1 = fleet.member('c1')
  c1.stop()
  c1.hub.cut()
  c1.start()
  await exportWeb(c1)
  return { fleet, c1 }
}

const exported = { Valid: 'True/Valid', Ready: 'True/Exported', Conflict: 'False/NoConflicts' }

describe('several exports', () => {
  it('11.16: may come from clusters whose ids have two labels', async () => {
    const fleet = await fleetOf({ members: ['east.example', 'west.example'] })
    await exportWeb(fleet.member('east.example'))
    await fleet.settle()
    const importer = fleet.member('west.example')
    expect((await importer.importOf('web'))?.status?.clusters).toEqual([{ cluster: 'east.example' }])
    const [imported] = await importer.slicesOf('web')
    expect(imported?.metadata.labels?.['multicluster.kubernetes.io/source-cluster']).toBe('east.example')
  })

  it('case 5, 7: flip from ClusterSetIP to Headless in place, and back with the old address', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.clock.advance(10_000)
    await exportWeb(fleet.member('c2'), { spec: headless, address: '10.2.0.1' })
    await fleet.settle()
    const before = await fleet.member('c2').importOf('web')
    expect(await fleet.member('c2').conditionsOf('web')).toMatchObject({ Conflict: 'True/TypeConflict' })
    expect(await fleet.member('c1').slicesOf('web')).toHaveLength(2)
    await fleet.member('c1').remove(serviceExports, { namespace: 'shop', name: 'web' })
    await fleet.settle()
    const flipped = await fleet.member('c2').importOf('web')
    expect(flipped?.metadata.uid).toBe(before?.metadata.uid)
    expect(flipped?.spec).toMatchObject({ type: 'Headless', ips: [] })
    await fleet.member('c2').apply(services, service())
    await fleet.settle()
    expect((await fleet.member('c2').importOf('web'))?.spec?.ips).toEqual(before?.spec?.ips)
  })
})

describe('a hub that is away', () => {
  it('takes nothing away, and what happened meanwhile is made up for', async () => {
    const fleet = await fleetOf()
    const c2 = fleet.member('c2')
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    c2.hub.cut()
    await fleet.clock.advance(3_600_000)
    expect(await c2.importOf('web')).toBeDefined()
    expect(await c2.slicesOf('web')).toHaveLength(1)
    await fleet.member('c1').apply(slices, slice('web-abc', ['10.1.0.2']))
    await fleet.settle()
    c2.hub.restore()
    await fleet.clock.advance(60_000)
    await fleet.settle()
    expect(await c2.slicesOf('web')).toMatchObject([{ endpoints: [{ addresses: ['10.1.0.2'] }] }])
  })

  it('does not stop endpoints of the own cluster, not even over a restart', async () => {
    const fleet = await fleetOf()
    const c1 = fleet.member('c1')
    await exportWeb(c1)
    await exportWeb(fleet.member('c2'), { address: '10.2.0.1' })
    await fleet.settle()
    const addresses = async (): Promise<readonly string[]> =>
      (await c1.slicesOf('web')).flatMap(s => s.endpoints.flatMap(e => e.addresses)).sort()
    c1.hub.cut()
    c1.stop()
    c1.start()
    await fleet.settle()
    await c1.apply(slices, slice('web-abc', ['10.1.0.5']))
    await fleet.settle()
    expect(await addresses()).toEqual(['10.1.0.5', '10.2.0.1'])
    await c1.local.deleteCollection(
      slices,
      { namespace: 'shop', labelSelector: 'multicluster.kubernetes.io/source-cluster=c1' },
      never,
    )
    await fleet.settle()
    expect(await addresses()).toEqual(['10.1.0.5', '10.2.0.1'])
    await c1.remove(serviceExports, { namespace: 'shop', name: 'web' })
    await fleet.settle()
    expect(await addresses()).toEqual(['10.2.0.1'])
    expect(await c1.importOf('web')).toBeDefined()
  })

  it('is told on the export: what is known here at once, the rest when it is clear that nobody answers', async () => {
    const { c1, fleet } = await fleetApart()
    await fleet.settle()
    expect(await c1.conditionsOf('web')).toEqual({ Valid: 'True/Valid', Ready: 'False/Pending' })
    await fleet.clock.advance(3_000)
    await fleet.settle()
    expect(await c1.conditionsOf('web')).toEqual({ Valid: 'True/Valid', Ready: 'False/Failed' })
    c1.hub.restore()
    await fleet.clock.advance(60_000)
    await fleet.settle()
    expect(await c1.conditionsOf('web')).toEqual(exported)
  })

  it('has nothing left of an import that it refuses when it is back', async () => {
    const { c1, fleet } = await fleetApart()
    await fleet.clock.advance(3_000)
    await fleet.settle()
    expect(await c1.importOf('web')).toBeDefined()
    expect(await c1.slicesOf('web')).toHaveLength(1)
    fleet.hub.admit = ({ verb, resource: { plural } }) => {
      if (verb === 'create' && plural === 'exportedservices')
        throw invalid({ group: 'hub.isthmus.dev', kind: 'ExportedService' }, 'shop.web', [])
    }
    c1.hub.restore()
    await fleet.clock.advance(60_000)
    await fleet.settle()
    expect(await c1.conditionsOf('web')).toMatchObject({ Ready: 'False/Failed' })
    expect(await c1.importOf('web')).toBeUndefined()
    expect(await c1.slicesOf('web')).toEqual([])
  })

  it('leaves an export that was distributed as ready as it was', async () => {
    const fleet = await fleetOf()
    const c1 = fleet.member('c1')
    await exportWeb(c1)
    await fleet.settle()
    c1.hub.cut()
    await c1.apply(services, service('web', { ports: [{ name: 'http', protocol: 'TCP', port: 81 }] }))
    await fleet.clock.advance(10_000)
    await fleet.settle()
    expect(await c1.conditionsOf('web')).toEqual(exported)
    c1.hub.restore()
    await fleet.clock.advance(60_000)
    await fleet.settle()
    expect((await fleet.member('c2').importOf('web'))?.spec?.ports[0]?.port).toBe(81)
  })
})

describe('a hub that comes back', () => {
  it('is sent everything that waited as soon as one thing has reached it', async () => {
    const fleet = await fleetOf()
    const c1 = fleet.member('c1')
    c1.hub.cut()
    for (const name of ['a', 'b', 'c']) {
      await c1.apply(services, service(name))
      await c1.apply(serviceExports, serviceExport(name))
    }
    await fleet.clock.advance(120_000)
    c1.hub.restore()
    await exportWeb(c1)
    await fleet.settle()
    const { items } = await fleet.hub.list(exportedServices, {}, never)
    expect(items.map(item => item.spec.service).sort()).toEqual(['a', 'b', 'c', 'web'])
    // The watch of the agent comes back with its own delay.
    await fleet.clock.advance(15_000)
    await fleet.settle()
    for (const name of ['a', 'b', 'c', 'web']) expect(await c1.conditionsOf(name)).toEqual(exported)
  })
})

describe('a restart', () => {
  it('writes nothing when nothing happened meanwhile', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const clusters = [fleet.hub, ...fleet.members.map(member => member.local)]
    for (const cluster of clusters) cluster.writes.length = 0
    for (const member of fleet.members) {
      member.stop()
      member.start()
    }
    await fleet.settle()
    expect(clusters.flatMap(cluster => cluster.writes)).toEqual([])
  })

  it('B19: finds what went while the agent was away, here and on the hub', async () => {
    const fleet = await fleetOf()
    const [c1, c2] = [fleet.member('c1'), fleet.member('c2')]
    await exportWeb(c1)
    await exportWeb(c2, { address: '10.2.0.1' })
    await c1.apply(slices, slice('web-def', ['10.1.0.9']))
    await fleet.settle()
    c1.stop()
    await c1.remove(slices, { namespace: 'shop', name: 'web-def' })
    await c2.remove(serviceExports, { namespace: 'shop', name: 'web' })
    await fleet.settle()
    c1.start()
    await fleet.settle()
    for (const member of fleet.members) {
      expect((await member.slicesOf('web')).flatMap(s => s.endpoints.flatMap(e => e.addresses))).toEqual([
        '10.1.0.1',
      ])
    }
    c1.stop()
    await c1.remove(serviceExports, { namespace: 'shop', name: 'web' })
    c1.start()
    await fleet.settle()
    for (const member of fleet.members) {
      expect(await member.importOf('web')).toBeUndefined()
      expect(await member.slicesOf('web')).toEqual([])
    }
  })

  it('B14, B25: of a watch changes nothing that has not changed', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const clusters = [fleet.hub, ...fleet.members.map(member => member.local)]
    for (const cluster of clusters) cluster.writes.length = 0
    for (let round = 0; round < 10; round++) {
      for (const cluster of clusters) {
        cluster.compact()
        cluster.endWatches()
      }
      await fleet.clock.advance(30_000)
      await fleet.settle()
    }
    expect(clusters.flatMap(cluster => cluster.writes)).toEqual([])
  })
})
