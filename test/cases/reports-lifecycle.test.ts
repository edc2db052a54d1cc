// What users of other implementations reported of deletes, restarts, lost links and members that go: each test is named
// after the kind of fault.
import { afterEach, describe, expect, it } from 'vitest'
import { never } from '../../src/kernel/abort.ts'
import {
  exportedServices,
  type FleetOptions,
  type MemoryFleet,
  memberClusters,
  memoryFleet,
  slices,
} from '../support/memory-fleet.ts'
import {
  cut,
  exporting,
  exportOf,
  gone,
  happen,
  restored,
  serving,
  sliceOf,
  unexport,
  withdraw,
} from './acts.ts'
import type { Act } from './case.ts'
import { exportsSeen, seenBy } from './seen.ts'

let fleet: MemoryFleet

async function opened(
  acts: readonly Act[],
  options: FleetOptions = { members: ['c1', 'c2', 'c3'] },
): Promise<void> {
  fleet = await memoryFleet(options)
  await happens(...acts)
}

const happens = (...acts: readonly Act[]): Promise<void> => happen(fleet, acts)

afterEach(() => fleet.end())

const slicesIn = async (member: string) => (await seenBy(fleet.member(member), 'web', [])).slices
const importIn = async (member: string) => (await seenBy(fleet.member(member), 'web', [])).import

const ofOne = 'c1 http:8080 10.1.0.1'
const ofTwo = 'c2 http:8080 10.2.0.1'
const ofThree = 'c3 http:8080 10.3.0.1'
const allThree = [...exporting('c1@10'), ...exporting('c2@20'), ...exporting('c3@30')]

/** Past a lease, and past what agents wait before they ask a hub again that was away. */
const pastLease = async (): Promise<void> => {
  await fleet.clock.advance(60_000)
  await fleet.settle()
}

/** An administrator removes the member on the hub, and what it wrote there. */
async function removed(id: string): Promise<void> {
  fleet.member(id).stop()
  await fleet.hub.delete(memberClusters, { name: id }, { signal: never })
  await fleet.hub.deleteCollection(exportedServices, { namespace: `member-${id}` }, never)
  await fleet.settle()
}

describe('deletes', () => {
  it('B13: an import that stays in other clusters when its export is gone', async () => {
    await opened(exporting('c1@10'))
    await happens(unexport('c1'))
    for (const { id } of fleet.members)
      expect([await importIn(id), await slicesIn(id)]).toEqual([undefined, []])
  })

  it('B17: a Service that is gone before its event is handled', async () => {
    await opened([...exporting('c1@10', { spec: { clusterIP: 'None' } }), withdraw('c1')])
    await happens(...exporting('c1@10', { name: 'other' }))
    expect(await exportsSeen(fleet, 'web')).toEqual({ c1: 'False/NoService False/Pending' })
    expect(await fleet.member('c2').importOf('other')).toBeDefined()
  })

  it('B23: an import that comes back with endpoints that come late', async () => {
    await opened(exporting('c1@10'))
    await happens(unexport('c1'))
    const endpoints = [{ addresses: ['10.1.0.9'] }]
    await happens(sliceOf('c1', 'IPv4', { endpoints }))
    for (const { id } of fleet.members)
      expect([await importIn(id), await slicesIn(id)]).toEqual([undefined, []])
  })
})

