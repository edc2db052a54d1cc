// What one change costs, in writes: it grows with the members that import, not with the services or endpoints that there are.
// No time is measured here; figures of whole fleets are in the bench fleet-load.
import { afterEach, describe, expect, it } from 'vitest'
import { type MemoryFleet, memoryFleet, slices } from '../support/memory-fleet.ts'
import { slice } from '../support/shop.ts'
import { exporting, happen, sliceOf } from './acts.ts'
import type { Act } from './case.ts'
import { seenBy } from './seen.ts'

let fleet: MemoryFleet

afterEach(() => fleet.end())

const happens = (...acts: readonly Act[]): Promise<void> => happen(fleet, acts)

const headless = { spec: { clusterIP: 'None' } }
const endpoint = (address: string) => ({ addresses: [address], conditions: { ready: true } })

/** Writes at the hub, and in each member but those that the test does itself, since this was called last. */
function written(own: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  const counts = [
    ['hub', fleet.hub.writes.length] as const,
    ...fleet.members.map(({ id, local }) => [id, local.writes.length - (own[id] ?? 0)] as const),
  ]
  for (const cluster of [fleet.hub, ...fleet.members.map(({ local }) => local)]) cluster.writes.length = 0
  // The bridge of the test writes what the hub computes for each member.
  return Object.fromEntries(counts)
}

async function costOfOneChange(services: number): Promise<Readonly<Record<string, number>>> {
  fleet = await memoryFleet({ members: ['c1', 'c2', 'c3'] })
  await fleet.join('c4')
  await happens(...exporting('c1@10', headless))
  for (let n = 0; n < services; n++) await happens(...exporting('c2@10', { ...headless, name: `other${n}` }))
  written({})
  await happens(sliceOf('c1', 'IPv4', { endpoints: [endpoint('10.1.0.9')] }))
  const cost = written({ c1: 1 })
  fleet.end()
  return cost
}

describe('one change of an endpoint', () => {
  it('is one write in each cluster that imports, however many services there are', async () => {
    const few = await costOfOneChange(1)
    // Of the hub one is the slice, and one for each other member is the view that the test writes.
    expect(few).toEqual({ hub: 4, c1: 1, c2: 1, c3: 1, c4: 0 })
    expect(await costOfOneChange(40)).toEqual(few)
  })

  it('writes one slice of a service with 5,000, fifty times in a second, and no name flaps', async () => {
    fleet = await memoryFleet({ members: ['c1', 'c2'] })
    const hosts = (block: number) =>
      Array.from({ length: 100 }, (_, at) => ({
        ...endpoint(`10.1.${block}.${at + 1}`),
        hostname: `pod-${block}-${at}`,
      }))
    const blocks = Array.from({ length: 50 }, (_, block) => block)
    await happens(...exporting('c1@10', { ...headless, endpoints: hosts(0) }))
    for (const block of blocks.slice(1)) await happens(sliceOfBlock(block, hosts(block)))
    const names = blocks.map(block => `pod-${block}-7.c1.web`)
    const before = (await seenBy(fleet.member('c2'), 'web', names)).dns
    expect(new Set(Object.values(before)).size).toBe(blocks.length)
    const fromMs = fleet.clock.now()
    for (let change = 0; change < 50; change++) {
      written({})
      const block = (change * 7) % blocks.length
      const changed = hosts(block).map((host, at) =>
        at === 50 ? endpoint(`10.9.${block}.${change + 1}`) : host,
      )
      await happens(
        block === 0 ? sliceOf('c1', 'IPv4', { endpoints: changed }) : sliceOfBlock(block, changed),
      )
      expect(written({ c1: 1 })).toEqual({ hub: 2, c1: 1, c2: 1 })
      expect((await seenBy(fleet.member('c2'), 'web', names)).dns).toEqual(before)
      await fleet.clock.advance(20)
    }
    expect(fleet.clock.now() - fromMs).toBe(1_000)
    const imported = await fleet.member('c2').slicesOf('web')
    expect(imported.map(({ endpoints }) => endpoints.length)).toEqual(blocks.map(() => 100))
  }, 180_000)
})

describe('one import', () => {
  it('is written once, its slice once, its Service once, and their statuses once', async () => {
    fleet = await memoryFleet({ members: ['c1', 'c2'], routing: 'shared' })
    await happens(...exporting('c1@10'))
    const { writes } = fleet.member('c2').local
    const ours = writes.filter(({ resource }) => resource.plural !== 'namespaces')
    const texts = ours.map(({ resource, subresource, verb }) => `${verb} ${resource.plural} ${subresource}`)
    expect(texts).toHaveLength(5)
    expect(new Set(texts)).toEqual(
      new Set([
        'create endpointslices ',
        'create serviceimports ',
        'create services ',
        'replace serviceimports status',
        'replace services status',
      ]),
    )
  })
})

type Endpoints = readonly (ReturnType<typeof endpoint> & { readonly hostname?: string })[]

function sliceOfBlock(block: number, endpoints: Endpoints): Act {
  const ports = [{ name: 'http', protocol: 'TCP' as const, port: 8_080 }]
  const object = slice(`web-block${block}`, [], { addressType: 'IPv4', endpoints: [...endpoints], ports })
  return async each => {
    await each.member('c1').apply(slices, object)
  }
}
