import { describe, expect, it } from 'vitest'
import { emptyDecision } from '../../../../dns/answer/decision.ts'
import { durationBuckets, type Transport } from '../../../../dns/contract.ts'
import { Tally } from '../../../../dns/server/tally.ts'
import { emptyQuery } from '../../../../dns/wire/query.ts'
import { emptyReply } from '../../../../dns/wire/reply.ts'
import { originOf } from '../../../support/dns-zone.ts'

function counting() {
  let nowMs = 0
  let firsts = 0
  const tally = new Tally(
    () => nowMs,
    () => {
      firsts++
    },
  )
  const answer = (
    type: number,
    rcode: number,
    how: { tookMs?: number; transport?: Transport; cut?: boolean } = {},
  ): void => {
    tally.begin()
    nowMs += how.tookMs ?? 0
    tally.answered(
      { ...emptyQuery(), type, questionEnd: 30 },
      { ...emptyDecision(), rcode },
      { ...emptyReply(), truncated: how.cut ?? false },
      originOf(how.transport ?? 'udp'),
    )
    tally.end()
  }
  return { tally, answer, firsts: () => firsts }
}

describe('the tally', () => {
  it('counts by transport, type and response code, with one label for rare types', () => {
    const { tally, answer } = counting()
    for (const [type, rcode, transport] of [
      [1, 0, 'udp'],
      [1, 0, 'udp'],
      [1, 3, 'udp'],
      [28, 0, 'tcp'],
      [99, 0, 'udp'],
      [65_280, 0, 'udp'],
      [255, 16, 'tcp'],
    ] as const) {
      answer(type, rcode, { transport })
    }
    expect(tally.take().requests).toEqual([
      { transport: 'udp', type: 'other', rcode: 'NOERROR', count: 2 },
      { transport: 'udp', type: 'A', rcode: 'NOERROR', count: 2 },
      { transport: 'udp', type: 'A', rcode: 'NXDOMAIN', count: 1 },
      { transport: 'tcp', type: 'AAAA', rcode: 'NOERROR', count: 1 },
      { transport: 'tcp', type: 'ANY', rcode: 'BADVERS', count: 1 },
    ])
  })

  it('puts durations into buckets', () => {
    const { tally, answer } = counting()
    for (const tookMs of [0.001, 0.25, 0.26, 3_000]) answer(1, 0, { tookMs })
    const [udp] = tally.take().durations
    expect(udp?.counts[0]).toBe(1)
    expect(udp?.counts[durationBuckets.indexOf(0.000_25)]).toBe(1)
    expect(udp?.counts[durationBuckets.indexOf(0.000_5)]).toBe(1)
    expect(udp?.counts[durationBuckets.length]).toBe(1)
    expect(udp?.sumSeconds).toBeCloseTo(3.000_511, 6)
  })

  it('begins anew after each report, and tells when there is something for the next', () => {
    const { tally, answer, firsts } = counting()
    answer(1, 0, { cut: true })
    tally.dropped('tcp')
    tally.fault(new Error('broken'))
    expect(firsts()).toBe(1)
    expect(tally.take()).toMatchObject({
      dropped: { udp: 0, tcp: 1 },
      truncated: { udp: 1, tcp: 0 },
      faults: 1,
      fault: 'broken',
    })
    expect(tally.take()).toMatchObject({
      requests: [],
      dropped: { udp: 0, tcp: 0 },
      faults: 0,
      fault: undefined,
    })
    answer(1, 0)
    expect(firsts()).toBe(2)
  })

  it('shares what several took together among them', () => {
    let nowMs = 0
    const tally = new Tally(
      () => nowMs,
      () => undefined,
    )
    tally.begin()
    for (let i = 0; i < 10; i++) tally.answered(emptyQuery(), emptyDecision(), emptyReply(), originOf('tcp'))
    nowMs = 0.2
    tally.end()
    const [udp, tcp] = tally.take().durations
    expect(udp).toMatchObject({ sumSeconds: 0 })
    expect(tcp?.sumSeconds).toBeCloseTo(0.0002)
    // 20 µs each: above 10 µs, at most 25 µs.
    expect(tcp?.counts.findIndex(count => count > 0)).toBe(2)
    expect(tcp?.counts[2]).toBe(10)
  })
})
