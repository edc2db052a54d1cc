// A case comes to the same whatever the order of arrival, whatever is delivered twice, and whoever restarts meanwhile.
// `CASE_RUNS` and `CASE_MS` set how many runs each case has at most and how long they may take, `SEED` the seed.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/kernel/clock.ts'
import { seed } from '../support/seed.ts'
import type { Case } from './case.ts'
import { cases } from './cases.ts'
import { type Disturbance, type Order, withCase } from './run.ts'
import { everything } from './seen.ts'

const numRuns = Number(process.env.CASE_RUNS ?? 1_000)
const timeMs = Number(process.env.CASE_MS ?? 250)
const minRuns = Math.min(3, numRuns)

const disturbance = fc.constantFrom<Disturbance>(
  'nothing',
  'nothing',
  'nothing',
  'settle',
  'repeat',
  'deliver again',
  'restart',
  'cut',
)

function ordersOf({ phases }: Case): fc.Arbitrary<readonly Order[]> {
  return fc.tuple(
    ...phases.map(phase => {
      const acts = phase.map((_, at) => at)
      const shuffled = fc.shuffledSubarray(acts, { minLength: acts.length })
      return shuffled.chain(order => fc.tuple(...order.map(act => disturbance.map(next => ({ act, next })))))
    }),
  )
}

describe(`the flow, case by case (SEED=${seed})`, () => {
  it.each(cases)(
    '$title, in any order',
    async row => {
      const questions = Object.keys(row.seen.dns)
      const expected = await withCase(row, undefined, ({ fleet }) => everything(fleet, questions))
      let runs = 0
      const untilMs = systemClock.now() + timeMs
      await fc.assert(
        fc.asyncProperty(ordersOf(row), async orders => {
          if (runs >= minRuns && systemClock.now() >= untilMs) return
          runs += 1
          const seen = await withCase(row, orders, ({ fleet }) => everything(fleet, questions))
          expect(seen).toEqual(expected)
        }),
        { numRuns, seed },
      )
      expect(runs).toBeGreaterThanOrEqual(minRuns)
    },
    60_000 + 2 * timeMs,
  )
})
