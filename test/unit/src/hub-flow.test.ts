import { afterEach, describe, expect, it } from 'vitest'
import type { MemberCluster } from '../../../src/api/kinds/member-cluster.ts'
import { never } from '../../../src/kernel/abort.ts'
import { prometheus } from '../../../src/telemetry/prometheus.ts'
import {
  clusterSetServices,
  type FleetOptions,
  type MemoryFleet,
  memberClusters,
  memoryFleet,
  serviceExports,
  services,
} from '../../support/memory-fleet.ts'
import { exportWeb, headless, service, serviceExport } from '../../support/shop.ts'

let running: MemoryFleet | undefined

async function fleetOf(options: FleetOptions = {}): Promise<MemoryFleet> {
  running = await memoryFleet(options)
  return running
}

afterEach(() => {
  running?.end()
  running = undefined
})

const web = { namespace: 'shop', name: 'web' }

async function addressesOf(fleet: MemoryFleet, name = 'web'): Promise<readonly string[] | undefined> {
  return (await fleet.member('c2').importOf(name))?.spec?.ips
}

async function exportNamed(fleet: MemoryFleet, name: string): Promise<void> {
  await fleet.member('c1').apply(services, service(name))
  await fleet.member('c1').apply(serviceExports, serviceExport(name))
}

async function edit(fleet: MemoryFleet, id: string, spec: Partial<MemberCluster['spec']>): Promise<void> {
  const there = await fleet.hub.get(memberClusters, { name: id }, never)
  await fleet.hub.replace(memberClusters, { ...there, spec: { ...there.spec, ...spec } }, {}, never)
}

async function swap(fleet: MemoryFleet, from: string, to: string, withdrawFirst: boolean): Promise<void> {
  const withdraw = () => fleet.member(from).remove(serviceExports, web)
  if (withdrawFirst) await withdraw()
  await exportWeb(fleet.member(to))
  if (!withdrawFirst) await withdraw()
  await fleet.settle()
}

