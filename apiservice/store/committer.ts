import { background, errorText, never, sleep } from '../../src/kernel/abort.ts'
import { tooManyRequests, unavailable } from '../../src/kernel/errors.ts'
import { turn } from '../../src/kernel/turn.ts'
import type { Revision, StoredObject, StoreEvent, WriteResult } from '../store-contract.ts'
import { audit } from './audit.ts'
import { Batch, resultOf, type Write } from './batch.ts'
import { diskFault, hangs } from './disk-fault.ts'
import type { StoreInstruments } from './instruments.ts'
import type { StoreSettings } from './options.ts'
import type { Log } from './record-log.ts'
import type { Timeline } from './timeline.ts'
import type { WatchHub } from './watch-hub.ts'

type Waiter = {
  readonly write: Write
  resolve(result: WriteResult): void
  reject(reason: Error): void
}

type CommitterParts = {
  readonly settings: StoreSettings
  readonly timeline: Timeline
  readonly hub: WatchHub
  readonly instruments: StoreInstruments
  readonly openLog: () => Promise<Log>
}

const maxBatchWrites = 1000
const maxBatchBytes = 8 * 1024 * 1024
/** Changes whose records one commit drops; more when it writes more, so that drops keep up, or when it writes nothing. */
const minDropsPerCommit = 256
const dropsWithoutWrites = 4096
const firstReopenMs = 50
const maxReopenMs = 5000

/**
 * Group commit. Writes that come while a batch is being synced wait and share the next sync; they are judged when their
 * batch is made, are answered after it is durable, and only then enter the timeline.
 *
 * When the log does not answer in time, clients get 503 until it does; what then became of the batch is shown to readers
 * and watchers as always.
 *
 * When the log fails, nobody knows what of the batch is on the disk: its writes are answered with 503, no more are taken,
 * the log is closed and opened again, and whatever it then holds beyond the timeline has happened. Revisions of the
 * failed batch are not used again. Reads and watches go on with the durable state meanwhile.
 */
export class Committer {
  readonly #parts: CommitterParts
  readonly #queue: Waiter[] = []
  #queuedBytes = 0
  #log: Log
  #next: Revision
  #isRunning: boolean = false
  /** Up to where commits are made for nothing but drops, each of which costs a sync: those that write take some along. */
  #dropTo: Revision = 0
  #isBroken: boolean = false
  #fault: string | undefined
  readonly #closing = new AbortController()
  /** Called whenever a commit has ended. */
  readonly #watching = new Set<() => void>()

  constructor(log: Log, parts: CommitterParts) {
    this.#log = log
    this.#parts = parts
    this.#next = parts.timeline.revision + 1
  }

  get log(): Log {
    return this.#log
  }

  /** Why no write is taken at the moment. */
  get fault(): string | undefined {
    return this.#fault
  }

