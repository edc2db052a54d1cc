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
  readonly version: StoredObject | number | undefined
  readonly isGuarded?: true
}

type Pending = { readonly index: number; readonly record: LogRecord }

type Found = {
  readonly version: StoredObject | number | undefined
  readonly current: { readonly revision: Revision; readonly body: Buffer } | undefined
}

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
  readonly #pending = new KeyMap<Pending>()
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
    if (guard !== undefined && this.#find(guard.key).current?.revision !== guard.revision) {
      return { done: false, version: undefined, isGuarded: true }
    }
    const { version, current } = this.#find(write.key)
    const isExpected = write.verb === 'create' ? current === undefined : current?.revision === write.expected
    if (!isExpected) return { done: false, version }
    return this.#append(write, current)
  }

  /** What is at the key by now. */
  #find(key: ObjectKey): Found {
    const pending = this.#pending.get(key)
    const version = pending === undefined ? this.#timeline.current(key) : indexOf(pending)
    return { version, current: typeof version === 'number' ? pending?.record : version }
  }

  #append(write: Write, last: { revision: Revision; body: Buffer } | undefined): Outcome {
    const revision = this.#next++
    const head = {
      type: write.verb === 'delete' ? ('DELETE' as const) : ('PUT' as const),
      at: this.#at,
      revision,
      before: this.#before,
      previous: last?.revision ?? 0,
      key: write.key,
    }
    const value = encodeRecord({ ...head, body: write.body ?? last?.body ?? empty })
    const record = { ...head, body: bodyOf(value) }
    const index = this.records.length
    this.#before = revision
    this.#pending.set(write.key, { index, record })
    this.entries.push({ revision, value })
    this.records.push(record)
    return { done: true, version: index }
  }
}

/** The version that the batch leaves so far, if it leaves one. */
function indexOf(pending: Pending): number | undefined {
  return pending.record.type === 'PUT' ? pending.index : undefined
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
