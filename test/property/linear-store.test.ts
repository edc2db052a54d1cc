// Histories of concurrent clients of a store, each of which one register for each key must explain.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import { openRevisionStore } from '../../apiservice/store/revision-store.ts'
import type { Store, StoredObject } from '../../apiservice/store-contract.ts'
import { StatusError } from '../../src/kernel/errors.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { turn } from '../../src/kernel/turn.ts'
import { aKey } from '../conformance/store/harness.ts'
import { type Fault, FaultyDisk } from '../support/faulty-log.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { type Answer, type Call, type Operation, violation } from '../support/linearizability.ts'
import { manualClock, settled } from '../support/manual-clock.ts'
import { seed } from '../support/seed.ts'

const clients = 8
const keys = ['a', 'b', 'c']

type Choice = { readonly key: string; readonly verb: Call['verb'] }

const someChoices = fc.array(
  fc.record({
    key: fc.constantFrom(...keys),
    verb: fc.constantFrom<Call['verb']>('get', 'get', 'create', 'update', 'update', 'delete'),
  }),
  { minLength: 10, maxLength: 25 },
)
const everyonesChoices = fc.array(someChoices, { minLength: clients, maxLength: clients })

function answerOf(done: boolean, object: StoredObject | undefined): Answer {
  return { done, version: object?.revision ?? 0, value: object?.body.toString() }
}

function callOf({ verb }: Choice, value: string, expected: number): Call {
  if (verb === 'get') return { verb }
  if (verb === 'create') return { verb, value }
  return verb === 'delete' ? { verb, expected } : { verb, value, expected }
}

/** Clients that write down what they ask and what they hear, on one clock that counts. */
class Recording {
  readonly history: Operation[] = []
  #tick = 0
  readonly #store: Store

  constructor(store: Store) {
    this.#store = store
  }

  /** One after the other, expecting the version that this client has heard of last. */
  async client(client: number, choices: readonly Choice[]): Promise<void> {
    const heard = new Map<string, number>()
    for (const [index, choice] of choices.entries()) {
      const call = callOf(choice, `${client}-${index}`, heard.get(choice.key) ?? 0)
      const calledAt = ++this.#tick
      const answer = await this.#ask(choice.key, call)
      if (answer !== 'not taken') this.#note({ client, key: choice.key, calledAt, call }, answer)
      if (typeof answer === 'object') heard.set(choice.key, answer.version)
      await turn()
    }
  }

  #note(asked: Pick<Operation, 'client' | 'key' | 'calledAt' | 'call'>, answer: Answer | undefined): void {
    if (answer === undefined) this.history.push({ ...asked, answeredAt: Number.POSITIVE_INFINITY })
    else this.history.push({ ...asked, answeredAt: ++this.#tick, answer })
  }

  async #ask(name: string, call: Call): Promise<Answer | 'not taken' | undefined> {
    const key = aKey(`shop/${name}`)
    try {
      if (call.verb === 'get') return answerOf(true, await this.#store.get(key))
      const result = await this.#write(key, call)
      if (!result.done) return answerOf(false, result.current)
      return answerOf(true, result.object)
    } catch (thrown) {
      if (!(thrown instanceof StatusError) || thrown.code !== 503) throw thrown
      return thrown.message.includes('unknown') ? undefined : 'not taken'
    }
  }

  #write(key: ReturnType<typeof aKey>, call: Exclude<Call, { verb: 'get' }>): ReturnType<Store['create']> {
    if (call.verb === 'create') return this.#store.create(key, Buffer.from(call.value))
    if (call.verb === 'delete') return this.#store.delete(key, call.expected)
    return this.#store.update(key, call.expected, Buffer.from(call.value))
  }
}

const fixed = { log: silentLogger, metrics: noMetrics }

describe('what clients see', () => {
  it(`of a LevelDB store is linearizable (seed ${seed})`, async () => {
    const folder = temporaryFolder()
    const directory = join(folder.path, 'store')
    await fc.assert(
      fc.asyncProperty(everyonesChoices, async choices => {
        const store = await openLevelStore({ directory, clock: manualClock(), ...fixed })
        const recording = new Recording(store)
        await Promise.all(choices.map((own, client) => recording.client(client, own)))
        await store.close()
        rmSync(directory, { recursive: true })
        expect(violation(recording.history)).toBeUndefined()
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
        const recording = new Recording(store)
        const clientsDone = Promise.all(choices.map((own, client) => recording.client(client, own)))
        for (const fault of faults) {
          await settled()
          disk.writeFaults.push(fault)
          await clock.advance(1000)
        }
        await clientsDone
        await clock.advance(10_000)
        const last = new Recording(store)
        await last.client(
          clients,
          keys.map(key => ({ key, verb: 'get' as const })),
        )
        await store.close()
        const later = last.history.map(one => ({
          ...one,
          calledAt: one.calledAt + 1e6,
          answeredAt: one.answeredAt + 1e6,
        }))
        expect(violation([...recording.history, ...later])).toBeUndefined()
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