  submit(write: Write): Promise<WriteResult> {
    const refusal = this.#refusal()
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      this.#queue.push({ write, resolve, reject })
      this.#queuedBytes += write.body?.length ?? 0
      this.#start()
    })
  }

  /** Lets the log drop what the history has forgotten. */
  wake(): void {
    this.#dropTo = this.#parts.timeline.history.floor
    this.#start()
  }

  #start(): void {
    if (this.#isRunning || !this.#hasWork()) return
    this.#isRunning = true
    background('store commits', this.#parts.settings.log, never, () => this.#run())
  }

  /** Resolves when the log's history begins at `floor` or later. */
  async trimmed(floor: Revision): Promise<void> {
    this.wake()
    while (this.#parts.timeline.history.logFloor < floor) {
      if (this.#closing.signal.aborted) throw closed()
      await this.#commitEnded()
    }
  }

  /** Takes no more writes and resolves when those that were taken are answered. The log stays open. */
  async settle(): Promise<void> {
    this.#closing.abort(closed())
    while (this.#isRunning) await this.#commitEnded()
  }

  #refusal(): Error | undefined {
    const { queuedWrites, queuedBytes } = this.#parts.settings
    if (this.#closing.signal.aborted) return closed()
    if (this.#fault !== undefined) return notTaken(this.#fault)
    if (this.#queue.length < queuedWrites && this.#queuedBytes < queuedBytes) return undefined
    return tooManyRequests('too many writes are waiting for the store', 1)
  }

  #commitEnded(): Promise<void> {
    return new Promise(resolve => this.#watching.add(resolve))
  }

  async #run(): Promise<void> {
    while (this.#hasWork()) {
      // Requests that arrive in the same turn share the commit.
      await turn()
      await this.#parts.hub.ready()
      await this.#commit(this.#take())
      this.#parts.hub.expect(this.#queue.length > 0)
      this.#tell()
    }
    this.#isRunning = false
    this.#tell()
  }

  #tell(): void {
    const told = [...this.#watching]
    this.#watching.clear()
    for (const resolve of told) resolve()
  }

  #hasWork(): boolean {
    if (this.#isBroken) return false
    if (this.#queue.length > 0) return true
    return this.#parts.timeline.history.logFloor < this.#dropTo && !this.#closing.signal.aborted
  }

  #take(): readonly Waiter[] {
    let bytes = 0
    let count = 0
    for (const { write } of this.#queue) {
      bytes += write.body?.length ?? 0
      if (count === maxBatchWrites || (count > 0 && bytes > maxBatchBytes)) break
      count++
    }
    const taken = this.#queue.splice(0, count)
    for (const { write } of taken) this.#queuedBytes -= write.body?.length ?? 0
    return taken
  }

  async #commit(waiters: readonly Waiter[]): Promise<void> {
    const { timeline, settings, instruments } = this.#parts
    try {
      const startedAt = settings.clock.now()
      const batch = new Batch(timeline, this.#next, startedAt)
      const outcomes = waiters.map(waiter => batch.add(waiter.write))
      this.#next = batch.next
      await this.#write(batch, waiters)
      const events = batch.records.map(record => timeline.apply(record))
      this.#finish(events)
      const objects = events.map(event => event.object)
      for (const [index, waiter] of waiters.entries()) answer(waiter, outcomes[index], objects)
      instruments.committed(events.length, settings.clock.now() - startedAt)
    } catch (thrown) {
      await this.#fail(waiters, thrown)
    }
  }

  async #write(batch: Batch, waiters: readonly Waiter[]): Promise<void> {
    const { settings, timeline } = this.#parts
    const { history } = timeline
    const writes = batch.entries.length
    const drop = history.nextDrop(writes === 0 ? dropsWithoutWrites : Math.max(minDropsPerCommit, 2 * writes))
    if (writes === 0 && drop === undefined) return
    const { revisions, start } = drop ?? { revisions: [], start: undefined }
    const answered = settings.clock.after(settings.stallMs, () => this.#stall(waiters))
    try {
      await this.#log.write({ append: batch.entries, drop: revisions, ...(start && { start }) })
    } finally {
      answered()
    }
    if (this.#fault !== undefined) this.#heal()
    if (drop !== undefined) history.dropped(drop)
  }

  /** What is durable and in the timeline goes out to the watchers. */
  #finish(events: readonly StoreEvent[]): void {
    if (events.length === 0) return
    const { timeline, hub, instruments, settings } = this.#parts
    hub.publish(events, timeline.revision)
    instruments.cut(timeline.cut({ maxBytes: settings.historyBytes, maxEvents: settings.historyEvents }))
  }

  #stall(waiters: readonly Waiter[]): void {
    const { log, stallMs } = this.#parts.settings
    log.error('store write hangs', { writes: waiters.length, sinceMs: stallMs })
    this.#refuse(waiters, hangs)
  }

  async #fail(waiters: readonly Waiter[], thrown: unknown): Promise<void> {
    const { settings, instruments } = this.#parts
    this.#isBroken = true
    instruments.failed()
    settings.log.error('store write failed', { writes: waiters.length, error: errorText(thrown) })
    this.#refuse(waiters, diskFault(thrown))
    await this.#reopen()
  }

  /** Nobody knows of the batch under way; what waits behind it was not begun. */
  #refuse(underWay: readonly Waiter[], fault: string): void {
    this.#fault = fault
    const unknown = unavailable(
      `the store failed to write, ${fault}: it is unknown whether the change was made`,
    )
    for (const waiter of underWay) waiter.reject(unknown)
    for (const waiter of this.#queue.splice(0)) waiter.reject(notTaken(fault))
    this.#queuedBytes = 0
  }

  #heal(): void {
    this.#fault = undefined
    this.#parts.settings.log.info('store writes again', { revision: this.#parts.timeline.revision })
  }

  async #reopen(): Promise<void> {
    const { log, clock } = this.#parts.settings
    const { signal } = this.#closing
    for (let delayMs = firstReopenMs; !signal.aborted; delayMs = Math.min(2 * delayMs, maxReopenMs)) {
      try {
        await this.#log.close()
        await sleep(clock, delayMs, signal)
        this.#log = await this.#parts.openLog()
        await this.#catchUp()
        await this.#parts.settings.onWhole()
        this.#isBroken = false
        this.#heal()
        return
      } catch (thrown) {
        this.#fault = diskFault(thrown)
        if (!signal.aborted) log.error('store cannot be opened again', { error: errorText(thrown), delayMs })
      }
    }
  }

  /** Takes in what the log holds beyond the timeline, once it is sure that it holds all that was answered. */
  async #catchUp(): Promise<void> {
    const { timeline } = this.#parts
    await audit(this.#log, timeline)
    const { start } = this.#log
    // What the failed commit was to drop may be gone already.
    if (start.floor > timeline.history.logFloor) timeline.history.dropped({ revisions: [], start })
    const events: StoreEvent[] = []
    try {
      for await (const entries of this.#log.scan(timeline.revision)) {
        for (const entry of entries) events.push(timeline.restore(entry))
      }
    } finally {
      this.#finish(events)
    }
    this.#next = Math.max(this.#next, timeline.revision + 1)
  }
}

function answer(
  waiter: Waiter,
  outcome: Parameters<typeof resultOf>[0] | undefined,
  objects: readonly StoredObject[],
): void {
  if (outcome !== undefined) waiter.resolve(resultOf(outcome, objects))
}

function notTaken(fault: string): Error {
  return unavailable(`the store cannot write at the moment: ${fault}`)
}

function closed(): Error {
  return unavailable('the store is closed')
}
