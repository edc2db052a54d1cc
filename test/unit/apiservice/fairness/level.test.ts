import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Level, type LevelLimits, Seat } from '../../../../apiservice/fairness/level.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'
import { seed } from '../../../support/seed.ts'

const limits: LevelLimits = {
  seats: 4,
  seatsOfClient: 2,
  queueOfClient: 100,
  queue: 150,
  startsOfClient: 100,
  longestWaitMs: 1_000,
}

/** A level with requests that stay until they are told to go. */
function scene(change: Partial<LevelLimits> = {}) {
  const clock = manualClock()
  const level = new Level({ clock, limits: { ...limits, ...change } })
  const inside: { readonly name: string; readonly seat: Seat }[] = []
  const refused: unknown[] = []
  /** Whether it had to wait. */
  const ask = (name: string, { width = 1, signal = never } = {}): boolean => {
    const entered = level.enter(name, width, signal)
    if (entered instanceof Seat) {
      inside.push({ name, seat: entered })
      return false
    }
    entered.then(
      seat => inside.push({ name, seat }),
      (thrown: unknown) => refused.push(thrown),
    )
    return true
  }
  const askTimes = (times: number, name: string, width = 1): void => {
    for (let i = 0; i < times; i++) ask(name, { width })
  }
  return {
    clock,
    level,
    inside,
    refused,
    ask,
    askTimes,
    /** The one that came in first goes; answers whose it was. */
    leave: async (): Promise<string> => {
      const first = inside.shift()
      first?.seat.release()
      await settled()
      return first?.name ?? 'nobody'
    },
  }
}

