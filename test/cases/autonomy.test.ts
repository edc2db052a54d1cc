// A hub that is away for an hour: the cluster goes on by itself, and afterwards everything is as if the hub had been there,
// without a burst of writes. Time passes only when the test says so, and writes are counted.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type MemoryFleet,
  memoryFleet,
  serviceExports,
  slices,
  type TestCluster,
} from '../support/memory-fleet.ts'
import { cut, exporting, gone, happen, restored, sliceOf } from './acts.ts'
import type { Act } from './case.ts'
import { everything, seenBy } from './seen.ts'

const writesPerSecond = 20
const names = (prefix: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}`)
const old = names('old', 25)
const born = names('born', 25)

let fleet: MemoryFleet

const happens = (acts: readonly Act[]): Promise<void> => happen(fleet, acts)

async function seconds(count: number): Promise<void> {
  await fleet.clock.advance(count * 1_000)
  await fleet.settle()
}

/** The most that was written in any second. */
function burstOf(writes: TestCluster['writes']): number {
  const times = writes.map(({ atMs }) => atMs)
  return Math.max(0, ...times.map(from => times.filter(at => at >= from && at < from + 1_000).length))
}

const deletes = ({ writes }: TestCluster): readonly string[] =>
  writes.filter(({ verb }) => verb === 'delete').map(({ resource }) => resource.plural)

const headless = { spec: { clusterIP: 'None' } }

/** What every cluster does in the hour. */
const hour = (id: string): readonly Act[] => [
  ...born.flatMap(name => exporting(`${id}@50`, { ...headless, name: `${id}-${name}` })),
  ...old
    .slice(0, 15)
    .map(name => sliceOf(id, 'IPv4', { name, endpoints: [{ addresses: [`10.9.${id.slice(1)}.9`] }] })),
]

beforeEach(async () => {
  fleet = await memoryFleet({ members: ['c1', 'c2'], writesPerSecond })
  for (const id of ['c1', 'c2'])
    await happens(old.flatMap(name => exporting(`${id}@10`, { ...headless, name })))
  await seconds(120)
})
afterEach(() => fleet.end())

describe('a hub that is away for an hour', () => {
  it('takes nothing from a cluster: its own endpoints, restarts and DNS go on', async () => {
    await happens([cut('c1'), cut('c2')])
    await seconds(3_600)
    await happens([sliceOf('c1', 'IPv4', { name: 'old0', endpoints: [{ addresses: ['10.1.0.77'] }] })])
    fleet.member('c1').stop()
    fleet.member('c1').start()
    await seconds(10)
    await happens([gone('c1', slices, 'old1-ipv4')])
    await seconds(10)
    expect((await seenBy(fleet.member('c1'), 'old0', ['old0'])).dns).toEqual({ old0: '10.1.0.77, 10.2.0.1' })
    expect((await seenBy(fleet.member('c1'), 'old1', ['old1'])).dns).toEqual({ old1: '10.2.0.1' })
    expect((await seenBy(fleet.member('c1'), 'old2', ['old2'])).dns).toEqual({ old2: '10.1.0.1, 10.2.0.1' })
  })

  it('is back to one state, with nothing deleted and never more writes a second than the bound', async () => {
    await happens([cut('c1'), cut('c2')])
    await seconds(1_800)
    for (const id of ['c1', 'c2']) await happens(hour(id))
    await seconds(1_800)
    const clusters = [fleet.hub, ...fleet.members.map(({ local }) => local)]
    for (const cluster of clusters) cluster.writes.length = 0
    await happens([restored('c1'), restored('c2')])
    await seconds(300)
    expect(fleet.members.flatMap(({ local }) => deletes(local))).toEqual([])
    expect(deletes(fleet.hub)).toEqual([])
    for (const { local } of fleet.members) {
      expect(local.writes.length).toBeGreaterThan(2 * writesPerSecond)
      expect(burstOf(local.writes)).toBeLessThanOrEqual(writesPerSecond)
    }
    const ofMembers = fleet.hub.writes.filter(
      ({ resource, subresource }) => resource.plural.startsWith('exported') && subresource === '',
    )
    expect(ofMembers.length).toBeGreaterThan(2 * writesPerSecond)
    expect(burstOf(ofMembers)).toBeLessThanOrEqual(2 * writesPerSecond)
    const questions = [...old, ...born.map(name => `c1-${name}`), ...born.map(name => `c2-${name}`)]
    const seen = await everything(fleet, questions)
    fleet.end()
    fleet = await memoryFleet({ members: ['c1', 'c2'] })
    for (const id of ['c1', 'c2'])
      await happens(old.flatMap(name => exporting(`${id}@10`, { ...headless, name })))
    for (const id of ['c1', 'c2']) await happens(hour(id))
    expect(seen).toEqual(await everything(fleet, questions))
  })

  it('finds members that exported and withdrew meanwhile as they are then', async () => {
    await happens([cut('c1')])
    await happens([
      ...exporting('c1@60', { ...headless, name: 'short' }),
      gone('c1', serviceExports, 'short'),
    ])
    await happens([gone('c1', slices, 'old0-ipv4'), restored('c1')])
    await seconds(300)
    expect((await seenBy(fleet.member('c2'), 'old0', [])).slices).toEqual(['c2 http:8080 10.2.0.1'])
    for (const { id } of fleet.members)
      expect(await seenBy(fleet.member(id), 'short', [])).toMatchObject({ import: undefined, slices: [] })
  })
})
