import { expect, it } from 'vitest'
import { atOnce, Pace, type Steps, turn } from '../../../../src/kernel/turn.ts'
import { manualClock } from '../../../support/manual-clock.ts'

/** Takes so long for each step, and says when it begins one. */
function* work(clock: ReturnType<typeof manualClock>, stepMs: number, seen: string[]): Steps<string> {
  for (const name of ['a', 'b', 'c']) {
    seen.push(name)
    void clock.advance(stepMs)
    yield
  }
  return 'done'
}

it('lets others have their turn between long steps', async () => {
  const clock = manualClock()
  const seen: string[] = []
  const working = new Pace(clock).through(work(clock, 20, seen))
  expect(seen).toEqual(['a'])
  await turn()
  await turn()
  expect(await working).toBe('done')
  expect(seen).toEqual(['a', 'b', 'c'])
})

it('does short steps without a rest', async () => {
  const clock = manualClock()
  const seen: string[] = []
  const others = turn().then(() => seen.push('others'))
  expect(await new Pace(clock).through(work(clock, 1, seen))).toBe('done')
  await others
  expect(seen).toEqual(['a', 'b', 'c', 'others'])
})

it('can be done at once', () => {
  const clock = manualClock()
  const seen: string[] = []
  expect(atOnce(work(clock, 20, seen))).toBe('done')
  expect(seen).toEqual(['a', 'b', 'c'])
})