describe('ClusterSetIPs', () => {
  it('stay through every change of the export, and a restart of the hub', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const before = await addressesOf(fleet)
    await fleet
      .member('c1')
      .apply(services, service('web', { ports: [{ name: 'x', protocol: 'TCP', port: 1 }] }))
    fleet.stop()
    fleet.start()
    await exportNamed(fleet, 'other')
    await fleet.settle()
    expect(await addressesOf(fleet)).toEqual(before)
    expect(await addressesOf(fleet, 'other')).not.toEqual(before)
  })

  it('come out of more blocks as soon as these are set, also of another family, without a restart', async () => {
    const fleet = await fleetOf({ cidrs: ['10.7.0.0/30'] })
    const spec = { ipFamilies: ['IPv4', 'IPv6'] }
    for (const name of ['a', 'b', 'c']) {
      await fleet.member('c1').apply(services, service(name, spec))
      await fleet.member('c1').apply(serviceExports, serviceExport(name))
    }
    await fleet.settle()
    const before = await Promise.all(['a', 'b', 'c'].map(name => addressesOf(fleet, name)))
    expect(before.filter(ips => ips?.length === 0)).toHaveLength(1)
    expect(() => fleet.flow?.setPools(['10.7.0.0/30', '10.7.0.0/24'])).toThrow('overlaps')
    fleet.flow?.setPools(['10.7.0.0/30', '10.8.0.0/24', 'FD08::/112'])
    await fleet.settle()
    const after = await Promise.all(['a', 'b', 'c'].map(name => addressesOf(fleet, name)))
    expect(after.map(ips => ips?.length)).toEqual([2, 2, 2])
    for (const [at, ips = []] of before.entries()) expect(after[at]).toEqual(expect.arrayContaining([...ips]))
  })

  it('stay when their block is taken out, which is told once, and nothing more comes out of it', async () => {
    const fleet = await fleetOf({ cidrs: ['10.7.0.0/24'], quarantineMs: 0 })
    await exportNamed(fleet, 'web')
    await fleet.settle()
    const before = await addressesOf(fleet)
    fleet.flow?.setPools(['10.8.0.0/24'])
    fleet.flow?.setPools(['10.8.0.0/24'])
    await exportNamed(fleet, 'other')
    await fleet.settle()
    expect(await addressesOf(fleet)).toEqual(before)
    expect(await addressesOf(fleet, 'other')).toEqual([expect.stringMatching(/^10\.8\./)])
    const told = fleet.log.lines.filter(({ message }) => message.includes('a block that was taken out'))
    expect(told).toMatchObject([{ level: 'warn', fields: { services: 1, first: 'shop.web' } }])
    await fleet.member('c1').remove(serviceExports, web)
    await fleet.settle()
    await exportNamed(fleet, 'web')
    await fleet.settle()
    expect(await addressesOf(fleet)).toEqual([expect.stringMatching(/^10\.8\./)])
  })

  it('are kept for a service that comes back within the quarantine, also over a restart of the hub', async () => {
    const fleet = await fleetOf({ quarantineMs: 60_000 })
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const before = await addressesOf(fleet)
    await fleet.member('c1').remove(serviceExports, web)
    await fleet.settle()
    expect(await fleet.member('c2').importOf('web')).toBeUndefined()
    const released = await fleet.hub.get(clusterSetServices, { name: 'shop.web' }, never)
    expect(released.status).toMatchObject({
      clusters: [],
      addresses: before,
      releasedAt: '2026-01-02T03:04:05Z',
    })
    fleet.stop()
    fleet.start()
    await fleet.clock.advance(30_000)
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    expect(await addressesOf(fleet)).toEqual(before)
    await fleet.clock.advance(120_000)
    await fleet.settle()
    expect(await addressesOf(fleet)).toEqual(before)
  })

  it('go back to the pool after the quarantine, also when the hub was restarted in it', async () => {
    const fleet = await fleetOf({ quarantineMs: 60_000, cidrs: ['10.7.0.4/31'] })
    await exportNamed(fleet, 'a')
    await exportNamed(fleet, 'b')
    await fleet.settle()
    const [a] = (await addressesOf(fleet, 'a')) ?? []
    await fleet.member('c1').remove(serviceExports, { namespace: 'shop', name: 'a' })
    await exportNamed(fleet, 'c')
    await fleet.settle()
    expect(await addressesOf(fleet, 'c')).toEqual([])
    await fleet.clock.advance(50_000)
    fleet.stop()
    fleet.start()
    await fleet.settle()
    expect(await addressesOf(fleet, 'c')).toEqual([])
    await fleet.clock.advance(10_000)
    await fleet.settle()
    expect(await addressesOf(fleet, 'c')).toEqual([a])
    expect(await fleet.hub.find(clusterSetServices, 'shop.a')).toBeUndefined()
  })

  it('stay with a service that becomes headless, until nobody exports it', async () => {
    const fleet = await fleetOf({ quarantineMs: 60_000, cidrs: ['10.7.0.4/31'] })
    await exportNamed(fleet, 'a')
    await exportNamed(fleet, 'b')
    await fleet.settle()
    const [a] = (await addressesOf(fleet, 'a')) ?? []
    await fleet.member('c1').apply(services, service('a', headless))
    await exportNamed(fleet, 'c')
    await fleet.settle()
    expect((await fleet.member('c2').importOf('a'))?.spec).toMatchObject({ type: 'Headless', ips: [] })
    const { status } = await fleet.hub.get(clusterSetServices, { name: 'shop.a' }, never)
    expect(status.addresses).toEqual([a])
    fleet.stop()
    fleet.start()
    await fleet.clock.advance(120_000)
    await fleet.settle()
    expect(await addressesOf(fleet, 'c')).toEqual([])
    await fleet.member('c1').apply(services, service('a'))
    await fleet.settle()
    expect(await addressesOf(fleet, 'a')).toEqual([a])
    await fleet.member('c1').apply(services, service('a', headless))
    await fleet.member('c1').remove(serviceExports, { namespace: 'shop', name: 'a' })
    await fleet.settle()
    expect(await addressesOf(fleet, 'c')).toEqual([])
    await fleet.clock.advance(60_000)
    await fleet.settle()
    expect(await addressesOf(fleet, 'c')).toEqual([a])
  })

  it('that have run out are told on export and import, and given when there is one again', async () => {
    const fleet = await fleetOf({ quarantineMs: 0, cidrs: ['10.7.0.4/32'] })
    await exportNamed(fleet, 'a')
    await fleet.settle()
    await exportNamed(fleet, 'b')
    await fleet.settle()
    expect(await fleet.member('c1').conditionsOf('b')).toEqual({
      Valid: 'True/Valid',
      Ready: 'False/Failed',
      Conflict: 'False/NoConflicts',
    })
    expect((await fleet.member('c2').importOf('b'))?.status?.conditions).toMatchObject([
      {
        type: 'Ready',
        status: 'False',
        reason: 'Pending',
        message: "no free IPv4 address in the ClusterSet's pool (10.7.0.4/32)",
      },
    ])
    await fleet.member('c1').remove(serviceExports, { namespace: 'shop', name: 'a' })
    await fleet.settle()
    await fleet.clock.advance(1)
    await fleet.settle()
    expect(await addressesOf(fleet, 'b')).toEqual(['10.7.0.4'])
    expect(await fleet.member('c1').conditionsOf('b')).toMatchObject({ Ready: 'True/Exported' })
  })

  it('are those that the export asks for, and waited for when another service has them', async () => {
    const fleet = await fleetOf({ quarantineMs: 0 })
    const asking = async (id: string, name: string, ips: string): Promise<void> => {
      await fleet.member(id).apply(services, service(name))
      const plain = serviceExport(name)
      const metadata = { ...plain.metadata, annotations: { 'isthmus.dev/clusterset-ips': ips } }
      await fleet.member(id).apply(serviceExports, { ...plain, metadata })
      await fleet.settle()
    }
    await asking('c1', 'a', '10.7.0.9')
    await asking('c1', 'b', '10.7.0.9')
    expect(await addressesOf(fleet, 'a')).toEqual(['10.7.0.9'])
    expect(await addressesOf(fleet, 'b')).toEqual([])
    const ready = (await fleet.member('c2').importOf('b'))?.status?.conditions
    const message = '10.7.0.9 was asked for, and another service has it'
    expect(ready).toMatchObject([{ status: 'False', reason: 'Pending', message }])
    expect(await fleet.member('c1').conditionsOf('b')).toMatchObject({ Ready: 'False/Failed' })
    await fleet.member('c1').remove(serviceExports, { namespace: 'shop', name: 'a' })
    await fleet.settle()
    await fleet.clock.advance(1)
    await fleet.settle()
    expect(await addressesOf(fleet, 'b')).toEqual(['10.7.0.9'])
    expect(await fleet.member('c1').conditionsOf('b')).toMatchObject({ Ready: 'True/Exported' })
    await asking('c1', 'c', 'rubbish')
    expect(await addressesOf(fleet, 'c')).toHaveLength(1)
    const found = await fleet.member('c1').local.find(serviceExports, 'c', 'shop')
    expect(found?.status?.conditions?.find(({ type }) => type === 'Valid')?.message).toMatch(
      /clusterset-ips\]: must be one address of each family/,
    )
  })

  it('come back with a ClusterSetService that somebody deletes', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const before = await addressesOf(fleet)
    await fleet.hub.delete(clusterSetServices, { name: 'shop.web' }, { signal: never })
    await fleet.settle()
    expect(await addressesOf(fleet)).toEqual(before)
  })

  it('of both families are published together, in the order of the oldest export', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'), { spec: { ipFamilies: ['IPv6', 'IPv4'] } })
    await fleet.settle()
    const seen = fleet.hub.writes.filter(write => write.resource.plural === 'clustersetservices')
    expect(seen).toHaveLength(1)
    expect(await addressesOf(fleet)).toEqual([
      expect.stringMatching(/^fd07:/),
      expect.stringMatching(/^10\.7\./),
    ])
  })
})

