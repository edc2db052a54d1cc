/** What is asked of etcd and what it answers, and the messages of `etcd.proto` that carry it. */
import type { Revision } from '../../store-contract.ts'
import { type Answer, compare, eventType, type methods, type Question } from './methods.ts'

export type KeyRange = { readonly key: Buffer; readonly end?: Buffer }

export type KeyValue = { readonly key: Buffer; readonly value: Buffer; readonly revision: Revision }

export type WatchedEvent = KeyValue & { readonly isDeletion: boolean }

export type RangeQuery = KeyRange & {
  readonly revision?: Revision
  readonly limit?: number
  readonly countOnly?: boolean
}

export type RangeAnswer = {
  /** etcd's newest revision. */
  readonly newest: Revision
  readonly items: readonly KeyValue[]
  readonly hasMore: boolean
  readonly count: number
}

/**
 * What a key, or all of a range, must be at: its last change, 0 when it must not be there. With a value, also what it
 * must hold, since an etcd that was put back gives the same revisions again.
 */
export type Condition = KeyRange & { readonly revision: Revision; readonly value?: Buffer | undefined }

export type Operation =
  /** With a lease, the key goes when that one runs out. */
  { readonly put: Buffer; readonly value: Buffer; readonly lease?: number } | { readonly delete: Buffer }

export type Transaction = {
  /** All of them hold, or nothing is changed. */
  readonly conditions: readonly Condition[]
  readonly operations: readonly Operation[]
}

export type TransactionAnswer =
  | { readonly done: true; readonly revision: Revision }
  /** What the keys of the conditions hold instead, in their order. */
  | { readonly done: false; readonly found: readonly (KeyValue | undefined)[] }

export type WatchAnswer = {
  readonly newest: Revision
  readonly created: boolean
  /** Why the watch has ended. */
  readonly canceled: string | undefined
  /** Not 0 when it has ended since older changes are gone. */
  readonly compacted: Revision
  /** More of the same answer follows. */
  readonly isFragment: boolean
  readonly events: readonly WatchedEvent[]
}

export type StatusAnswer = {
  readonly version: string
  readonly bytes: number
  readonly errors: readonly string[]
}

type Methods = typeof methods

export function rangeRequest({ end, ...query }: RangeQuery): Question<Methods['range']> {
  return { ...query, rangeEnd: end }
}

/** Where a condition does not hold, nothing is changed and the keys of all are read. */
export function txnRequest({ conditions, operations }: Transaction): Question<Methods['txn']> {
  return {
    compare: conditions.flatMap(comparesOf),
    success: operations.map(operation =>
      'delete' in operation
        ? { requestDeleteRange: { key: operation.delete } }
        : { requestPut: putRequest(operation) },
    ),
    // One is enough to deny a range, which may be a whole store.
    failure: conditions.map(({ key, end }) => ({ requestRange: { key, rangeEnd: end, limit: 1 } })),
  }
}

/** Whether a condition holds where this is what its key holds. */
export function isMet({ revision, value }: Condition, found: KeyValue | undefined): boolean {
  return (found?.revision ?? 0) === revision && (value === undefined || found?.value.equals(value) === true)
}

function comparesOf({ key, end, revision, value }: Condition): Question<Methods['txn']>['compare'] {
  const common = { result: compare.equal, key, rangeEnd: end }
  const ofRevision = { ...common, target: compare.modRevision, modRevision: revision }
  return value === undefined ? [ofRevision] : [ofRevision, { ...common, target: compare.value, value }]
}

function putRequest({ put, value, lease }: Extract<Operation, { readonly put: Buffer }>): {
  readonly key: Buffer
  readonly value: Buffer
  readonly lease?: number
} {
  return { key: put, value, ...(lease === undefined ? {} : { lease }) }
}

export function watchRequest({ key, end }: KeyRange, from: Revision): Question<Methods['watch']> {
  return {
    createRequest: { key, rangeEnd: end, startRevision: from, progressNotify: true, fragment: true },
  }
}

/** Asks for an answer that tells how far all watches of the stream have come. */
export const progressRequest: Question<Methods['watch']> = { progressRequest: {} }

export function rangeAnswer({ header, kvs, more, count }: Answer<Methods['range']>): RangeAnswer {
  return { newest: header.revision, items: kvs.map(keyValueOf), hasMore: more, count }
}

export function transactionAnswer(answer: Answer<Methods['txn']>): TransactionAnswer {
  const { header, succeeded, responses } = answer
  if (succeeded) return { done: true, revision: header.revision }
  const found = responses.map(({ responseRange }) => responseRange?.kvs[0])
  return { done: false, found: found.map(item => item && keyValueOf(item)) }
}

export function watchAnswer(answer: Answer<Methods['watch']>): WatchAnswer {
  const { header, created, canceled, compactRevision, cancelReason, fragment, events } = answer
  return {
    newest: header.revision,
    created,
    canceled: canceled ? cancelReason : undefined,
    compacted: compactRevision,
    isFragment: fragment,
    events: events.map(({ type, kv }) => ({ ...keyValueOf(kv), isDeletion: type === eventType.delete })),
  }
}

export function statusAnswer({ version, dbSize, errors }: Answer<Methods['status']>): StatusAnswer {
  return { version, bytes: dbSize, errors }
}

type KeyValueMessage = Answer<Methods['range']>['kvs'][number]

function keyValueOf({ key, value, modRevision }: KeyValueMessage): KeyValue {
  return { key, value, revision: modRevision }
}
