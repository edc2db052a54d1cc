import { expect, it } from 'vitest'
import { Guesses } from '../../../../apiservice/authn/guesses.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { manualClock } from '../../../support/manual-clock.ts'

function scene() {
  const clock = manualClock()
  const metrics = prometheus()
  const guesses = new Guesses({ clock, metrics })
  return {
    clock,
    metrics,
    guess: (times: number, address: string): void => {
      for (let i = 0; i < times; i++) guesses.wrong(address)
    },
    isHeard: (address: string): boolean => {
      try {
        guesses.check(address)
        return true
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 429, details: { retryAfterSeconds: 1 } })
        return false
      }
    },
  }
}

it('an address that has guessed a hundred times is not heard for a while, others are', async () => {
  const { clock, guess, isHeard, metrics } = scene()
  guess(99, '192.0.2.1')
  expect(isHeard('192.0.2.1')).toBe(true)
  guess(1, '192.0.2.1')
  expect([isHeard('192.0.2.1'), isHeard('192.0.2.2')]).toEqual([false, true])
  await clock.advance(99)
  expect(isHeard('192.0.2.1')).toBe(false)
  await clock.advance(1)
  expect(isHeard('192.0.2.1')).toBe(true)
  expect(await metrics.text()).toContain('isthmus_authentication_guesses_refused_total 2')
})

it('an address whose thousands of guesses were looked at together is heard again as soon', async () => {
  const { clock, guess, isHeard } = scene()
  guess(10_000, '192.0.2.1')
  expect(isHeard('192.0.2.1')).toBe(false)
  await clock.advance(100)
  expect(isHeard('192.0.2.1')).toBe(true)
})

it('an address that rests has all its guesses again, and no more', async () => {
  const { clock, guess, isHeard } = scene()
  guess(100, '192.0.2.1')
  await clock.advance(3_600_000)
  guess(99, '192.0.2.1')
  expect(isHeard('192.0.2.1')).toBe(true)
  guess(1, '192.0.2.1')
  expect(isHeard('192.0.2.1')).toBe(false)
})

it.each([
  ['2001:db8::1', '2001:db8::ffff:0:0:1', false],
  ['2001:db8::1', '2001:db8:0:0:ffff::', false],
  ['2001:db8::1', '2001:db8:0:1::1', true],
  ['::ffff:192.0.2.1', '::ffff:192.0.2.2', true],
  ['192.0.2.1', '', true],
])('after the guesses of %s %s is heard: %s', (guessing, other, heard) => {
  const { guess, isHeard } = scene()
  guess(100, guessing)
  expect(isHeard(other)).toBe(heard)
})

it('as many addresses as there are take no more room than for ten thousand', () => {
  const { guess, isHeard } = scene()
  guess(100, 'first')
  for (let i = 0; i < 10_000; i++) guess(1, `a-${i}`)
  expect(isHeard('first')).toBe(true)
})

it('a clock that is set back keeps nobody waiting', () => {
  let nowMs = 3_600_000
  const guesses = new Guesses({ clock: { ...manualClock(), now: () => nowMs }, metrics: noMetrics })
  for (let i = 0; i < 100; i++) guesses.wrong('a')
  nowMs = 0
  expect(() => guesses.check('a')).not.toThrow()
})
