import { beforeEach, describe, expect, it } from 'vitest'
import { newlyChanged, withChanged } from '../../../../src/api/changed.ts'
import { type Carried, Leg, Propagation } from '../../../../src/kernel/propagation.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { type ManualClock, manualClock } from '../../../support/manual-clock.ts'
import { propagationIn } from '../../../support/propagation.ts'

let clock: ManualClock
let propagation: Propagation
let shown: () => Promise<Readonly<Record<string, string>>>

beforeEach(() => {
  clock = manualClock()
  const metrics = prometheus()
  propagation = new Propagation(metrics, clock)
  shown = () => propagationIn(metrics)
})

const legOf = () => new Leg({ propagation, way: 'endpoints', stage: 'import', total: 'to_import', own: 'me' })
const comesTo = (carried: Carried) => async () => carried

describe('a leg', () => {
  it('takes the time from when a change was first seen to the write that it came to', async () => {
    const leg = legOf()
    leg.note('a')
    await clock.advance(2_000)
    leg.note('a')
    await clock.advance(500)
    await leg.carry('a', comesTo('written'))
    expect(await shown()).toEqual({ 'endpoints import one': '1 × 2.5' })
    // Nothing waits any more.
    await leg.carry('a', comesTo('written'))
    expect(await shown()).toEqual({ 'endpoints import one': '1 × 2.5' })
  })

  it('takes no time of what came to nothing', async () => {
    const leg = legOf()
    leg.note('a')
    await leg.carry('a', comesTo('unchanged'))
    await leg.carry('a', comesTo('written'))
    expect(await shown()).toEqual({})
  })

  it.each([
    ['fails', () => Promise.reject(new Error('away'))],
    ['finds somebody faster', comesTo('behind')],
  ])('goes on counting when the work %s', async (_, work) => {
    const leg = legOf()
    leg.note('a', { atMs: clock.now() - 1_000, by: 'me' })
    await leg.carry('a', work).catch(() => undefined)
    await clock.advance(3_000)
    // Another change in between is under way for less long.
    leg.note('a', { atMs: clock.now(), by: 'me' })
    await leg.carry('a', comesTo('written'))
    expect(await shown()).toEqual({ 'endpoints import one': '1 × 3', 'endpoints to_import one': '1 × 4' })
  })

  it('keeps apart what came by another clock, and lets that make no nonsense', async () => {
    const leg = legOf()
    for (const agoMs of [1_500, -600_000, 3_600_001]) {
      leg.note('a', { atMs: clock.now() - agoMs, by: 'them' })
      await leg.carry('a', comesTo('written'))
    }
    expect(await shown()).toEqual({
      'endpoints import one': '3 × 0',
      'endpoints to_import two': '2 × 1.5',
      'fault endpoints to_import negative': '1',
      'fault endpoints to_import hour': '1',
    })
  })
})

describe('the time of a change on an object', () => {
  const metadata = { name: 'a', annotations: { mine: 'x' } }
  const at = (atMs: number, by?: string) => ({ metadata: withChanged(metadata, { atMs, by }) })

  it('is read back as it was written, beside other annotations', () => {
    const dated = at(1_700_000_000_123, 'member-east')
    expect(dated.metadata.annotations).toEqual({
      mine: 'x',
      'isthmus.dev/changed': '2023-11-14T22:13:20.123Z member-east',
    })
    expect(newlyChanged(undefined, dated)).toEqual({ atMs: 1_700_000_000_123, by: 'member-east' })
    expect(newlyChanged(undefined, at(5))).toEqual({ atMs: 5, by: undefined })
    expect(withChanged(metadata, undefined)).toBe(metadata)
  })

  it('is said by one version only, and by none that cannot be read', () => {
    expect(newlyChanged(at(5), at(5))).toBeUndefined()
    expect(newlyChanged(at(5), at(6))).toMatchObject({ atMs: 6 })
    expect(newlyChanged(at(5), { metadata })).toBeUndefined()
    expect(newlyChanged(at(5), undefined)).toBeUndefined()
    const forged = { metadata: { annotations: { 'isthmus.dev/changed': '1e999 x' } } }
    expect(newlyChanged(undefined, forged)).toBeUndefined()
  })
})