describe('members', () => {
  it('that are evicted contribute nothing, and everything again when they are accepted', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.clock.advance(10_000)
    await exportWeb(fleet.member('c2'), { address: '10.2.0.1' })
    await fleet.settle()
    await edit(fleet, 'c1', { accepted: false })
    await fleet.settle()
    const clusters = async () => (await fleet.member('c2').importOf('web'))?.status?.clusters
    expect(await clusters()).toEqual([{ cluster: 'c2' }])
    expect(await fleet.member('c2').slicesOf('web')).toHaveLength(1)
    await edit(fleet, 'c1', { accepted: true })
    await fleet.settle()
    expect(await clusters()).toEqual([{ cluster: 'c1' }, { cluster: 'c2' }])
    expect(await fleet.member('c2').slicesOf('web')).toHaveLength(2)
  })

  it('take part in the namespaces that the hub lets them, and are told', async () => {
    const fleet = await fleetOf()
    await edit(fleet, 'c1', { namespaces: ['bank'] })
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    expect(await fleet.member('c2').importOf('web')).toBeUndefined()
    expect(await fleet.member('c1').conditionsOf('web')).toEqual({
      Valid: 'True/Valid',
      Ready: 'False/Failed',
    })
    await edit(fleet, 'c1', { namespaces: ['bank', 'shop'] })
    await fleet.settle()
    expect(await fleet.member('c2').importOf('web')).toBeDefined()
    await edit(fleet, 'c2', { namespaces: ['bank'] })
    await fleet.settle()
    expect(await fleet.member('c2').importOf('web')).toBeUndefined()
    expect(await fleet.member('c1').importOf('web')).toBeDefined()
  })

  it('B101: whose exports claim to be older count from when they were first accepted', async () => {
    const fleet = await fleetOf({ members: ['c0', 'c1'] })
    await exportWeb(fleet.member('c0'))
    await exportWeb(fleet.member('c1'), { spec: { trafficDistribution: 'PreferClose' } })
    await fleet.settle()
    const winner = async () =>
      (await fleet.hub.get(clusterSetServices, { name: 'shop.web' }, never)).spec.trafficDistribution
    expect(await winner()).toBeUndefined()
    const c0 = await fleet.hub.get(memberClusters, { name: 'c0' }, never)
    const status = { ...c0.status, firstAcceptedTime: '2026-01-02T03:05:00Z' }
    await fleet.hub.replace(memberClusters, { ...c0, status }, { subresource: 'status' }, never)
    await fleet.settle()
    expect(await winner()).toBe('PreferClose')
  })

  it('that are tainted are drained, or left out of the endpoints', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await edit(fleet, 'c1', { taints: [{ key: 'upgrade', effect: 'NoNewConnections' }] })
    await fleet.settle()
    expect(await fleet.member('c2').slicesOf('web')).toMatchObject([
      { endpoints: [{ conditions: { ready: false, serving: true } }] },
    ])
    await edit(fleet, 'c1', { taints: [{ key: 'upgrade', effect: 'NoImport' }] })
    await fleet.settle()
    expect(await fleet.member('c2').slicesOf('web')).toEqual([])
    expect((await fleet.member('c2').importOf('web'))?.status?.clusters).toEqual([{ cluster: 'c1' }])
    await edit(fleet, 'c1', { taints: [] })
    await fleet.settle()
    expect(await fleet.member('c2').slicesOf('web')).toMatchObject([
      { endpoints: [{ conditions: { ready: true } }] },
    ])
  })

  it('B11: one withdraws as another exports, in either order, and the import stays or comes', async () => {
    const fleet = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    for (let round = 0; round < 20; round++) {
      const [from, to] = round % 2 === 0 ? (['c1', 'c2'] as const) : (['c2', 'c1'] as const)
      await swap(fleet, from, to, round % 4 < 2)
      for (const member of fleet.members) {
        expect((await member.importOf('web'))?.status?.clusters).toEqual([{ cluster: to }])
        expect(await member.slicesOf('web')).toHaveLength(1)
      }
    }
  })
})

