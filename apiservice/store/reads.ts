import { badRequest, expired, internal, timedOut, unavailable } from '../../src/kernel/errors.ts'
import type {
  ListOptions,
  ListResult,
  Revision,
  Scope,
  StoredObject,
  StoreListener,
} from '../store-contract.ts'
import type { StoreSettings } from './options.ts'
import { DamagedRecord } from './record.ts'
import type { Log } from './record-log.ts'
import { Replay } from './replay.ts'
import type { Timeline, VersionRef } from './timeline.ts'
import { VersionReader } from './version-reader.ts'
import { type Watcher, WatchHub } from './watch-hub.ts'

/** Old versions that a list reads at once. */
const listStep = 256

/** Lists and watches of a timeline. */
export class Reads {
  readonly hub: WatchHub
  readonly #timeline: Timeline
  readonly #reader: VersionReader
  readonly #replay: Replay

  /** `records` answers where bodies are read that are not in memory. */
  constructor(
    timeline: Timeline,
    records: () => Pick<Log, 'read'>,
    { steadyClock, log }: Pick<StoreSettings, 'steadyClock' | 'log'>,
  ) {
    this.#timeline = timeline
    this.hub = new WatchHub(log, steadyClock, timeline.revision)
    this.#reader = new VersionReader(timeline, records)
    this.#replay = new Replay(timeline, this.#reader, this.hub, log)
  }

  async list(scope: Scope, options: ListOptions): Promise<ListResult> {
    if (options.after !== undefined && !scope.resources.includes(options.after.resource)) {
      throw badRequest(
        `a list of ${scope.resources.join(', ')} cannot go on behind ${options.after.resource}`,
      )
    }
    const newest = this.#timeline.revision
    const revision = options.revision ?? newest
    if (revision > newest) throw tooLargeRevision(revision, newest)
    if (revision < newest) this.#mustBeKept(revision)
    if (this.#timeline.isSameSince(scope, revision)) {
      return { revision, ...this.#timeline.newest(scope, options) }
    }
    const page = this.#timeline.pageAt(revision, scope, options)
    return { revision, items: await this.#loadAt(revision, page.items), remaining: page.remaining }
  }

  /** Every object of every resource. */
  all(): Promise<ListResult> {
    return this.list({ resources: this.#timeline.resources, namespace: '' }, { limit: 0 })
  }

  watch(scope: Scope, after: Revision, listener: StoreListener): () => void {
    const watcher: Watcher = { scope, listener, position: after, isStopped: false }
    this.hub.add(watcher)
    this.#replay.start(watcher)
    return () => this.hub.remove(watcher)
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

  #mustBeKept(revision: Revision): void {
    if (revision >= this.#timeline.history.floor) return
    throw expired('The resourceVersion for the provided list is too old.')
  }
}

/** What kube-apiserver answers when asked about a revision that lies ahead. */
function tooLargeRevision(revision: Revision, newest: Revision): Error {
  const cause = { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }
  return timedOut(`Timeout: Too large resource version: ${revision}, current: ${newest}`, 1, [cause])
}
