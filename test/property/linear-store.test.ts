// Histories of concurrent clients of a store, each of which one register for each key must explain.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import { openRevisionStore } from '../../apiservice/store/revision-store.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { type Fault, FaultyDisk } from '../support/faulty-log.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { type Answer, type Call, type Operation, violation } from '../support/linearizability.ts'
import { manualClock, settled } from '../support/manual-clock.ts'
import { History } from '../support/recorded-clients.ts'
import { seed } from '../support/seed.ts'

const clients = 8
const keys = ['a', 'b', 'c']

const someChoices = fc.array(
  fc.record({
    key: fc.constantFrom(...keys),
    verb: fc.constantFrom<Call['verb']>('get', 'get', 'create', 'update', 'update', 'delete'),
  }),
  { minLength: 10, maxLength: 25 },
)
const everyonesChoices = fc.array(someChoices, { minLength: clients, maxLength: clients })

const fixed = { log: silentLogger, metrics: noMetrics }

describe('what clients see', () => {
  it(`of a LevelDB store is linearizable (seed ${seed})`, async () => {
    const folder = temporaryFolder()
    const directory = join(folder.path, 'store')
    await fc.assert(
      fc.asyncProperty(everyonesChoices, async choices => {
        const store = await openLevelStore({ directory, clock: manualClock(), ...fixed })
        const recording = new History(store)
        await Promise.all(choices.map((own, client) => recording.client(client, own)))
        await store.close()
        rmSync(directory, { recursive: true })
        expect(violation(recording.operations)).toBeUndefined()
      }),
      { seed, numRuns: 20 },
    )
    folder.dispose()
  }, 120_000)

  it(`of a store whose disk fails is linearizable, whatever became of the writes (seed ${seed})`, async () => {
    const someFaults = fc.array(fc.constantFrom<Fault>('before', 'after'), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(everyonesChoices, someFaults, async (choices, faults) => {
        const disk = new FaultyDisk()
        const clock = manualClock()
        const store = await openRevisionStore(disk.open, { clock, ...fixed })
        const recording = new History(store)
        const clientsDone = Promise.all(choices.map((own, client) => recording.client(client, own)))
        for (const fault of faults) {
          await settled()
          disk.writeFaults.push(fault)
          await clock.advance(1000)
        }
        await clientsDone
        await clock.advance(10_000)
        const last = new History(store)
        await last.client(
          clients,
          keys.map(key => ({ key, verb: 'get' as const })),
        )
        await store.close()
        const later = last.operations.map(one => ({
          ...one,
          calledAt: one.calledAt + 1e6,
          answeredAt: one.answeredAt + 1e6,
        }))
        expect(violation([...recording.operations, ...later])).toBeUndefined()
      }),
      { seed, numRuns: 50 },
    )
  }, 120_000)
})

/** An operation of a client of its own, from one time to another. */
function op(
  times: readonly [number, number],
  call: Call,
  answer?: Omit<Answer, 'value'> & { value?: string },
): Operation {
  const [calledAt, answeredAt] = times
  return {
    client: calledAt,
    key: 'a',
    calledAt,
    answeredAt,
    call,
    ...(answer && { answer: { value: undefined, ...answer } }),
  }
}

const created = op([1, 2], { verb: 'create', value: 'x' }, { done: true, version: 2, value: 'x' })
const get = (times: readonly [number, number], version: number, value?: string): Operation =>
  op(times, { verb: 'get' }, { done: true, version, ...(value === undefined ? {} : { value }) })
const updated = (times: readonly [number, number], version: number, value: string, expected = 2): Operation =>
  op(times, { verb: 'update', value, expected }, { done: true, version, value })

describe('the search for an order', () => {
  it.each<[string, readonly Operation[]]>([
    [
      'reads beside a write that see it or not',
      [created, updated([3, 9], 3, 'y'), get([4, 5], 2, 'x'), get([6, 7], 3, 'y')],
    ],
    [
      'a write without an answer that happened late',
      [
        created,
        op([3, Infinity], { verb: 'update', value: 'y', expected: 2 }),
        get([4, 5], 2, 'x'),
        get([6, 7], 4, 'y'),
      ],
    ],
    [
      'a write without an answer that never happened',
      [created, op([3, Infinity], { verb: 'delete', expected: 2 }), get([9, 10], 2, 'x')],
    ],
    [
      'one of two that compare and set at once',
      [
        created,
        updated([3, 6], 3, 'y'),
        op([4, 7], { verb: 'update', value: 'z', expected: 2 }, { done: false, version: 3, value: 'y' }),
      ],
    ],
  ])('finds one for %s', (_title, history) => {
    expect(violation(history)).toBeUndefined()
  })

  it.each<[string, readonly Operation[]]>([
    [
      'an older state after a newer one was read',
      [created, updated([3, 9], 3, 'y'), get([4, 5], 3, 'y'), get([6, 7], 2, 'x')],
    ],
    ['a read that misses an answered write', [created, get([3, 4], 0)]],
    ['two that replaced the same version', [created, updated([3, 6], 3, 'y'), updated([4, 7], 4, 'z')]],
    ['a revision that goes back', [created, updated([3, 4], 1, 'y')]],
    [
      'a refused write that would have been done',
      [
        created,
        op([3, 4], { verb: 'update', value: 'y', expected: 2 }, { done: false, version: 2, value: 'x' }),
      ],
    ],
    ['a value that nobody wrote', [created, get([3, 4], 5, 'z')]],
    [
      'an object that is back after its deletion',
      [created, op([3, 4], { verb: 'delete', expected: 2 }, { done: true, version: 3 }), get([5, 6], 2, 'x')],
    ],
    [
      'a write without an answer that happened, and then not',
      [
        created,
        op([3, Infinity], { verb: 'update', value: 'y', expected: 2 }),
        get([4, 5], 4, 'y'),
        get([6, 7], 2, 'x'),
      ],
    ],
  ])('finds none for %s', (_title, history) => {
    expect(violation(history)).toMatch(/^a: no order explains more than \d of \d operations$/)
  })
})
