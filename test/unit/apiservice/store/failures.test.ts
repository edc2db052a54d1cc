import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openRevisionStore } from '../../../../apiservice/store/revision-store.ts'
import { StatusError } from '../../../../src/kernel/errors.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { aBody, aKey, inScope, Recorder, shownItems } from '../../../conformance/store/harness.ts'
import { CheckedStore } from '../../../support/checked-store.ts'
import { type Fault, FaultyDisk } from '../../../support/faulty-log.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'
import { seed } from '../../../support/seed.ts'

type Step =
  | { readonly do: 'write'; readonly count: number }
  | { readonly do: 'fail'; readonly fault: Fault }
  | { readonly do: 'offline'; readonly isOffline: boolean }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'hold' | 'release' | 'compact' | 'restart' }

const aStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('write' as const), count: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ do: fc.constant('write' as const), count: fc.integer({ min: 1, max: 8 }) }),
  fc.record({ do: fc.constant('fail' as const), fault: fc.constantFrom<Fault>('before', 'after') }),
  fc.record({ do: fc.constant('offline' as const), isOffline: fc.boolean() }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ do: fc.constant('wait' as const), ms: fc.constant(11_000) }),
  fc.record({
    do: fc.constantFrom<'hold' | 'release' | 'compact' | 'restart'>('hold', 'release', 'compact', 'restart'),
  }),
)

/** A store on a disk that fails, and what its clients know about it. */
class Course {
  readonly disk = new FaultyDisk()
  readonly clock = manualClock()
  readonly #pending: Promise<unknown>[] = []
  /** Created for sure, at this revision; certainly not created; unknown. */
  readonly #answered = new Map<string, number>()
  readonly #refused = new Set<string>()
  #count = 0
  #store: CheckedStore | undefined

  async open(): Promise<CheckedStore> {
    const options = { clock: this.clock, log: silentLogger, metrics: noMetrics }
    this.#store ??= new CheckedStore(await openRevisionStore(this.disk.open, options))
    return this.#store
  }

  async run(step: Step): Promise<void> {
    if (step.do === 'write') await this.#write(step.count)
    else if (step.do === 'fail') this.disk.writeFaults.push(step.fault)
    else if (step.do === 'offline') this.disk.offline = step.isOffline ? new Error('offline') : undefined
    else if (step.do === 'wait') await this.clock.advance(step.ms)
    else if (step.do === 'hold') this.disk.hold()
    else if (step.do === 'release') this.disk.release()
    else if (step.do === 'compact') await this.#compact()
    else await this.#restart()
  }

  /** Heals the disk and looks at what is there, before and after one more restart. */
  async finish(): Promise<void> {
    this.disk.writeFaults.length = 0
    this.disk.offline = undefined
    this.disk.release()
    await this.clock.advance(60_000)
    await Promise.all(this.#pending)
    const store = await this.open()
    await this.#expectSound(store)
    const before = shownItems(await store.list(inScope(), { limit: 0 }))
    await this.#restart()
    const again = await this.open()
    expect(shownItems(await again.list(inScope(), { limit: 0 }))).toEqual(before)
    await this.#expectSound(again)
    await again.close()
  }

  async #expectSound(store: CheckedStore): Promise<void> {
    for (const [name, revision] of this.#answered) {
      expect(await store.get(aKey(`shop/${name}`))).toMatchObject({ revision })
    }
    for (const name of this.#refused) expect(await store.get(aKey(`shop/${name}`))).toBeUndefined()
    await new Recorder(store, inScope(), store.oldest()).reached(store.revision())
    await store.verify()
  }

  async #write(count: number): Promise<void> {
    const store = await this.open()
    for (let index = 0; index < count; index++) {
      const name = `n${this.#count++}`
      this.#pending.push(
        store.create(aKey(`shop/${name}`), aBody(name)).then(
          result => this.#answered.set(name, result.done ? result.object.revision : Number.NaN),
          (thrown: unknown) => this.#note(name, thrown),
        ),
      )
    }
    await settled()
  }

  #note(name: string, thrown: unknown): void {
    if (!(thrown instanceof StatusError) || thrown.code !== 503) throw thrown
    if (!thrown.message.includes('unknown')) this.#refused.add(name)
  }

  async #compact(): Promise<void> {
    const store = await this.open()
    this.#pending.push(store.compact(store.revision() - 3).catch(() => undefined))
    await settled()
  }

  /** Ends the store, whatever state it is in, and opens what it has left behind. */
  async #restart(): Promise<void> {
    this.disk.offline = undefined
    this.disk.writeFaults.length = 0
    this.disk.release()
    await settled()
    await this.#store?.close()
    this.#store = undefined
    await this.open()
  }
}

describe('any course of failures', () => {
  it(`loses nothing that was answered and makes nothing that was refused (seed ${seed})`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aStep, { maxLength: 30 }), async steps => {
        const course = new Course()
        await course.open()
        for (const step of steps) await course.run(step)
        await course.finish()
      }),
      { seed, numRuns: 100 },
    )
  })
})
