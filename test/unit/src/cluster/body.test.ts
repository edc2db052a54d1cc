import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import { lines } from '../../../../src/cluster/body.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

it.each([
  ['goes on evenly', 0],
  ['goes back', -86_400_000],
  ['leaps', 86_400_000],
])('a stream on which nothing comes is dead in time while the time of day %s', async (_how, byMs) => {
  const clock = manualClock()
  let setByMs = 0
  const timeOfDay = { ...clock, now: () => clock.now() + setByMs }
  const answer = new IncomingMessage(new Socket())
  const reader = lines(answer, { maxBytes: 100, idleMs: 20_000, clock: timeOfDay })[Symbol.asyncIterator]()
  const ends: unknown[] = []
  for (let count = 0; count < 3; count += 1) {
    const next = reader.next()
    next.catch(thrown => ends.push(thrown))
    await clock.advance(19_000)
    setByMs += byMs
    answer.push(`line ${count}\n`)
    expect(await next).toEqual({ done: false, value: `line ${count}` })
  }
  const last = reader.next()
  last.catch(thrown => ends.push(thrown))
  await settled()
  setByMs += byMs
  await clock.advance(19_999)
  expect(ends).toEqual([])
  await clock.advance(2_001)
  expect(ends).toMatchObject([{ message: 'nothing came for 20 s' }])
  expect(clock.pending).toBe(0)
})
