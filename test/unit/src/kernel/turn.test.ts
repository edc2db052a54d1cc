import { expect, it, vi } from 'vitest'
import type { Clock } from '../../../../src/kernel/clock.ts'
import { atEndOfTurn, atOnce, LongWork, Pace, type Steps, turn } from '../../../../src/kernel/turn.ts'

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

it('calls back all who wait for the end of a turn before anything else happens', async () => {
  const seen: string[] = []
  for (const name of ['a', 'b']) {
    atEndOfTurn(() => {
      setImmediate(() => seen.push(`after ${name}`))
      seen.push(name)
      void Promise.resolve().then(() => seen.push(`soon after ${name}`))
    })
  }
  await turn().then(() => seen.push('others'))
  await turn()
  expect(seen).toEqual(['a', 'b', 'soon after a', 'soon after b', 'others', 'after a', 'after b'])
})

it('calls back who asks for it meanwhile right after the others, and whom these ask for at the end of the next turn', async () => {
  await turn()
  const seen: string[] = []
  atEndOfTurn(() => {
    seen.push('end')
    void Promise.resolve().then(() => atEndOfTurn(() => seen.push('after a promise')))
    atEndOfTurn(() => {
      seen.push('right after')
      atEndOfTurn(() => seen.push('next end'))
    })
  })
  atEndOfTurn(() => seen.push('other end'))
  await Promise.resolve()
  seen.push('same turn')
  await turn()
  expect(seen).toEqual(['same turn', 'end', 'other end', 'right after', 'after a promise'])
  await turn()
  expect(seen).toEqual(['same turn', 'end', 'other end', 'right after', 'after a promise', 'next end'])
})

it('calls back the others when one of them throws', () => {
  const turns: (() => void)[] = []
  const immediate = vi.spyOn(globalThis, 'setImmediate').mockImplementation(run => turns.push(run) as never)
  const seen: string[] = []
  atEndOfTurn(() => seen.push('first'))
  atEndOfTurn(() => {
    atEndOfTurn(() => seen.push('fourth'))
    throw new Error('mine')
  })
  atEndOfTurn(() => seen.push('third'))
  expect(() => turns.shift()?.()).toThrow('mine')
  expect(seen).toEqual(['first'])
  expect(turns).toHaveLength(1)
  turns.shift()?.()
  expect(seen).toEqual(['first', 'third', 'fourth'])
  expect(turns).toEqual([])
  immediate.mockRestore()
})

it('does no more of the long work of all together than a turn has time for, in the order in which they came', async () => {
  let nowMs = 0
  const work = new LongWork({ now: () => nowMs, after: () => () => undefined })
  const seen: string[] = []
  const parts = async (name: string): Promise<void> => {
    for (let part = 1; part <= 3; part += 1) {
      if (!work.begins()) await work.turn()
      seen.push(`${name}${part}`)
      nowMs += 4
      await work.turn()
    }
  }
  const all = Promise.all(['a', 'b', 'c', 'd'].map(parts))
  while (seen.length < 15) {
    seen.push('turn')
    await turn()
  }
  await all
  const turns = seen.join(' ').split(' turn ')
  expect(turns).toEqual(['a1 b1 c1', 'a2 b2 c2', 'd1 a3 b3', 'c3 d2', 'd3'])
})