describe('a level', () => {
  it('lets in at once while there is room, and one client no more than its part', () => {
    const { ask, level } = scene()
    expect(['a', 'a', 'a', 'b', 'b', 'c'].map(name => ask(name))).toEqual([
      false,
      false,
      true,
      false,
      false,
      true,
    ])
    expect(level).toMatchObject({ executing: 4, heldSeats: 4, queued: 2, dispatched: 4 })
  })

  it('serves clients in turn, however many requests of one of them wait', async () => {
    const { askTimes, leave, inside } = scene({ seats: 1, seatsOfClient: 1 })
    askTimes(80, 'greedy')
    askTimes(3, 'modest')
    askTimes(2, 'other')
    const turns: string[] = []
    while (turns.length < 10) turns.push(await leave())
    expect(turns.join(' ')).toBe('greedy greedy modest other greedy modest other greedy modest greedy')
    expect(inside).toHaveLength(1)
  })

  it('gives a client with wide requests as many seats as one with narrow ones, not as many turns', async () => {
    const { askTimes, leave } = scene({ seats: 1, seatsOfClient: 1 })
    askTimes(50, 'lists', 10)
    askTimes(100, 'gets')
    const turns: string[] = []
    for (let i = 0; i < 45; i++) turns.push(await leave())
    const lists = turns.filter(name => name === 'lists').length
    expect(lists).toBeGreaterThanOrEqual(4)
    expect(lists).toBeLessThanOrEqual(6)
  })

  it('lets those in who wait in a later turn of the event loop, and before those who come meanwhile', async () => {
    const { ask, inside } = scene({ seats: 2, seatsOfClient: 1 })
    for (const name of ['a', 'b', 'c']) ask(name)
    inside.shift()?.seat.release()
    expect(ask('d')).toBe(true)
    expect(inside.map(one => one.name)).toEqual(['b'])
    await settled()
    expect(inside.map(one => one.name)).toEqual(['b', 'c'])
  })

  it('lets a client pass that has room when others wait for themselves alone', () => {
    const { ask, askTimes } = scene({ seats: 40, seatsOfClient: 10 })
    askTimes(50, 'greedy')
    expect(ask('modest')).toBe(false)
  })

  it('lets one client start so much in a turn of the event loop, and others go on', async () => {
    const { ask, inside } = scene({ startsOfClient: 3 })
    const begin = (name: string, width: number): boolean => {
      const hadToWait = ask(name, { width })
      if (!hadToWait) inside.pop()?.seat.release()
      return hadToWait
    }
    expect([1, 1, 1, 1].map(width => begin('a', width))).toEqual([false, false, false, true])
    expect([2, 2, 2].map(width => begin('b', width))).toEqual([false, false, true])
    await settled()
    expect(inside.map(one => one.name)).toEqual(['a', 'b'])
  })

  it('refuses with 429 what a full queue cannot hold: that of the client, and that of all', async () => {
    const { ask, askTimes, level, refused } = scene({ queueOfClient: 3, queue: 5 })
    const full = expect.objectContaining({ code: 429, details: { retryAfterSeconds: 1 } })
    askTimes(5, 'a')
    expect(() => level.enter('a', 1, never)).toThrow(full)
    askTimes(2, 'b')
    askTimes(2, 'c')
    expect(() => level.enter('c', 1, never)).toThrow(full)
    // Who has nothing waiting takes the place of the newest of the longest queue.
    expect(['d', 'e', 'f'].map(name => ask(name))).toEqual([true, true, true])
    await settled()
    expect(refused).toEqual([full, full, full])
    expect(() => level.enter('g', 1, never)).toThrow(full)
    expect(level.queued).toBe(5)
    expect(level.rejected).toEqual({ 'queue-full': 6, 'time-out': 0, cancelled: 0 })
  })

  it('refuses with 429 what has waited for too long', async () => {
    const { askTimes, clock, level, refused } = scene()
    askTimes(3, 'a')
    await clock.advance(999)
    expect(refused).toEqual([])
    await clock.advance(1)
    expect(refused).toMatchObject([{ code: 429, reason: 'TooManyRequests' }])
    expect(level).toMatchObject({ queued: 0, rejected: { 'time-out': 1 } })
  })

  it('forgets a request whose client has gone', async () => {
    const { ask, askTimes, clock, leave, level, refused, inside } = scene()
    askTimes(2, 'a')
    const gone = new AbortController()
    ask('a', { signal: gone.signal })
    gone.abort(new Error('gone'))
    await leave()
    expect(refused).toMatchObject([{ message: 'gone' }])
    expect(level).toMatchObject({ queued: 0, executing: 1, rejected: { cancelled: 1 } })
    expect(inside).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  it('counts a request that turns out to be wide as what it is', async () => {
    const { ask, inside, level } = scene()
    ask('a')
    inside[0]?.seat.widen(3)
    expect([ask('a'), ask('b'), ask('b')]).toEqual([true, false, true])
    inside[0]?.seat.release()
    inside[0]?.seat.release()
    await settled()
    expect(level).toMatchObject({ heldSeats: 3, executing: 3, queued: 0 })
  })

  it('goes beyond its seats by one wide request at most, which is not kept waiting for ever', async () => {
    const { ask, level } = scene({ seatsOfClient: 4 })
    ask('a', { width: 3 })
    expect(ask('b', { width: 10 })).toBe(false)
    expect(ask('c')).toBe(true)
    expect(level.heldSeats).toBe(13)
  })
})

type Act = {
  readonly act: 'ask' | 'leave' | 'settle' | 'wait'
  readonly name: string
  readonly width: number
}

const acts: fc.Arbitrary<readonly Act[]> = fc.array(
  fc.record({
    act: fc.constantFrom('ask', 'ask', 'ask', 'leave', 'leave', 'settle', 'wait'),
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    width: fc.constantFrom(1, 1, 1, 2, 5),
  }),
  { maxLength: 60 },
)

/** How many of them were let into seats or queues. */
async function run(on: ReturnType<typeof scene>, sequence: readonly Act[]): Promise<number> {
  let taken = 0
  const todo: Readonly<Record<Act['act'], (act: Act) => unknown>> = {
    ask: ({ name, width }) => {
      if (on.level.queued >= on.level.limits.queue) return
      on.ask(name, { width })
      taken++
    },
    leave: () => on.inside.shift()?.seat.release(),
    settle: settled,
    wait: () => on.clock.advance(100),
  }
  for (const act of sequence) {
    await todo[act.act](act)
    expect(on.level.heldSeats).toBeLessThan(limits.seats + 5)
  }
  await settled()
  return taken
}

it('whatever is asked in whatever order: limits hold, nobody waits for a seat that is free, all end', async () => {
  await fc.assert(
    fc.asyncProperty(acts, async sequence => {
      const on = scene({ queueOfClient: 60, queue: 20 })
      const taken = await run(on, sequence)
      const { inside, level, refused } = on
      const free = limits.seats - level.heldSeats
      // Whoever waits beside a free seat waits for himself: four clients with a part of two leave none for more than two.
      expect(level.queued > 0 && free > limits.seats - limits.seatsOfClient).toBe(false)
      while (inside.length > 0) await on.leave()
      expect(level).toMatchObject({ heldSeats: 0, executing: 0, queued: 0 })
      expect(level.dispatched + refused.length).toBe(taken)
    }),
    { seed, numRuns: 60 },
  )
})