describe('the metrics of the hub', () => {
  it('tell how full the pools are, what exports disagree about, and how long merges take', async () => {
    const metrics = prometheus()
    const fleet = await fleetOf({ cidrs: ['10.7.0.0/28'], metrics })
    const readings = async (): Promise<readonly string[]> => {
      const lines = (await metrics.text()).split('\n')
      return lines.filter(line => /^isthmus_(allocate|merge_conflicted)_.* [1-9]/.test(line)).sort()
    }
    const pool = 'isthmus_allocate_pool_addresses{family="IPv4"} 14'
    expect(await readings()).toEqual([pool])
    await exportWeb(fleet.member('c1'))
    await exportWeb(fleet.member('c2'), { spec: { ...headless, sessionAffinity: 'ClientIP' } })
    await fleet.settle()
    expect(await readings()).toEqual([
      'isthmus_allocate_held_addresses{family="IPv4"} 1',
      pool,
      'isthmus_merge_conflicted_services{reason="SessionAffinityConflict"} 1',
      'isthmus_merge_conflicted_services{reason="TypeConflict"} 1',
    ])
    for (const id of ['c1', 'c2']) await fleet.member(id).remove(serviceExports, web)
    await fleet.settle()
    expect(await readings()).toEqual(['isthmus_allocate_held_addresses{family="IPv4"} 1', pool])
    expect(await metrics.text()).toMatch(/^isthmus_merge_duration_seconds_count [1-9]/m)
  })
})
