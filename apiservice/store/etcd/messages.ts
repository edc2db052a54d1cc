/** The messages of etcd's API that are used here, with the field numbers of `etcdserverpb/rpc.proto` and `mvccpb/kv.proto`. */
import type { Revision } from '../../store-contract.ts'
import { Message, MessageReader } from './protobuf.ts'

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

/** What a key must be at: its last change, 0 when it must not be there. */
export type Condition = { readonly key: Buffer; readonly revision: Revision }

export type Operation = { readonly put: Buffer; readonly value: Buffer } | { readonly delete: Buffer }

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

export function rangeMessage({ key, end, revision, limit, countOnly }: RangeQuery): Message {
  const message = new Message().bytes(1, key)
  if (end !== undefined) message.bytes(2, end)
  return message
    .int(3, limit ?? 0)
    .int(4, revision ?? 0)
    .flag(9, countOnly ?? false)
}

/** Where a condition does not hold, nothing is changed and the keys of all are read. */
export function transactionMessage({ conditions, operations }: Transaction): Message {
  const message = new Message()
  for (const { key, revision } of conditions) {
    message.message(1, new Message().int(2, 2).bytes(3, key).int(6, revision))
  }
  for (const operation of operations) message.message(2, operationMessage(operation))
  for (const { key } of conditions) message.message(3, new Message().message(1, rangeMessage({ key })))
  return message
}

function operationMessage(operation: Operation): Message {
  if ('delete' in operation) return new Message().message(3, new Message().bytes(1, operation.delete))
  return new Message().message(2, new Message().bytes(1, operation.put).bytes(2, operation.value))
}

export function compactionMessage(revision: Revision): Message {
  return new Message().int(1, revision)
}

export function watchMessage({ key, end }: KeyRange, from: Revision): Message {
  const create = new Message().bytes(1, key)
  if (end !== undefined) create.bytes(2, end)
  return new Message().message(1, create.int(3, from).flag(4, true).flag(8, true))
}

/** Asks for an answer that tells how far all watches of the stream have come. */
export function progressMessage(): Message {
  return new Message().message(3, new Message())
}

export function readRange(bytes: Buffer): RangeAnswer {
  const items: KeyValue[] = []
  let [newest, hasMore, count] = [0, false, 0]
  new MessageReader(bytes).read({
    1: header => {
      newest = revisionOf(header.inner())
    },
    2: item => {
      items.push(keyValueOf(item.inner()))
    },
    3: more => {
      hasMore = more.int() === 1
    },
    4: all => {
      count = all.int()
    },
  })
  return { newest, items, hasMore, count }
}

export function readTransaction(bytes: Buffer): TransactionAnswer {
  let [revision, done] = [0, false]
  const found: (KeyValue | undefined)[] = []
  new MessageReader(bytes).read({
    1: header => {
      revision = revisionOf(header.inner())
    },
    2: succeeded => {
      done = succeeded.int() === 1
    },
    3: response => {
      response.inner().read({
        1: range => {
          found.push(readRange(range.bytes()).items[0])
        },
      })
    },
  })
  return done ? { done, revision } : { done, found }
}

export function readWatch(bytes: Buffer): WatchAnswer {
  const events: WatchedEvent[] = []
  let [newest, created, isCanceled, compacted, reason, isFragment] = [0, false, false, 0, '', false]
  new MessageReader(bytes).read({
    1: header => {
      newest = revisionOf(header.inner())
    },
    3: field => {
      created = field.int() === 1
    },
    4: field => {
      isCanceled = field.int() === 1
    },
    5: field => {
      compacted = field.int()
    },
    6: field => {
      reason = field.text()
    },
    7: field => {
      isFragment = field.int() === 1
    },
    11: event => {
      events.push(eventOf(event.inner()))
    },
  })
  return { newest, created, canceled: isCanceled ? reason : undefined, compacted, isFragment, events }
}

export function readStatus(bytes: Buffer): StatusAnswer {
  const errors: string[] = []
  let [version, size] = ['', 0]
  new MessageReader(bytes).read({
    2: field => {
      version = field.text()
    },
    3: field => {
      size = field.int()
    },
    8: field => {
      errors.push(field.text())
    },
  })
  return { version, bytes: size, errors }
}

function revisionOf(header: MessageReader): Revision {
  let revision = 0
  header.read({
    3: field => {
      revision = field.int()
    },
  })
  return revision
}

const empty: Buffer = Buffer.alloc(0)

function keyValueOf(message: MessageReader): KeyValue {
  let [key, value, revision] = [empty, empty, 0]
  message.read({
    1: field => {
      key = field.bytes()
    },
    3: field => {
      revision = field.int()
    },
    5: field => {
      value = field.bytes()
    },
  })
  return { key, value, revision }
}

function eventOf(message: MessageReader): WatchedEvent {
  let isDeletion = false
  let item: KeyValue = { key: empty, value: empty, revision: 0 }
  message.read({
    1: field => {
      isDeletion = field.int() === 1
    },
    2: field => {
      item = keyValueOf(field.inner())
    },
  })
  return { ...item, isDeletion }
}
