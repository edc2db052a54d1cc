// Changes of endpoints in a fleet under load: when each arrives at the DNS views of the importers, and what it costs.
import { never, sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { processorSeconds } from '../processor.ts'
import type { ChangePlan, FromWorker } from './plan.ts'
import type { LoadFleet, Workers } from './workers.ts'

const idleMs = 4_000
const limitMs = 300_000

/** Every address that was sent is of one change. */
export class Arrivals {
  readonly #workers: Workers
  readonly #importers: number
  readonly #changedMs = new Map<string, number>()
  readonly #seenMs = new Map<string, Map<string, number>>()
  readonly #names = new Map<string, number>()
  readonly #waiting = new Map<string, (failure?: Error) => void>()
  readonly #stop: () => void
  /** How often a view had fewer names than before. */
  flaps = 0

  constructor(workers: Workers, importers: number) {
    this.#workers = workers
    this.#importers = importers
    this.#stop = workers.listen(message => this.#take(message))
  }

  stop(): void {
    this.#stop()
  }

  /** Resolves when all importers answer with the address. */
  async of(change: ChangePlan): Promise<void> {
    const arrived = Promise.withResolvers<void>()
    this.#seenMs.set(change.address, new Map())
    this.#waiting.set(change.address, failure =>
      failure === undefined ? arrived.resolve() : arrived.reject(failure),
    )
    this.#workers.tell(change.member, { type: 'change', ...change })
    const late = new Error(`${change.address} has not arrived within ${limitMs} ms`)
    const cancel = systemClock.after(limitMs, () => arrived.reject(late))
    await arrived.promise.finally(cancel)
  }

  /** Milliseconds from each change to each importer. */
  times(): readonly number[] {
    const all = [...this.#seenMs].flatMap(([address, seen]) =>
      [...seen.values()].map(atMs => atMs - (this.#changedMs.get(address) ?? Number.NaN)),
    )
    return all.sort((a, b) => a - b)
  }

  #take(message: FromWorker): void {
    if (message.type === 'failed') for (const end of this.#waiting.values()) end(new Error(message.error))
    if (message.type === 'changed') this.#changedMs.set(message.address, message.atMs)
    if (message.type === 'view') this.#see(message)
    const address = message.type === 'changed' ? [message.address] : []
    for (const each of message.type === 'view' ? message.added : address) this.#end(each)
  }

  #see({ added, atMs, key, member, names }: Extract<FromWorker, { type: 'view' }>): void {
    const view = `${member} ${key}`
    if (names < (this.#names.get(view) ?? 0)) this.flaps += 1
    this.#names.set(view, names)
    for (const address of added) {
      const seen = this.#seenMs.get(address)
      if (seen !== undefined && !seen.has(member)) seen.set(member, atMs)
    }
  }

  #end(address: string): void {
    if (!this.#changedMs.has(address) || this.#seenMs.get(address)?.size !== this.#importers) return
    this.#waiting.get(address)?.()
    this.#waiting.delete(address)
  }
}

export type Cost = {
  /** Writes of one change: of slices on the hub and in members, and of anything else in members. */
  readonly hubWrites: number
  readonly sliceWrites: number
  readonly otherWrites: number
  /** Milliseconds of processor time of one change, all processes, without what they take when nothing changes. */
  readonly processorMs: number
}

/** What so many changes cost each. */
export async function costOf(fleet: LoadFleet, changes: number, make: () => Promise<void>): Promise<Cost> {
  const [before, idle] = [await measured(fleet), await idleShare(fleet)]
  const [from, startMs] = [processorSeconds(fleet.pids), performance.now()]
  await make()
  const own = processorSeconds(fleet.pids) - from - (idle * (performance.now() - startMs)) / 1_000
  // What is written twice is written soon.
  await sleep(systemClock, 1_000, never)
  const after = await measured(fleet)
  return {
    hubWrites: (after.hubWrites - before.hubWrites) / changes,
    sliceWrites: (after.sliceWrites - before.sliceWrites) / changes,
    otherWrites: (after.otherWrites - before.otherWrites) / changes,
    processorMs: (1_000 * own) / changes,
  }
}

async function measured({ hubWrites, workers }: LoadFleet) {
  return { ...(await workers.counts()), hubWrites: hubWrites() }
}

/** Seconds of processor time in a second, for heartbeats and the like. */
async function idleShare({ pids }: LoadFleet): Promise<number> {
  const [from, startMs] = [processorSeconds(pids), performance.now()]
  await sleep(systemClock, idleMs, never)
  return (1_000 * (processorSeconds(pids) - from)) / (performance.now() - startMs)
}
