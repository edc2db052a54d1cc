/**
 * A store in etcd. Every server keeps all objects and the history in memory, fed by one watch, so that lists, pages and
 * watches cost what they cost on a disk of its own. A write is a transaction of etcd that compares one key, and is
 * answered when memory has seen it. A read first learns etcd's newest revision and waits until memory is there, so that
 * what any server has answered is seen on every other one.
 */
import { background, errorText, sleep, unlessAborted, within } from '../../../src/kernel/abort.ts'
import { StatusError, unavailable } from '../../../src/kernel/errors.ts'
import { every } from '../../../src/kernel/work-queue.ts'
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
} from '../../store-contract.ts'
import type { Write } from '../batch.ts'
import { StoreInstruments } from '../instruments.ts'
import { writeVerbs } from '../write-verbs.ts'
import { Barrier } from './barrier.ts'
import type { Claim } from './claim.ts'
import { Compaction } from './compaction.ts'
import { Feed } from './feed.ts'
import { type Loaded, type LoadParts, load, mustBeThere } from './loading.ts'
import { requireKnown } from './markers.ts'
import type { WatchedEvent } from './messages.ts'
import { Progress } from './progress.ts'
import type { Replica } from './replica.ts'
import { full, Writes } from './writes.ts'

/** How often old changes are forgotten and idle watches hear how far the store has come. */
const housekeepingMs = 5_000
const retryMs = 500
/** How long a read or an answered write waits for memory to be there. */
const seenWithinMs = 8_000

export class EtcdStore implements Store {
  readonly create: Store['create']
  readonly update: Store['update']
  readonly delete: Store['delete']
  readonly #parts: LoadParts
  readonly #progress: Progress
  readonly #feed: Feed
  readonly #barrier: Barrier
  readonly #claim: Claim | undefined
  readonly #writes: Writes
  readonly #instruments: StoreInstruments
  /** No more is taken; what was taken goes on until `stop`. */
  readonly #closing = new AbortController()
  readonly #stop = new AbortController()
  #replica: Replica
  #compaction: Compaction
  #closed: Promise<void> | undefined
  /** Why the last write was not made, as far as it lies with etcd. */
  #writeFault: string | undefined
  /** Until its alarm is off; deletions are done all the same. */
  #isFull: boolean = false

