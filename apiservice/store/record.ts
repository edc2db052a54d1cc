import { crc32 } from 'node:zlib'
import type { ObjectKey, Revision } from '../store-contract.ts'

/**
 * One version of one object as a log keeps it:
 *
 *      0  u8   layout, 1
 *      1  u8   1 put, 2 delete
 *      2  u16  bytes of resource, of namespace (at 4), of name (at 6)
 *      8  f64  when it was written
 *     16  f64  revision
 *     24  f64  the revision before it in the whole log
 *     32  f64  the version that it replaces or deletes, 0 for none
 *     40  u32  CRC-32 of everything else
 *     44       resource, namespace, name, body
 *
 * A body is handed out as it lies there, so that a version is in memory once. The revision before it chains the
 * records: a hole in the log is found when it is read, where LevelDB would skip a damaged block without a word.
 */
export type LogRecord = {
  readonly type: 'PUT' | 'DELETE'
  /** Milliseconds since the epoch; never less than in the record before. */
  readonly at: number
  readonly revision: Revision
  readonly before: Revision
  readonly previous: Revision
  readonly key: ObjectKey
  /** After DELETE the last state. */
  readonly body: Buffer
}

const headBytes = 44
const sumAt = 40
const layout = 1
const maxKeyPartBytes = 0xffff
/** Of UTF-8 for one unit of UTF-16. */
const maxUnitBytes = 3

/** A record cannot be what was once written. */
export class DamagedRecord extends Error {
  constructor(revision: Revision, why: string) {
    super(`record ${revision} ${why}`)
    this.name = 'DamagedRecord'
  }
}

/** Where the head of each record is laid out before it is copied. */
const head = new DataView(new ArrayBuffer(headBytes))
const headCopied = Buffer.from(head.buffer)
const headSummed = headCopied.subarray(0, sumAt)

/** Encodes a record; `bodyOf` finds the body in the result. */
export function encodeRecord({ type, at, revision, before, previous, key, body }: LogRecord): Buffer {
  const namespaceAt = headBytes + Buffer.byteLength(key.resource)
  const nameAt = namespaceAt + Buffer.byteLength(key.namespace)
  const bodyAt = nameAt + Buffer.byteLength(key.name)
  const longest = Math.max(namespaceAt - headBytes, nameAt - namespaceAt, bodyAt - nameAt)
  if (longest > maxKeyPartBytes) throw new RangeError(`a part of a key has ${longest} bytes`)
  head.setUint8(0, layout)
  head.setUint8(1, type === 'PUT' ? 1 : 2)
  head.setUint16(2, namespaceAt - headBytes)
  head.setUint16(4, nameAt - namespaceAt)
  head.setUint16(6, bodyAt - nameAt)
  head.setFloat64(8, at)
  head.setFloat64(16, revision)
  head.setFloat64(24, before)
  head.setFloat64(32, previous)
  // Not from Node's shared pool: a small body that lives long would keep a whole slab of the pool alive.
  const value = Buffer.allocUnsafeSlow(bodyAt + body.length)
  value.set(headCopied)
  writeText(key.resource, value, headBytes)
  writeText(key.namespace, value, namespaceAt)
  writeText(key.name, value, nameAt)
  value.set(body, bodyAt)
  value.writeUInt32BE(crc32(value.subarray(headBytes), crc32(headSummed)), sumAt)
  return value
}

/** For short texts, nearly all of them ASCII, this is faster than the call that writes any. */
function writeText(text: string, value: Buffer, start: number): void {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 0x7f) {
      value.write(text, start)
      return
    }
    value[start + at] = code
  }
}

/** The body inside an encoded record, sharing its memory. */
export function bodyOf(value: Buffer): Buffer {
  return value.subarray(bodyOffset(value))
}

/** Decodes what `encodeRecord` made; the body shares the memory of `value`. Throws `DamagedRecord`. */
export function decodeRecord(revision: Revision, value: Buffer): LogRecord {
  if (value.length < headBytes) throw new DamagedRecord(revision, 'is cut off')
  if (value.readUInt8(0) !== layout) throw new DamagedRecord(revision, 'has an unknown layout')
  const bodyAt = bodyOffset(value)
  if (value.length < bodyAt || value.readUInt32BE(sumAt) !== checksum(value)) {
    throw new DamagedRecord(revision, 'does not match its checksum')
  }
  if (value.readDoubleBE(16) !== revision) throw new DamagedRecord(revision, 'carries another revision')
  const namespaceAt = headBytes + value.readUInt16BE(2)
  const nameAt = namespaceAt + value.readUInt16BE(4)
  return {
    type: value.readUInt8(1) === 1 ? 'PUT' : 'DELETE',
    at: value.readDoubleBE(8),
    revision,
    before: value.readDoubleBE(24),
    previous: value.readDoubleBE(32),
    key: {
      resource: value.toString('utf8', headBytes, namespaceAt),
      namespace: value.toString('utf8', namespaceAt, nameAt),
      name: value.toString('utf8', nameAt, bodyAt),
    },
    body: value.subarray(bodyAt),
  }
}

/** Whether a record can carry the key: each part must be well-formed Unicode of at most 65,535 bytes. */
export function isStorableKey({ resource, namespace, name }: ObjectKey): boolean {
  return isStorable(resource) && isStorable(namespace) && isStorable(name)
}

function isStorable(part: string): boolean {
  const isShort = part.length * maxUnitBytes <= maxKeyPartBytes || Buffer.byteLength(part) <= maxKeyPartBytes
  return isShort && part.isWellFormed()
}

function bodyOffset(value: Buffer): number {
  return headBytes + value.readUInt16BE(2) + value.readUInt16BE(4) + value.readUInt16BE(6)
}

function checksum(value: Buffer): number {
  return crc32(value.subarray(headBytes), crc32(value.subarray(0, sumAt)))
}
