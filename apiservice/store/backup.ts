/**
 * A backup is one file: a line of JSON that says what it is, records with their length before each, and at the end a
 * length of 0 and a checksum of everything, so that a part of it is never taken for the whole.
 */
import { crc32 } from 'node:zlib'
import type { Revision, StoredObject } from '../store-contract.ts'
import { schema } from './level-format.ts'
import { DamagedRecord, decodeRecord, encodeRecord } from './record.ts'
import type { LogEntry } from './record-log.ts'

/** Where a running server answers with one. */
export const backupPath = '/store/backup'

const kind = 'isthmus store backup'
const format = 1
const maxHeadBytes = 1000
/** Records are written in pieces of about this size. */
const pieceBytes = 256 * 1024

type Head = {
  readonly kind: string
  readonly format: number
  readonly schema: number
  readonly revision: Revision
  readonly objects: number
  /** When it was made, in milliseconds since the epoch. */
  readonly at: number
}

export type Backup = Pick<Head, 'revision' | 'at'> & { readonly entries: readonly LogEntry[] }

/** Everything that a store holds at one revision. */
export type Snapshot = { readonly revision: Revision; readonly items: readonly StoredObject[] }

export function* encodeBackup({ revision, items }: Snapshot, at: number): Generator<Buffer> {
  const head: Head = { kind, format, schema, revision, objects: items.length, at }
  let checksum = 0
  let pending: Buffer[] = [Buffer.from(`${JSON.stringify(head)}\n`)]
  let bytes = 0
  for (const item of items) {
    const value = recordOf(item, at)
    pending.push(lengthOf(value.length), value)
    bytes += value.length
    if (bytes < pieceBytes) continue
    const piece = Buffer.concat(pending)
    checksum = crc32(piece, checksum)
    yield piece
    pending = []
    bytes = 0
  }
  const last = Buffer.concat([...pending, lengthOf(0)])
  yield Buffer.concat([last, lengthOf(crc32(last, checksum))])
}

function recordOf(object: StoredObject, at: number): Buffer {
  const { resource, namespace, name, revision, body } = object
  return encodeRecord({
    type: 'PUT',
    at,
    revision,
    before: 0,
    previous: 0,
    key: { resource, namespace, name },
    body,
  })
}

function lengthOf(length: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  return bytes
}

/** Throws one sentence about what is wrong with it. */
export function decodeBackup(bytes: Buffer): Backup {
  const end = bytes.subarray(0, maxHeadBytes).indexOf('\n')
  const head = headIn(bytes.subarray(0, Math.max(end, 0)).toString())
  const entries = entriesIn(bytes, end + 1)
  const newest = entries.at(-1)?.revision ?? 0
  if (entries.length !== head.objects || newest > head.revision)
    throw new Error('it is damaged: objects are missing')
  return { revision: head.revision, at: head.at, entries }
}

function headIn(line: string): Head {
  let head: Partial<Head> | null
  try {
    head = JSON.parse(line)
  } catch {
    head = null
  }
  if (head?.kind !== kind) throw new Error('it is no backup of a store')
  if (Number(head.format) > format || Number(head.schema) > schema) {
    throw new Error(
      `it was written by a newer release (format ${head.format}, schema ${head.schema}; this release knows format ${format}, schema ${schema})`,
    )
  }
  const { revision, objects, at } = head
  if (![revision, objects, at].every(Number.isSafeInteger))
    throw new Error('it is damaged: its head cannot be read')
  return head as Head // all of it was looked at
}

/** In the order of their revisions. */
function entriesIn(bytes: Buffer, from: number): readonly LogEntry[] {
  const entries: LogEntry[] = []
  let at = from
  for (;;) {
    if (at + 4 > bytes.length) throw cutOff()
    const length = bytes.readUInt32BE(at)
    at += 4
    if (length === 0) break
    if (at + length > bytes.length) throw cutOff()
    entries.push(entryOf(bytes.subarray(at, at + length)))
    at += length
  }
  if (at + 4 !== bytes.length) throw cutOff()
  if (bytes.readUInt32BE(at) !== crc32(bytes.subarray(0, at))) {
    throw new Error('it is damaged: it does not match its checksum')
  }
  return entries.sort((a, b) => a.revision - b.revision)
}

function entryOf(value: Buffer): LogEntry {
  try {
    // The checksum of the record covers its own revision.
    const revision = value.readDoubleBE(16)
    decodeRecord(revision, value)
    return { revision, value }
  } catch (thrown) {
    const why = thrown instanceof DamagedRecord ? thrown.message : 'a record is cut off'
    throw new Error(`it is damaged: ${why}`)
  }
}

function cutOff(): Error {
  return new Error('it is damaged: its end is missing')
}
