import type { Revision, StoreEvent } from '../../store-contract.ts'
import type { StoreSettings } from '../options.ts'
import { Reads } from '../reads.ts'
import type { LogRecord } from '../record.ts'
import { Timeline } from '../timeline.ts'
import { decodeValue, type EtcdLayout } from './layout.ts'
import type { KeyValue, WatchedEvent } from './messages.ts'

/** All bodies of the history are in memory. */
const nothingElsewhere = {
  read: async (revisions: readonly Revision[]): Promise<undefined[]> => revisions.map(() => undefined),
}

/** What this server has in memory of a store in etcd: every object, and the changes since the floor. */
export class Replica {
  readonly timeline: Timeline
  readonly reads: Reads
  /** False while it takes in what happened before it was there. */
  isLive: boolean = false
  readonly #layout: EtcdLayout
  readonly #settings: StoreSettings

  constructor(floor: Revision, layout: EtcdLayout, settings: StoreSettings) {
    this.timeline = new Timeline({ floor, live: 0 }, Number.POSITIVE_INFINITY)
    this.reads = new Reads(this.timeline, () => nothingElsewhere, settings)
    this.#layout = layout
    this.#settings = settings
  }

  /** Takes in objects as they were at the floor. */
  restore(items: readonly KeyValue[]): void {
    for (const item of items) this.#put(item)
  }

  /** Takes in changes, whole revisions of them, in their order. What is no object is left out. */
  take(events: readonly WatchedEvent[]): readonly StoreEvent[] {
    const made: StoreEvent[] = []
    let last: WatchedEvent | undefined
    for (const event of events) {
      if (event.key.equals(this.#layout.last)) last = event
      const change = event.isDeletion ? this.#remove(event, last) : this.#put(event)
      if (change !== undefined) made.push(change)
    }
    return made
  }

  /** Forgets changes up to a revision. */
  async forget(revision: Revision): Promise<void> {
    await this.timeline.forgetAll(revision)
    this.#release()
  }

  /** Forgets what has been kept for long enough. */
  async forgetOld(): Promise<void> {
    const { clock, historyMs } = this.#settings
    await this.timeline.forgetBefore(clock.now() - historyMs)
    this.#release()
  }

  /** Forgets what is beyond the bounds of the history; answers how many changes. */
  cut(): number {
    const { historyBytes, historyEvents } = this.#settings
    const count = this.timeline.cut({ maxBytes: historyBytes, maxEvents: historyEvents })
    if (count > 0) this.#release()
    return count
  }

  /** There is no log that would have to drop what was forgotten. */
  #release(): void {
    const { history } = this.timeline
    const drop = history.nextDrop(Number.POSITIVE_INFINITY)
    if (drop !== undefined) history.dropped(drop)
  }

  #put({ key: at, value, revision }: KeyValue): StoreEvent | undefined {
    const key = this.#layout.objectAt(at)
    if (key === undefined) return undefined
    const written = decodeValue(value)
    if (written !== undefined) return this.#apply({ type: 'PUT', revision, key, ...written })
    this.#settings.log.error('not written by this program', { key: at.toString(), revision })
    return undefined
  }

  /** `last` is the newest value of the key of that name. */
  #remove({ key: at, revision }: KeyValue, last: KeyValue | undefined): StoreEvent | undefined {
    const key = this.#layout.objectAt(at)
    const previous = key && this.timeline.current(key)
    if (key === undefined || previous === undefined) return undefined
    const lastState = last?.revision === revision ? decodeValue(last.value) : undefined
    return this.#apply({ type: 'DELETE', revision, key, at: 0, body: previous.body, ...lastState })
  }

  /** Clocks of others may differ: what happens now happens at the time of this server. */
  #apply(change: Pick<LogRecord, 'type' | 'revision' | 'key' | 'at' | 'body'>): StoreEvent {
    const now = this.#settings.clock.now()
    const at = this.timeline.notBefore(this.isLive ? now : Math.min(change.at, now))
    return this.timeline.apply({ ...change, at, before: 0, previous: 0 })
  }
}