  /** Without a claim it is for those who change nothing that others rely on. */
  constructor(parts: LoadParts, { replica, mark }: Loaded, claim?: Claim) {
    const { client, layout, settings } = parts
    const { log, clock, metrics } = settings
    this.#parts = parts
    this.#claim = claim
    this.#replica = replica
    this.#compaction = new Compaction(parts, mark)
    this.#progress = new Progress(client.clock)
    this.#progress.advance(mark.floor)
    this.#instruments = new StoreInstruments(
      metrics,
      () => ({ timeline: this.#replica.timeline, hub: this.#replica.reads.hub }),
      () => this.fault() === undefined,
    )
    this.#feed = new Feed({
      client,
      range: layout.all,
      progress: this.#progress,
      log,
      take: events => this.#take(events),
      startOver: why => this.#startOver(why),
    })
    this.#barrier = new Barrier(() => this.#newest())
    this.#writes = this.#makeWrites()
    const { create, update, delete: remove } = writeVerbs(write => this.#write(write))
    this.create = create
    this.update = update
    this.delete = remove
    const { signal } = this.#closing
    background('watch of etcd', log, this.#stop.signal, stopped => this.#feed.run(stopped))
    const memory = { name: 'store housekeeping', intervalMs: housekeepingMs, clock, log }
    background(memory.name, log, signal, () => every(memory, () => this.#keepHouse(), signal))
    const etcd = { name: 'look after etcd', intervalMs: housekeepingMs, clock, log }
    background(etcd.name, log, signal, () => every(etcd, () => this.#lookAfter(), signal))
  }

  revision(): Revision {
    return this.#replica.timeline.revision
  }

  oldest(): Revision {
    return this.#replica.timeline.history.floor
  }

  fault(): string | undefined {
    return this.#unwritable ?? (this.#isFull ? full : this.#writeFault)
  }

  async get(key: ObjectKey): Promise<StoredObject | undefined> {
    await this.current()
    return this.#replica.timeline.current(key)
  }

  async list(scope: Scope, options: ListOptions): Promise<ListResult> {
    this.#mustBeOpen()
    // What was at a revision that memory has does not change any more.
    if (options.revision === undefined || options.revision > this.revision()) await this.current()
    return this.#replica.reads.list(scope, options)
  }

  async snapshot(): Promise<ListResult> {
    await this.current()
    return this.#replica.reads.all()
  }

  watch(scope: Scope, after: Revision, listener: StoreListener): () => void {
    return this.#replica.reads.watch(scope, after, listener)
  }

  async compact(revision: Revision): Promise<void> {
    this.#mustBeOpen()
    const floor = Math.min(revision, this.revision())
    await this.#replica.forget(floor)
    await this.current()
    try {
      await this.#compaction.to(floor, this.#closing.signal)
    } catch (thrown) {
      throw unavailable(`the store cannot be compacted at the moment, etcd: ${errorText(thrown)}`)
    }
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** Resolves when memory is there for the first time. Throws when etcd opens no watch in time. */
  async opened(withinMs: number): Promise<void> {
    const late = (): Error =>
      new Error(this.#feed.fault ?? `etcd has opened no watch within ${withinMs / 1000} s`)
    await within(this.#parts.client.clock, withinMs, late, signal => unlessAborted(this.#feed.opened, signal))
    await this.current()
  }

  /** Resolves when everything that any server has answered is in memory. */
  async current(): Promise<void> {
    this.#mustBeOpen()
    try {
      await this.#feed.reached(await this.#barrier.newest(), seenWithinMs)
      this.#replica.isLive = true
    } catch (thrown) {
      this.#mustBeOpen()
      if (thrown instanceof StatusError) throw thrown
      throw unavailable(`the store cannot read at the moment, etcd: ${errorText(thrown)}`)
    }
  }

  /** Why etcd need not be asked. */
  get #unwritable(): string | undefined {
    return this.#feed.fault ?? this.#claim?.fault
  }

  #makeWrites(): Writes {
    const { client, layout, settings } = this.#parts
    return new Writes({
      client,
      layout,
      settings,
      claim: () => this.#claim?.condition,
      seen: revision => this.#progress.reached(revision, seenWithinMs),
      version: (key, revision) => this.#replica.timeline.version(key, revision),
      current: key => this.get(key),
      committed: durationMs => {
        this.#writeFault = undefined
        this.#instruments.committed(1, durationMs)
      },
      failed: why => {
        if (why === full) this.#isFull = true
        else this.#writeFault = why
        this.#instruments.failed()
      },
    })
  }

  async #close(): Promise<void> {
    this.#closing.abort(new Error('the store is closed'))
    // What was written is still to be seen.
    await this.#writes.settled()
    this.#stop.abort()
    const { hub } = this.#replica.reads
    await hub.drained()
    hub.close()
    await this.#claim?.release()
    this.#parts.client.close()
  }

  async #write(write: Write): Promise<WriteResult> {
    this.#mustBeOpen()
    const fault = this.#unwritable
    if (fault !== undefined) throw unavailable(`the store cannot write at the moment: ${fault}`)
    return this.#writes.submit(write)
  }

  /** etcd's newest revision. One that lies before what memory holds was put back from a backup. */
  async #newest(): Promise<Revision> {
    const { client, layout } = this.#parts
    const { revision: before, epoch } = this.#progress
    const { newest } = await client.range({ key: layout.format, countOnly: true }, this.#closing.signal)
    if (newest < before) this.#feed.lose(`etcd went back from revision ${before} to ${newest}`, epoch)
    return newest
  }

  async #take(events: readonly WatchedEvent[]): Promise<void> {
    const { timeline, reads } = this.#replica
    const made = this.#replica.take(events)
    const marked = this.#takeMarks(events)
    if (made.length > 0 || marked) reads.hub.publish(made, timeline.revision)
    this.#instruments.cut(this.#replica.cut())
    await reads.hub.ready()
  }

  /** Whether the revision has risen without a change of an object. */
  #takeMarks(events: readonly WatchedEvent[]): boolean {
    const { layout, settings } = this.#parts
    const { timeline } = this.#replica
    const before = timeline.revision
    for (const event of events) {
      if (event.key.equals(layout.format)) requireKnown(event.value, this.#parts)
      if (event.isDeletion || !event.key.equals(layout.floor)) continue
      this.#compaction.take(event)
      // Where others have compacted more than there are changes of ours, it is the revision of every server.
      timeline.advance(this.#compaction.floor)
    }
    const { floor } = this.#compaction
    if (floor > timeline.history.floor) {
      background('forget history', settings.log, this.#closing.signal, () => this.#replica.forget(floor))
    }
    return timeline.revision > before && events.every(({ revision }) => revision !== timeline.revision)
  }

  /** Reads everything again; nobody knows what those who watch have missed. */
  async #startOver(why: string): Promise<void> {
    const { settings, client } = this.#parts
    const { signal } = this.#stop
    const old = this.#replica
    while (!signal.aborted) {
      try {
        const { replica, mark } = await load(this.#parts, signal, mustBeThere)
        this.#replica = replica
        this.#compaction = new Compaction(this.#parts, mark)
        this.#progress.restart(mark.floor)
        old.reads.hub.expire()
        settings.log.warn('store was read again', { why, revision: mark.floor })
        return
      } catch (thrown) {
        if (!signal.aborted) settings.log.warn('store cannot be read again', { error: errorText(thrown) })
      }
      await sleep(client.clock, retryMs, signal)
    }
  }

  async #keepHouse(): Promise<void> {
    await this.#replica.forgetOld()
    this.#replica.reads.hub.progress()
  }

  /** Compacts it; and finds out whether it takes writes again, also when nobody sends one any more. */
  async #lookAfter(): Promise<void> {
    // The floor of an etcd that was put back does not come from memory.
    await this.current()
    await this.#compaction.follow(this.oldest(), this.#closing.signal)
    const { errors } = await this.#parts.client.status(this.#closing.signal)
    this.#isFull = errors.some(error => error.includes('NOSPACE'))
    this.#writeFault = undefined
  }

  #mustBeOpen(): void {
    if (this.#closing.signal.aborted) throw unavailable('the store is closed')
  }
}
