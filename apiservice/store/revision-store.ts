import { background, errorText } from '../../src/kernel/abort.ts'
import { tooLarge, unavailable } from '../../src/kernel/errors.ts'
import { every } from '../../src/kernel/work-queue.ts'
import type {
  ListOptions,
  ListResult,
  ObjectKey,
  Revision,
  Scope,
  Store,
  StoredObject,
  StoreListener,
  WriteResult,
} from '../store-contract.ts'
import type { Write } from './batch.ts'
import { Committer } from './committer.ts'
import { StoreInstruments } from './instruments.ts'
import { type StoreOptions, type StoreSettings, withDefaults } from './options.ts'
import { Reads } from './reads.ts'
import { DamagedRecord } from './record.ts'
import type { Log } from './record-log.ts'
import { Timeline } from './timeline.ts'
import { writeVerbs } from './write-verbs.ts'

/** How often old changes are forgotten and idle watches hear how far the store has come. */
const housekeepingMs = 5000
const maxBodyBytes = 8 * 1024 * 1024

/**
 * Opens a store on a log. `openLog` is called again after a failure of the log. Throws `DamagedRecord` when the log lacks
 * something that was once answered, as far as that can be told.
 */
export async function openRevisionStore(openLog: () => Promise<Log>, options: StoreOptions): Promise<Store> {
  const settings = withDefaults(options)
  const log = await openLog()
  try {
    const timeline = await readTimeline(log, settings)
    return new RevisionStore(log, timeline, settings, openLog)
  } catch (thrown) {
    await log.close()
    throw thrown
  }
}

async function readTimeline(log: Log, settings: StoreSettings): Promise<Timeline> {
  const { floor, live } = log.start
  const timeline = new Timeline(log.start, settings.cacheBytes)
  let missing = live
  for await (const entries of log.scan(0)) {
    for (const entry of entries) {
      timeline.restore(entry)
      if (entry.revision <= floor) missing--
    }
  }
  if (timeline.revision < log.reached) {
    throw new DamagedRecord(log.reached, 'was there once, as all before it, and is missing')
  }
  if (missing !== 0) throw new DamagedRecord(floor, `should see ${live} objects, not ${live - missing}`)
  return timeline
}

class RevisionStore implements Store {
  readonly #settings: StoreSettings
  readonly #timeline: Timeline
  readonly #reads: Reads
  readonly #committer: Committer
  readonly create: Store['create']
  readonly update: Store['update']
  readonly delete: Store['delete']
  readonly #closing = new AbortController()
  #closed: Promise<void> | undefined
  #reached: Revision
  #noting: Promise<void> | undefined

  constructor(log: Log, timeline: Timeline, settings: StoreSettings, openLog: () => Promise<Log>) {
    this.#settings = settings
    this.#timeline = timeline
    this.#reached = log.reached
    this.#reads = new Reads(timeline, () => this.#committer.log, settings)
    const { hub } = this.#reads
    const instruments = new StoreInstruments(
      settings.metrics,
      () => ({ timeline, hub }),
      () => this.fault() === undefined,
    )
    this.#committer = new Committer(log, { settings, timeline, hub, instruments, openLog })
    const { create, update, delete: remove } = writeVerbs(write => this.#write(write))
    this.create = create
    this.update = update
    this.delete = remove
    const { clock } = settings
    const loop = { name: 'store housekeeping', intervalMs: housekeepingMs, clock, log: settings.log }
    background(loop.name, settings.log, this.#closing.signal, signal =>
      every(loop, () => this.#keepHouse(), signal),
    )
  }

  revision(): Revision {
    return this.#timeline.revision
  }

  oldest(): Revision {
    return this.#timeline.history.floor
  }

  fault(): string | undefined {
    return this.#committer.fault
  }

  get(key: ObjectKey): StoredObject | undefined {
    this.#mustBeOpen()
    return this.#timeline.current(key)
  }

  async list(scope: Scope, options: ListOptions): Promise<ListResult> {
    this.#mustBeOpen()
    return this.#reads.list(scope, options)
  }

  async snapshot(): Promise<ListResult> {
    this.#mustBeOpen()
    return this.#reads.all()
  }

  watch(scope: Scope, after: Revision, listener: StoreListener): () => void {
    return this.#reads.watch(scope, after, listener)
  }

  async compact(revision: Revision): Promise<void> {
    this.#mustBeOpen()
    const floor = Math.min(revision, this.#timeline.revision)
    await this.#timeline.forgetAll(floor)
    await this.#committer.trimmed(floor)
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    this.#closing.abort(new Error('the store is closed'))
    await this.#committer.settle()
    await this.#noting
    await this.#noteReached()
    await this.#reads.hub.drained()
    this.#reads.hub.close()
    await this.#committer.log.close()
  }

  #write(write: Write): Promise<WriteResult> {
    if ((write.body?.length ?? 0) > maxBodyBytes) return Promise.reject(tooLarge(maxBodyBytes))
    return this.#committer.submit(write)
  }

  async #keepHouse(): Promise<void> {
    const { clock, historyMs } = this.#settings
    await this.#timeline.forgetBefore(clock.now() - historyMs)
    this.#committer.wake()
    this.#reads.hub.progress()
    this.#noting ??= this.#noteReached().finally(() => {
      this.#noting = undefined
    })
  }

  /** So that what is cut off the end of the log later is missed. Never rejects; one at a time. */
  async #noteReached(): Promise<void> {
    const { revision } = this.#timeline
    if (revision === this.#reached || this.#committer.fault !== undefined) return
    try {
      await this.#committer.log.noteReached(revision)
      this.#reached = revision
    } catch (thrown) {
      this.#settings.log.warn('store revision not noted', { revision, error: errorText(thrown) })
    }
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw unavailable('the store is closed')
  }
}
