import { expect, it } from 'vitest'
import type { Clock } from '../../../../src/kernel/clock.ts'
import { atOnce, endOfTurn, Pace, type Steps, turn } from '../../../../src/kernel/turn.ts'

/** A clock by which each step takes so long. */
function timed(stepMs: number) {
  let nowMs = 0
  const seen: string[] = []
  const clock: Clock = { now: () => nowMs, after: () => () => undefined }
  function* work(): Steps<string> {
    for (const name of ['a', 'b', 'c']) {
      seen.push(name)
      nowMs += stepMs
      yield
    }
    return 'done'
  }
  return { clock, seen, work }
}

async function seenWithOthers({ clock, seen, work }: ReturnType<typeof timed>): Promise<readonly string[]> {
  const others = turn().then(() => seen.push('others'))
  expect(await new Pace(clock).through(work())).toBe('done')
  await others
  return seen
}

it('lets others have their turn between long steps', async () => {
  expect(await seenWithOthers(timed(20))).toEqual(['a', 'others', 'b', 'c'])
})

it('does short steps without a rest', async () => {
  expect(await seenWithOthers(timed(1))).toEqual(['a', 'b', 'c', 'others'])
})

it('goes on at once, or after a rest that is due', async () => {
  let nowMs = 0
  const pace = new Pace({ now: () => nowMs, after: () => () => undefined })
  expect(pace.goOn(() => 'at once')).toBe('at once')
  nowMs = 20
  const seen: string[] = []
  const others = turn().then(() => seen.push('others'))
  const going = pace.goOn(() => seen.push('next'))
  expect(going).toBeInstanceOf(Promise)
  await Promise.all([going, others])
  expect(seen).toEqual(['others', 'next'])
})

it('can be done at once', () => {
  const { seen, work } = timed(20)
  expect(atOnce(work())).toBe('done')
  expect(seen).toEqual(['a', 'b', 'c'])
})

it('goes on with all who wait for the end of a turn before anything else happens', async () => {
  const seen: string[] = []
  const waiters = ['a', 'b'].map(name =>
    endOfTurn().then(() => {
      setImmediate(() => seen.push(`after ${name}`))
      seen.push(name)
    }),
  )
  const others = turn().then(() => seen.push('others'))
  await Promise.all([...waiters, others, turn().then(turn)])
  expect(seen).toEqual(['a', 'b', 'others', 'after a', 'after b'])
})

it('ends each turn anew', async () => {
  await endOfTurn()
  const seen: string[] = []
  const waiter = endOfTurn().then(() => seen.push('end'))
  await Promise.resolve()
  seen.push('same turn')
  await waiter
  expect(seen).toEqual(['same turn', 'end'])
})
