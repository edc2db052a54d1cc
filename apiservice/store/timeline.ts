import { turn } from '../../src/kernel/turn.ts'
import type { ListOptions, ObjectKey, Revision, Scope, StoredObject, StoreEvent } from '../store-contract.ts'
import { History, type HistoryLimits } from './history.ts'
import { NewestPages, type Page } from './newest-pages.ts'
import { ObjectIndex, type Slot, type Version } from './object-index.ts'
import { DamagedRecord, decodeRecord, type LogRecord } from './record.ts'
import type { LogEntry, LogStart } from './record-log.ts'
import { VersionCache } from './version-cache.ts'

/** A version of which only the log may still have the body. */
export type VersionRef = { readonly slot: Slot; readonly revision: Revision }

/**
 * The durable state in memory: every object, and which versions of it are kept, at one revision. Bodies of replaced
 * versions are left to the log, except for the last few.
 */
export class Timeline {
  readonly history: History
  readonly #index = new ObjectIndex()
  readonly #newest = new NewestPages()
  readonly #cache: VersionCache
  #revision: Revision
  #at = 0
  #objects = 0

  constructor(start: LogStart, cacheBytes: number) {
    this.history = new History(start)
    this.#revision = start.floor
    this.#cache = new VersionCache(cacheBytes)
  }

  get revision(): Revision {
    return this.#revision
  }

  get objects(): number {
    return this.#objects
  }

  /** Keys of objects and of deletions that are kept. */
  get keys(): number {
    return this.#index.size
  }

  /** Of all objects and kept deletions, sorted. */
  get resources(): readonly string[] {
    return this.#index.resources
  }

