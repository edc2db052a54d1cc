import { KeyMap } from '../../src/kernel/key-map.ts'
import type { Guard, ObjectKey, Revision, StoredObject, WriteResult } from '../store-contract.ts'
import { bodyOf, encodeRecord, type LogRecord } from './record.ts'
import type { LogEntry } from './record-log.ts'
import type { Timeline } from './timeline.ts'

export type Write = { readonly key: ObjectKey; readonly guard?: Guard | undefined } & (
  | { readonly verb: 'create'; readonly body: Buffer }
  | { readonly verb: 'update'; readonly body: Buffer; readonly expected: Revision }
  /** Without a body the last state is the one that is stored. */
  | { readonly verb: 'delete'; readonly body: Buffer | undefined; readonly expected: Revision }
)

/** What a write finds once its batch is durable. A version of the batch itself is the index of its record. */
export type Outcome = {
  readonly done: boolean
  readonly version: Version
  readonly isGuarded?: true
}

type Version = StoredObject | number | undefined

type Last = { readonly revision: Revision; readonly body: Buffer }

const empty = Buffer.alloc(0)

/**
 * The writes of one commit. Each is judged against the durable state and the writes before it in the batch: nothing
 * else can come between, since one batch is under way at a time.
 */
export class Batch {
  readonly entries: LogEntry[] = []
  readonly records: LogRecord[] = []
  readonly #timeline: Timeline
  readonly #at: number
  /** Which record of the batch is the last one of a key. */
  readonly #pending = new KeyMap<number>()
  #next: Revision
  #before: Revision

  constructor(timeline: Timeline, next: Revision, now: number) {
    this.#timeline = timeline
    this.#next = next
    this.#before = timeline.revision
    this.#at = timeline.notBefore(now)
  }

  /** The first revision that the batch has not used. */
  get next(): Revision {
    return this.#next
  }

  add(write: Write): Outcome {
    const { guard } = write
    if (guard !== undefined && this.#current(this.#find(guard.key))?.revision !== guard.revision) {
      return { done: false, version: undefined, isGuarded: true }
    }
    const version = this.#find(write.key)
    const current = this.#current(version)
    const isExpected = write.verb === 'create' ? current === undefined : current?.revision === write.expected
    if (!isExpected) return { done: false, version }
    return { done: true, version: this.#append(write, current) }
  }

  /** What is at the key by now. */
  #find(key: ObjectKey): Version {
    const index = this.#pending.get(key)
    if (index === undefined) return this.#timeline.current(key)
    return this.records[index]?.type === 'PUT' ? index : undefined
  }

  #current(version: Version): Last | undefined {
    return typeof version === 'number' ? this.records[version] : version
  }

  /** The index of the new record. */
  #append(write: Write, last: Last | undefined): number {
    const revision = this.#next++
    const record: LogRecord = {
      type: write.verb === 'delete' ? 'DELETE' : 'PUT',
      at: this.#at,
      revision,
      before: this.#before,
      previous: last?.revision ?? 0,
      key: write.key,
      body: write.body ?? last?.body ?? empty,
    }
    const value = encodeRecord(record)
    const index = this.records.length
    this.#before = revision
    this.#pending.set(write.key, index)
    this.entries.push({ revision, value })
    this.records.push({ ...record, body: bodyOf(value) })
    return index
  }
}

/** The answer to a write, once the records of its batch have become `objects`. */
export function resultOf(outcome: Outcome, objects: readonly StoredObject[]): WriteResult {
  const { done, version, isGuarded } = outcome
  if (isGuarded) return { done: false, current: undefined, isGuarded }
  const object = typeof version === 'number' ? objects[version] : version
  return done && object !== undefined ? { done: true, object } : { done: false, current: object }
}

/** No two keys share it, whatever their parts contain. */
export function idOf(key: ObjectKey): string {
  return `${key.resource.length}:${key.namespace.length}:${key.resource}${key.namespace}${key.name}`
}
