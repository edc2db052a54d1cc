import { background, errorText } from '../../src/kernel/abort.ts'
import { badRequest, expired, internal, timedOut, tooLarge, unavailable } from '../../src/kernel/errors.ts'
import { turn } from '../../src/kernel/turn.ts'
import { every } from '../../src/kernel/work-queue.ts'
import type {
  Guard,
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
import { DamagedRecord, isStorableKey } from './record.ts'
import type { Log } from './record-log.ts'
import { Replay } from './replay.ts'
import { Timeline, type VersionRef } from './timeline.ts'
import { VersionReader } from './version-reader.ts'
import { type Watcher, WatchHub } from './watch-hub.ts'

/** How often old changes are forgotten and idle watches hear how far the store has come. */
const housekeepingMs = 5000
const maxBodyBytes = 8 * 1024 * 1024
/** Changes that are forgotten before other work gets its turn. */
const forgetStep = 2000
/** Old versions that a list reads at once. */
const listStep = 256

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
  readonly #hub: WatchHub
  readonly #reader: VersionReader
  readonly #replay: Replay
  readonly #committer: Committer
  readonly #closing = new AbortController()
  #closed: Promise<void> | undefined
  #reached: Revision
  #noting: Promise<void> | undefined

  constructor(log: Log, timeline: Timeline, settings: StoreSettings, openLog: () => Promise<Log>) {
    this.#settings = settings
    this.#timeline = timeline
    this.#reached = log.reached
    const hub = new WatchHub(settings.log, timeline.revision)
    this.#hub = hub
    const instruments = new StoreInstruments(
      settings.metrics,
      timeline,
      hub,
      () => this.fault() === undefined,
    )
    this.#committer = new Committer(log, { settings, timeline, hub, instruments, openLog })
    this.#reader = new VersionReader(timeline, () => this.#committer.log)
    this.#replay = new Replay(timeline, this.#reader, hub, settings.log)
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

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    this.#mustBeOpen()
    return this.#timeline.current(key)
  }

  async list(scope: Scope, options: ListOptions): Promise<ListResult> {
    this.#mustBeOpen()
    if (options.after !== undefined && !scope.resources.includes(options.after.resource)) {
      throw badRequest(
        `a list of ${scope.resources.join(', ')} cannot go on behind ${options.after.resource}`,
      )
    }
    const newest = this.#timeline.revision
    const revision = options.revision ?? newest
    if (revision === newest) return { revision, ...this.#timeline.newest(scope, options) }
    if (revision > newest) throw tooLargeRevision(revision, newest)
    this.#mustBeKept(revision)
    const page = this.#timeline.pageAt(revision, scope, options)
    return { revision, items: await this.#loadAt(revision, page.items), remaining: page.remaining }
  }

  snapshot(): Promise<ListResult> {
    return this.list({ resources: this.#timeline.resources, namespace: '' }, { limit: 0 })
  }

  watch(scope: Scope, after: Revision, listener: StoreListener): () => void {
    const watcher: Watcher = { scope, listener, position: after, isStopped: false }
    this.#hub.add(watcher)
    this.#replay.start(watcher)
    return () => this.#hub.remove(watcher)
  }

  create(key: ObjectKey, body: Buffer, guard?: Guard): Promise<WriteResult> {
    return this.#write({ verb: 'create', key, body, guard })
  }

  update(key: ObjectKey, expected: Revision, body: Buffer, guard?: Guard): Promise<WriteResult> {
    return this.#write({ verb: 'update', key, expected, body, guard })
  }

  delete(key: ObjectKey, expected: Revision, body?: Buffer, guard?: Guard): Promise<WriteResult> {
    return this.#write({ verb: 'delete', key, expected, body, guard })
  }

  async compact(revision: Revision): Promise<void> {
    this.#mustBeOpen()
    const floor = Math.min(revision, this.#timeline.revision)
    while (this.#timeline.forget(floor, forgetStep) === forgetStep) await turn()
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
    await this.#hub.drained()
    this.#hub.close()
    await this.#committer.log.close()
  }

  async #write(write: Write): Promise<WriteResult> {
    if (!isStorableKey(write.key))
      throw badRequest('the name of the object is too long or is not valid Unicode')
    if ((write.body?.length ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes)
    return this.#committer.submit(write)
  }

  async #loadAt(revision: Revision, versions: readonly VersionRef[]): Promise<readonly StoredObject[]> {
    const items: StoredObject[] = []
    for (let from = 0; from < versions.length; from += listStep) {
      for (const object of await this.#load(versions.slice(from, from + listStep))) {
        if (object !== undefined) items.push(object)
      }
      this.#mustBeKept(revision)
    }
    if (items.length < versions.length) throw internal(`the store lacks objects of revision ${revision}`)
    return items
  }

  async #load(versions: readonly VersionRef[]): Promise<readonly (StoredObject | undefined)[]> {
    try {
      return await this.#reader.load(versions)
    } catch (thrown) {
      if (thrown instanceof DamagedRecord) throw internal('the store is damaged', thrown)
      // The log is closed or being opened again.
      throw unavailable('the store cannot read older versions at the moment')
    }
  }

  async #keepHouse(): Promise<void> {
    const { clock, historyMs } = this.#settings
    const time = clock.now() - historyMs
    while (this.#timeline.forgetBefore(time, forgetStep) === forgetStep) await turn()
    this.#committer.wake()
    this.#hub.progress()
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

  #mustBeKept(revision: Revision): void {
    if (revision >= this.oldest()) return
    throw expired('The resourceVersion for the provided list is too old.')
  }
}

/** What kube-apiserver answers when asked about a revision that lies ahead. */
function tooLargeRevision(revision: Revision, newest: Revision): Error {
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }
  return timedOut(`Timeout: Too large resource version: ${revision}, current: ${newest}`, 1, [cause])
}
