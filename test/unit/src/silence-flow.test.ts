import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { wellKnown } from '../../../src/api/well-known.ts'
import { silenceOf } from '../../../src/merge/silence.ts'
import { type MemoryFleet, memoryFleet, serviceExports } from '../../support/memory-fleet.ts'
import { exportWeb, serviceExport } from '../../support/shop.ts'

describe('silence of a cluster', () => {
  const drain = { action: 'Drain', afterSeconds: 60 } as const

  it.each([
    ['nothing while it is heard', undefined, undefined, {}],
    ['the loss of its endpoints', 0, undefined, { endpoints: 'dropped' }],
    ['nothing where they are to stay', 0, { action: 'Keep' } as const, {}],
    ['nothing before its time', 10_000, drain, { changesAtMs: 70_000 }],
    ['draining from then on', 9_000, drain, { endpoints: 'draining' }],
    ['draining at once', 69_000, { action: 'Drain' } as const, { endpoints: 'draining' }],
  ])('means %s', (_, sinceMs, chosen, expected) => {
    const nothing = { endpoints: undefined, changesAtMs: undefined }
    expect(silenceOf(sinceMs, chosen, 69_000)).toEqual({ ...nothing, ...expected })
  })
})

describe('a cluster that drains a while after it fell silent', () => {
  let fleet: MemoryFleet

  beforeEach(async () => {
    fleet = await memoryFleet({ members: ['c1', 'c2', 'c3'] })
    const plain = serviceExport()
    const annotations = { [wellKnown.whenUnreachable]: 'drain=300s' }
    await fleet.member('c2').apply(serviceExports, { ...plain, metadata: { ...plain.metadata, annotations } })
    await exportWeb(fleet.member('c2'))
    await fleet.settle()
  })

  afterEach(() => fleet.end())

  const readyIn = async (id: string) =>
    (await fleet.member(id).slicesOf('web')).flatMap(s => s.endpoints.map(e => e.conditions?.ready))

  it('does so though the hub is started anew meanwhile, with one write of the service', async () => {
    fleet.member('c2').hub.cut()
    await fleet.clock.advance(120_000)
    expect(await readyIn('c3')).toEqual([true])
    fleet.stop()
    fleet.start()
    await fleet.clock.advance(120_000)
    expect(await readyIn('c3')).toEqual([true])
    fleet.hub.writes.length = 0
    await fleet.clock.advance(240_000)
    expect(await readyIn('c3')).toEqual([false])
    expect(await readyIn('c2')).toEqual([true])
    const written = fleet.hub.writes.filter(({ resource: { plural } }) => plural === 'clustersetservices')
    expect(written).toHaveLength(1)
    fleet.member('c2').hub.restore()
    await fleet.clock.advance(120_000)
    expect(await readyIn('c3')).toEqual([true])
  })
})
