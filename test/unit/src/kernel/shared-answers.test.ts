import { expect, it } from 'vitest'
import { never } from '../../../../src/kernel/abort.ts'
import { SharedAnswers } from '../../../../src/kernel/shared-answers.ts'
import { manualClock } from '../../../support/manual-clock.ts'

function world(maxEntries = 10) {
  const clock = manualClock()
  const asked: string[] = []
  const answers = new SharedAnswers<string>({ clock, ttlMs: 10_000, timeoutMs: 30_000, maxEntries })
  const get = (key: string, signal = never): Promise<string> =>
    answers.get(
      key,
      async () => {
        asked.push(key)
        return `${key} ${asked.length}`
      },
      signal,
    )
  return { clock, asked, answers, get }
}

it('an answer is remembered until its time is over', async () => {
  const { clock, get } = world()
  expect(await get('a')).toBe('a 1')
  await clock.advance(9_999)
  expect(await get('a')).toBe('a 1')
  await clock.advance(1)
  expect(await get('a')).toBe('a 2')
})

it('a question is asked once for all who want to know, and goes on when one leaves', async () => {
  const { answers, clock } = world()
  const answer = Promise.withResolvers<string>()
  let asked = 0
  const ask = (): Promise<string> => {
    asked += 1
    return answer.promise
  }
  const leaving = new AbortController()
  const first = answers.get('a', ask, leaving.signal)
  const second = answers.get('a', ask, never)
  leaving.abort(new Error('gone'))
  await expect(first).rejects.toThrow('gone')
  answer.resolve('yes')
  expect(await second).toBe('yes')
  expect(asked).toBe(1)
  expect(clock.pending).toBe(0)
})

it('a failure is told to all who wait, and not remembered', async () => {
  const { answers, get } = world()
  const fail = (): Promise<string> => Promise.reject(new Error('away'))
  const both = await Promise.allSettled([answers.get('a', fail, never), answers.get('a', fail, never)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await get('a')).toBe('a 1')
})

it('a question that is not answered in time is given up', async () => {
  const { answers, clock } = world()
  const hang = (signal: AbortSignal): Promise<string> =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  const asked = answers.get('a', hang, never)
  const failed = expect(asked).rejects.toThrow('no answer within 30 s')
  await clock.advance(30_000)
  await failed
})

it('what was used longest ago makes room', async () => {
  const { asked, get } = world(2)
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) await get(key)
  expect(asked).toEqual(['a', 'b', 'c', 'b'])
})

it('what is remembered can be had at once', async () => {
  const { clock, answers, get } = world()
  expect(answers.known('a')).toBeUndefined()
  await get('a')
  expect(answers.known('a')).toBe('a 1')
  await clock.advance(10_000)
  expect(answers.known('a')).toBeUndefined()
})