describe('lost links', () => {
  it('B16: one barrier for all clusters when an importer starts', async () => {
    await opened(allThree)
    await happens(cut('c2'))
    fleet.member('c3').stop()
    fleet.member('c3').start()
    await happens(gone('c3', slices, 'web-ipv4'))
    expect(await slicesIn('c3')).toEqual([ofOne, ofTwo])
    await pastLease()
    expect(await slicesIn('c3')).toEqual([ofOne])
  })

  it('B29: imports that go because the hub was silent', async () => {
    await opened(allThree)
    await happens(...fleet.members.map(({ id }) => cut(id)))
    await fleet.clock.advance(3_600_000)
    for (const { local } of fleet.members) local.writes.length = 0
    // One after the other: none may read from the hub that the rest are gone.
    for (const { id } of fleet.members) {
      await happens(restored(id))
      await fleet.clock.advance(7_000)
    }
    await pastLease()
    for (const { id, local } of fleet.members) {
      expect(await slicesIn(id)).toEqual([ofOne, ofTwo, ofThree])
      expect(local.writes).toEqual([])
    }
  })

  it('B29: nor because it was started anew, however long it was away', async () => {
    await opened(allThree)
    fleet.stop()
    for (const { hub } of fleet.members) hub.cut()
    await fleet.clock.advance(3_600_000)
    for (const { hub, local } of fleet.members) {
      hub.restore()
      local.writes.length = 0
    }
    fleet.start()
    await fleet.clock.advance(120_000)
    await fleet.settle()
    expect(fleet.members.flatMap(({ local }) => local.writes)).toEqual([])
  })

  it('B70: a name that flaps with its cluster, or points at one that is down', async () => {
    await opened([...exporting('c1@10'), ...exporting('c2@20')])
    await happens(cut('c2'))
    await fleet.clock.advance(1_000)
    await happens(restored('c2'))
    await pastLease()
    expect(await slicesIn('c1')).toEqual([ofOne, ofTwo])
    await happens(cut('c2'))
    await pastLease()
    expect(await slicesIn('c1')).toEqual([ofOne])
    // The cluster itself goes on with its own.
    expect(await slicesIn('c2')).toEqual([ofOne, ofTwo])
    await happens(restored('c2'))
    await pastLease()
    expect(await slicesIn('c1')).toEqual([ofOne, ofTwo])
    expect(await slicesIn('c2')).toEqual([ofOne, ofTwo])
  })

  it('B95: a dead cluster that a hub started anew believes in again, or that a newcomer is told of', async () => {
    await opened([...exporting('c1@10'), ...exporting('c2@20')], { members: ['c1', 'c2'] })
    await happens(cut('c2'))
    await pastLease()
    fleet.stop()
    fleet.start()
    const c4 = await fleet.join('c4')
    await c4.namespace('shop')
    await pastLease()
    for (const id of ['c1', 'c4']) expect(await slicesIn(id)).toEqual([ofOne])
    await happens(restored('c2'))
    await pastLease()
    for (const id of ['c1', 'c4']) expect(await slicesIn(id)).toEqual([ofOne, ofTwo])
  })
})

describe('members that go', () => {
  it('B97: endpoints that stay when their cluster is removed', async () => {
    await opened([...exporting('c1@10'), ...exporting('c2@20', { ports: 'http:81' })])
    await happens(cut('c2'))
    await removed('c2')
    for (const id of ['c1', 'c3']) {
      expect(await slicesIn(id)).toEqual([ofOne])
      expect(await importIn(id)).toMatchObject({ clusters: 'c1', ports: 'http:80/TCP' })
    }
    expect(await exportsSeen(fleet, 'web')).toMatchObject({
      c1: 'True/Valid True/Exported False/NoConflicts',
    })
  })

  it('B86: a member that comes back under its old name at once, as another cluster', async () => {
    await opened([...exporting('c1@10'), ...exporting('c2@20')])
    await removed('c2')
    await fleet.clock.advance(5_000)
    const again = await fleet.join('c2')
    await again.namespace('shop')
    const endpoints = [{ addresses: ['10.2.0.7'] }]
    await happens(...exporting('c2@40', { endpoints }))
    for (const id of ['c1', 'c2', 'c3']) expect(await slicesIn(id)).toEqual([ofOne, 'c2 http:8080 10.2.0.7'])
  })

  it('B98: a cluster that changes its id and stays under the old one as well', async () => {
    await opened([...exporting('c1@10'), ...exporting('c2@20')])
    await removed('c2')
    const renamed = await fleet.join('c9')
    await renamed.namespace('shop')
    await happens(serving('c9'), sliceOf('c9', 'IPv4'), exportOf('c9@20'))
    for (const id of ['c1', 'c9']) {
      expect(await slicesIn(id)).toEqual([ofOne, 'c9 http:8080 10.9.0.1'])
      expect(await importIn(id)).toMatchObject({ clusters: 'c1 c9' })
    }
  })
})
