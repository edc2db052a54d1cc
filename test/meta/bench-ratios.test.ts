// What the gate of the API benchmark judges by.
import { expect, it } from 'vitest'
import { casesOf, wholeSize } from '../bench/api/cases.ts'
import { comparisons, type Figures, floorOf, isBelow, ratioOf } from '../bench/api/figures.ts'
import type { Done } from '../bench/api/job.ts'
import { inOrder, measure } from '../bench/api/measure.ts'
import type { Target, TargetName } from '../bench/api/targets.ts'
import { failureOf } from '../bench/bench.ts'

const [of] = casesOf(wholeSize)

/** Of creates, which are to be 5 times those of CRDs, half of the bare server's and three quarters of them behind it. */
function creates(perSecond: Partial<Record<TargetName, readonly number[]>>): Figures {
  if (of === undefined) throw new Error('there are no cases')
  return { of, perSecond: new Map(Object.entries(perSecond) as [TargetName, readonly number[]][]) }
}

const [toCrds, toBare, behind, published] = comparisons

it('a ratio compares each round with itself', () => {
  const figures = creates({ ours: [600, 100, 900], crds: [100, 10, 100] })
  expect(ratioOf(figures, toCrds)).toEqual({ median: 9, least: 6, most: 10 })
})

it('what is not there is compared with nothing, and below nothing', () => {
  const figures = creates({ ours: [100] })
  expect(comparisons.map(one => ratioOf(figures, one))).toEqual([undefined, undefined, undefined, undefined])
  expect(isBelow(figures)).toBe(false)
})

it('each comparison has its own floor, and the published one has none', () => {
  const figures = creates({})
  expect([toCrds, toBare, behind, published].map(one => floorOf(figures, one))).toEqual([
    5,
    0.5,
    0.75,
    undefined,
  ])
})

it('one ratio below its floor is enough', () => {
  const good = { ours: [500], crds: [100], bare: [1000], 'ours aggregated': [75], 'bare aggregated': [100] }
  expect(isBelow(creates(good))).toBe(false)
  expect(isBelow(creates({ ...good, crds: [101] }))).toBe(true)
  expect(isBelow(creates({ ...good, bare: [1001] }))).toBe(true)
  expect(isBelow(creates({ ...good, 'bare aggregated': [101] }))).toBe(true)
  expect(isBelow(creates({ ...good, bare: [Number.NaN] }))).toBe(true)
})

it('a row that is below fails, and one that is not does not', () => {
  const row = { what: 'creates', unit: '×', must: { valueAtLeast: 5 } }
  expect(failureOf({ ...row, value: 4.9 })).toBe('at least 5')
  expect(failureOf({ ...row, value: 5 })).toBeUndefined()
  expect(failureOf({ ...row, value: Number.NaN })).toBe('at least 5')
})

it('each round has all servers, begins with another one, and none is always behind the same one', () => {
  const rounds = [0, 1, 2, 3, 4].map(round => inOrder(['a', 'b', 'c', 'd', 'e'], round).join(''))
  expect(rounds).toEqual(['abcde', 'bdace', 'cadbe', 'dcbae', 'eabcd'])
  expect([0, 1, 2].map(round => inOrder(['a', 'b'], round).join(''))).toEqual(['ab', 'ba', 'ab'])
})

function targetOf(name: TargetName, port: number): Target {
  return {
    name,
    server: { port, ca: '', cert: '', key: '', prefix: '', apiVersion: '' },
    pids: [],
    besides: [],
  }
}

/** Gets are done as often as the port says; the server of port 7 fails these times. */
async function gets(failures: number): Promise<readonly (readonly number[] | undefined)[]> {
  const [, gotten] = casesOf(wholeSize)
  if (gotten === undefined) throw new Error('there are no gets')
  let left = failures
  const run = async ({ server }: { server: { port: number } }): Promise<Done> => {
    if (server.port === 7 && left-- > 0) throw new Error('1 watchers were cut off')
    return { done: server.port, seconds: 2 } as Done
  }
  const load = { run, expect: () => Promise.resolve() } as unknown as Parameters<typeof measure>[1]
  const targets = [targetOf('ours', 30), targetOf('crds', 7)]
  const [figures] = await measure(targets, load, { ...wholeSize, rounds: 2 }, [gotten])
  return targets.map(({ name }) => figures?.perSecond.get(name))
}

it('a round that the server of the CRDs could not do counts for nobody, and is made up for', async () => {
  expect(await Promise.all([2, 5, 6].map(gets))).toEqual([
    [
      [15, 15],
      [3.5, 3.5],
    ],
    [[15], [3.5]],
    [[Number.NaN], [Number.NaN]],
  ])
})