  /** When the newest change was made, or the given time if that is later: recorded times never go back. */
  notBefore(now: number): number {
    return Math.max(now, this.#at)
  }

  current(key: ObjectKey): StoredObject | undefined {
    return this.#index.find(key)?.current
  }

  /** The version that a change of an object has made, as long as it is in memory. */
  version(key: ObjectKey, revision: Revision): StoredObject | undefined {
    const slot = this.#index.find(key)
    return slot && this.recall({ slot, revision })
  }

  /** Nothing has changed up to a revision. */
  advance(revision: Revision): void {
    this.#revision = Math.max(this.#revision, revision)
  }

  /** Takes in the next record of the log, as it was written or read. */
  apply(record: LogRecord): StoreEvent {
    const slot = this.#index.obtain(record.key)
    const previous = slot.current
    const object: StoredObject = {
      revision: record.revision,
      resource: slot.resource,
      namespace: slot.namespace,
      name: slot.name,
      body: record.body,
    }
    const isKept = record.revision > this.history.floor
    this.#newest.changed(slot.resource, record.revision)
    this.#index.put(slot, record.type === 'PUT' ? object : undefined, isKept ? record.revision : undefined)
    this.#objects += Number(record.type === 'PUT') - Number(previous !== undefined)
    if (previous !== undefined) this.#cache.add(previous)
    if (record.type === 'DELETE') this.#cache.add(object)
    if (isKept) this.#remember(slot, record, previous)
    this.#revision = Math.max(this.#revision, record.revision)
    this.#at = Math.max(this.#at, record.at)
    return { type: record.type, object, previous }
  }

  /** Takes in what a log holds, and checks that nothing of it is missing. Throws `DamagedRecord`. */
  restore(entry: LogEntry): StoreEvent {
    const record = decodeRecord(entry.revision, entry.value)
    const { floor } = this.history
    const isKept = entry.revision > floor
    const isFirst = this.#revision === floor && record.before <= floor
    if (isKept && !isFirst && record.before !== this.#revision) {
      throw new DamagedRecord(entry.revision, `follows ${record.before}, which is missing`)
    }
    if ((this.current(record.key)?.revision ?? 0) !== (isKept ? record.previous : 0)) {
      throw new DamagedRecord(entry.revision, `replaces ${record.previous}, which is missing`)
    }
    return this.apply(record)
  }

  /** Forgets changes up to a revision, at most `max`; answers how many. */
  forget(revision: Revision, max: number): number {
    return this.#release(this.history.forget(revision, max))
  }

  /** Forgets all changes up to a revision, step by step. */
  async forgetAll(revision: Revision): Promise<void> {
    while (this.forget(revision, forgetStep) === forgetStep) await turn()
  }

  /** Forgets all changes from before a time, step by step. */
  async forgetBefore(time: number): Promise<void> {
    while (this.#release(this.history.forgetBefore(time, forgetStep)) === forgetStep) await turn()
  }

  /** Forgets the oldest changes until the limits hold; answers how many. */
  cut(limits: HistoryLimits): number {
    return this.#release(this.history.cut(limits))
  }

  /** What a list shows now. */
  newest(scope: Scope, options: ListOptions): Page<StoredObject> {
    return this.#newest.page(scope, options, () => {
      const items: StoredObject[] = []
      const remaining = this.#index.page(this.#revision, scope, options, ({ current }) => {
        if (current !== undefined) items.push(current)
      })
      return { items, remaining }
    })
  }

  /** Whether a list shows now what it has shown at an earlier revision. */
  isSameSince(scope: Scope, revision: Revision): boolean {
    return this.#newest.isSameSince(scope, revision)
  }

  /** What a list shows at a kept revision. */
  pageAt(revision: Revision, scope: Scope, options: ListOptions): Page<VersionRef> {
    const items: VersionRef[] = []
    const remaining = this.#index.page(revision, scope, options, slot => {
      items.push({ slot, revision: revisionAt(slot, revision) })
    })
    return { items, remaining }
  }

  /** The next changes of a scope after a kept revision; nothing of it lies between the last one and `through`. */
  changesAfter(
    revision: Revision,
    scope: Scope,
  ): { readonly changes: readonly Version[]; readonly through: Revision } {
    const changes: Version[] = []
    let through = this.#revision
    let seen = 0
    let bytes = 0
    this.history.walk(revision, version => {
      if (isIn(scope, version.slot)) {
        changes.push(version)
        bytes += version.size + version.bytes
      }
      seen++
      const isEnough = changes.length >= stepEvents || bytes >= stepBytes || seen >= stepSeen
      if (isEnough) through = version.revision
      return !isEnough
    })
    return { changes, through }
  }

  /** The body of a version if it is in memory. */
  recall(version: VersionRef): StoredObject | undefined {
    const { current } = version.slot
    return current?.revision === version.revision ? current : this.#cache.get(version.revision)
  }

  /** Keeps for a while what was read from the log. */
  cache(object: StoredObject): void {
    this.#cache.add(object)
  }

  #remember(slot: Slot, record: LogRecord, previous: StoredObject | undefined): void {
    const isUpdate = record.type === 'PUT' && previous !== undefined
    const version: Version = {
      slot,
      type: record.type,
      revision: record.revision,
      previous: previous?.revision ?? 0,
      at: record.at,
      size: record.body.length,
      bytes:
        (isUpdate ? entryBytes : entryBytes + keysBytes) +
        (previous?.body.length ?? 0) +
        (record.type === 'DELETE' ? record.body.length : 0),
      older: slot.newest,
    }
    slot.newest = version
    this.history.push(version)
  }

  #release(gone: readonly Version[]): number {
    for (const version of gone) {
      const { slot } = version
      version.older = undefined
      if (slot.newest === version) slot.newest = undefined
      if (version.previous !== 0) this.#cache.delete(version.previous)
      if (version.type === 'DELETE') this.#cache.delete(version.revision)
      this.#index.forget(version)
    }
    return gone.length
  }
}

/** Changes that are forgotten before other work gets its turn. */
const forgetStep = 2000

/** How much of the history is gone through at once. */
const stepEvents = 256
const stepBytes = 4 * 1024 * 1024
const stepSeen = 10_000

function isIn(scope: Scope, slot: Slot): boolean {
  return (
    scope.resources.includes(slot.resource) && (scope.namespace === '' || scope.namespace === slot.namespace)
  )
}

/** What a kept change costs beside the bodies. */
const entryBytes = 200
/** What it costs to know which keys there were before a creation or deletion. */
const keysBytes = 400

/** The version of an object that was current at a kept revision, 0 for none. */
function revisionAt(slot: Slot, revision: Revision): Revision {
  if (slot.newest === undefined) return slot.current?.revision ?? 0
  let version = slot.newest
  while (version.revision > revision) {
    if (version.older === undefined) return version.previous
    version = version.older
  }
  return version.type === 'PUT' ? version.revision : 0
}
