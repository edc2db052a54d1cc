// How long changes are under way, by a clock that the test moves.
import { afterEach, describe, expect, it } from 'vitest'
import { exportedSliceName } from '../../../src/api/kinds/exported-endpoint-slice.ts'
import { wellKnown } from '../../../src/api/well-known.ts'
import { never } from '../../../src/kernel/abort.ts'
import type { Metrics } from '../../../src/kernel/metrics.ts'
import { prometheus } from '../../../src/telemetry/prometheus.ts'
import {
  exportedServices,
  exportedSlices,
  type MemoryFleet,
  memoryFleet,
  slices,
} from '../../support/memory-fleet.ts'
import { propagationIn } from '../../support/propagation.ts'
import { exportWeb } from '../../support/shop.ts'

let fleet: MemoryFleet

afterEach(() => fleet.end())

async function fleetOf(): Promise<Record<'hub' | 'c1' | 'c2' | 'c3', Metrics>> {
  const made = { hub: prometheus(), c1: prometheus(), c2: prometheus(), c3: prometheus() }
  fleet = await memoryFleet({ members: ['c1', 'c2'], metrics: made.hub, memberMetrics: made })
  return made
}

function secondsIn(told: Readonly<Record<string, string>>, key: string): number {
  return Number(told[key]?.split(' × ')[1])
}

/** Importables are no objects of a real hub. */
const writesOf = () =>
  [fleet.hub, ...fleet.members.map(({ local }) => local)].map(
    ({ writes }) => writes.filter(({ resource: { plural } }) => plural !== 'importables').length,
  )

describe('a change', () => {
  it('is timed stage by stage, over one clock and over two', async () => {
    const { hub, c1, c2 } = await fleetOf()
    fleet.member('c1').hub.cut()
    await fleet.clock.advance(100)
    await exportWeb(fleet.member('c1'))
    // It is kept from the hub for a while, and then comes with the delay of its next try.
    await fleet.clock.advance(4_000)
    fleet.member('c1').hub.restore()
    await fleet.clock.advance(60_000)
    await fleet.settle()
    const sent = await propagationIn(c1)
    const seconds = (key: string): number => secondsIn(sent, key)
    expect(seconds('export publish one')).toBeGreaterThanOrEqual(4)
    expect(seconds('endpoints publish one')).toBeGreaterThanOrEqual(4)
    // What the exporter sees of its own change on the hub, and of its own import, is by its clock alone.
    expect(new Set(Object.keys(sent))).toEqual(
      new Set([
        'endpoints publish one',
        'endpoints told one',
        'export import one',
        'export publish one',
        'export to_import one',
        'export told one',
      ]),
    )
    expect(seconds('export to_import one')).toBeGreaterThanOrEqual(4)
    expect(await propagationIn(hub)).toMatchObject({ 'export merge one': expect.stringMatching(/^1 × /) })
    const got = await propagationIn(c2)
    expect(new Set(Object.keys(got))).toEqual(
      new Set([
        'endpoints import one',
        'endpoints to_import two',
        'export import one',
        'export to_import two',
      ]),
    )
    expect(secondsIn(got, 'endpoints to_import two')).toBeGreaterThanOrEqual(4)
  })

  it('costs no write that would not be made anyhow, and is not timed where nothing is written', async () => {
    const { c1, c2 } = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    const before = [writesOf(), await propagationIn(c2)]
    fleet.end()
    await fleet.clock.advance(1_000)
    fleet.start()
    for (const member of fleet.members) member.start()
    await fleet.settle()
    expect([writesOf(), await propagationIn(c2)]).toEqual(before)
    // One endpoint moves, by a write of the test: one in each cluster that has it, and one on the hub.
    const counted = writesOf()
    const there = await fleet.member('c1').local.get(slices, { namespace: 'shop', name: 'web-abc' }, never)
    await fleet.member('c1').apply(slices, { ...there, endpoints: [{ addresses: ['10.1.0.9'] }] })
    await fleet.settle()
    expect(writesOf().map((count, at) => count - (counted[at] ?? 0))).toEqual([1, 2, 1])
    expect(await propagationIn(c1)).toMatchObject({ 'endpoints import one': '2 × 0' })
    const [imported] = await fleet.member('c2').slicesOf('web')
    expect(imported?.metadata.annotations?.[wellKnown.changed]).toBe(
      new Date(fleet.clock.now()).toISOString(),
    )
  })

  it('is not timed by what was there before somebody came', async () => {
    const { c3 } = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    await fleet.clock.advance(120_000)
    const third = await fleet.join('c3')
    await fleet.settle()
    expect(await third.importOf('web')).toBeUndefined()
    await third.namespace('shop')
    await fleet.settle()
    expect(await third.importOf('web')).toBeDefined()
    expect(await third.slicesOf('web')).toHaveLength(1)
    expect(await propagationIn(c3)).toEqual({})
  })

  it('is timed by no forged time', async () => {
    const { c2 } = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    fleet.member('c1').stop()
    const ref = { namespace: 'member-c1', name: 'shop.web' }
    for (const [time, port] of [
      ['9999-01-01T00:00:00Z', 81],
      ['1970-01-01T00:00:00Z', 82],
      ['x'.repeat(1_000), 83],
    ] as const) {
      const there = await fleet.hub.get(exportedServices, ref, never)
      const { definition } = there.spec
      const ports = [{ name: 'http', protocol: 'TCP' as const, port }]
      const metadata = { ...there.metadata, annotations: { [wellKnown.changed]: time } }
      const spec = { ...there.spec, definition: { ...definition, ports } }
      await fleet.hub.replace(exportedServices, { ...there, metadata, spec }, {}, never)
      await fleet.settle()
    }
    expect(await propagationIn(c2)).toMatchObject({
      'export to_import two': '2 × 0',
      'fault export to_import negative': '1',
      'fault export to_import hour': '1',
    })
  })

  it('of endpoints is by another clock, whoever is said to have seen it', async () => {
    const { c2 } = await fleetOf()
    await exportWeb(fleet.member('c1'))
    await fleet.settle()
    fleet.member('c1').stop()
    const ref = { namespace: 'member-c1', name: exportedSliceName('shop', 'web-abc') }
    const there = await fleet.hub.get(exportedSlices, ref, never)
    const annotations = { [wellKnown.changed]: '1970-01-01T00:00:00Z member-c2' }
    const spec = { ...there.spec, endpoints: [{ addresses: ['10.1.0.9'], conditions: { ready: true } }] }
    const metadata = { ...there.metadata, annotations }
    await fleet.hub.replace(exportedSlices, { ...there, metadata, spec }, {}, never)
    await fleet.settle()
    const told = await propagationIn(c2)
    expect(told).toMatchObject({
      'endpoints import one': expect.stringMatching(/^2 × /),
      'endpoints to_import two': expect.stringMatching(/^1 × /),
      'fault endpoints to_import hour': '1',
    })
    expect(told['endpoints to_import one']).toBeUndefined()
  })
})
