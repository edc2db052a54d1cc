import { expect, it } from 'vitest'
import { never } from '../../../../src/kernel/abort.ts'
import { paceOf } from '../../../../src/kernel/pace.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

it('a pace lets so many through in any second, also after a long rest, in the order of coming', async () => {
  const clock = manualClock()
  const startMs = clock.now()
  const pace = paceOf(3, clock)
  const turns: string[] = []
  const come = (name: string): void => {
    const came = pace.turn(never).then(() => turns.push(`${name}@${clock.now() - startMs}`))
    came.catch(() => undefined)
  }
  come('a')
  await clock.advance(900)
  for (const name of ['b', 'c', 'd', 'e']) come(name)
  await settled()
  expect(turns).toEqual(['a@0', 'b@900', 'c@900'])
  await clock.advance(10_000)
  expect(turns).toEqual(['a@0', 'b@900', 'c@900', 'd@1000', 'e@1900'])
  for (const name of ['f', 'g', 'h', 'i']) come(name)
  await clock.advance(999)
  expect(turns.slice(5)).toEqual(['f@10900', 'g@10900', 'h@10900'])
  await clock.advance(1)
  expect(turns.slice(8)).toEqual(['i@11900'])
})

it('a pace lets go of who does not wait any longer', async () => {
  const clock = manualClock()
  const pace = paceOf(1, clock)
  await pace.turn(never)
  const leaving = new AbortController()
  const left = pace.turn(leaving.signal)
  leaving.abort(new Error('enough'))
  await expect(left).rejects.toThrow('enough')
  expect(clock.pending).toBe(0)
})

it('a pace is what it was when the clock is set back', async () => {
  const clock = manualClock()
  let backMs = 0
  const pace = paceOf(2, { ...clock, now: () => clock.now() - backMs })
  for (let turn = 0; turn < 2; turn++) await pace.turn(never)
  await clock.advance(400)
  backMs = 3_600_000
  let isThrough = false
  const third = pace.turn(never).then(() => {
    isThrough = true
  })
  await clock.advance(999)
  expect(isThrough).toBe(false)
  await clock.advance(1)
  await third
  expect(isThrough).toBe(true)
})
