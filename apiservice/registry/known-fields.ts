/** Most of what a client sends back is what it has read, byte for byte: that need not be parsed. */
import { isRecord, type JsonRecord, setEntry } from '../../src/api/record.ts'
import { equalJson } from '../../src/cluster/json.ts'
import { type Fields, fieldsAt } from '../../src/codec/body-fields.ts'
import { maxDepth, parseJson } from '../../src/codec/json.ts'
import { JsonCursor } from '../../src/codec/json-cursor.ts'
import type { KnownBody } from '../../src/codec/known-body.ts'
import { isReason } from '../../src/kernel/errors.ts'

/** Longer texts could be too heavy. */
const longest = 32 * 1024
/** Longer values could be too deep, below all the levels that are looked at here. */
const longestValue = maxDepth / 2
/** Each level is looked through by itself. */
const deepest = 32

/** A record, and where its fields lie in the body. */
type Known = { readonly record: JsonRecord; readonly fields: Fields }

type Reading = {
  readonly record: Record<string, unknown>
  readonly known: Known
  /** Of an object, whose metadata lies before all else in its body. */
  readonly metadata: Known | undefined
  /** Which of the known fields is probably next. */
  next: number
  isFirst: boolean
}

/**
 * The object of a JSON text, as parsing would have it, with what is as in the known one taken from there. Undefined when
 * the text has a fault or is not a simple one, and has to be parsed as a whole.
 */
export function readLike(known: KnownBody, json: Buffer): JsonRecord | undefined {
  const { object, body } = known
  if (Math.max(json.length, body.length) > longest) return undefined
  const { fields } = known
  if (fields === undefined) return undefined
  const reader = new Reader(json, body)
  const metadata = { record: object.metadata, fields: fields.metadata }
  return reader.whole({ record: object, fields: fields.others }, metadata)
}

class Reader {
  readonly #json: Buffer
  readonly #body: Buffer
  readonly #cursor: JsonCursor
  #depth = 0

  constructor(json: Buffer, body: Buffer) {
    this.#json = json
    this.#body = body
    this.#cursor = new JsonCursor(json)
  }

  whole(known: Known, metadata: Known): JsonRecord | undefined {
    this.#cursor.skipSpace()
    const record = this.#record(known, metadata)
    this.#cursor.skipSpace()
    return this.#cursor.isAtEnd ? record : undefined
  }

  /** The known record itself when it has the same fields. Undefined: the text has to be parsed as a whole. */
  #record(known: Known, metadata?: Known): JsonRecord | undefined {
    if (!this.#cursor.enter()) return undefined
    this.#depth += 1
    const reading: Reading = { record: {}, known, metadata, next: 0, isFirst: true }
    while (!this.#cursor.leave()) {
      if (!this.#field(reading)) return undefined
      reading.isFirst = false
    }
    this.#depth -= 1
    return isSame(reading.record, known.record) ? known.record : reading.record
  }

  get #mayEnter(): boolean {
    return this.#depth < deepest && this.#cursor.isAtRecord
  }

  #field(reading: Reading): boolean {
    const { record, known, metadata, next } = reading
    const name = this.#cursor.name(reading.isFirst, known.fields.names[next])
    if (name === undefined || Object.hasOwn(record, name)) return false
    const index = known.fields.indexOf(name, next)
    const isElsewhere = metadata !== undefined && name === 'metadata'
    const value = isElsewhere ? this.#record(metadata) : this.#value(known, name, index)
    if (value === undefined) return false
    setEntry(record, name, value)
    if (index >= 0) reading.next = index + 1
    return true
  }

  #value({ record, fields }: Known, name: string, index: number): unknown {
    const [from = 0, to = 0] = [fields.starts[index], fields.ends[index]]
    const there = index < 0 ? undefined : record[name]
    if (there !== undefined && this.#cursor.skipIfSame(this.#body, from, to)) return there
    const inner = isRecord(there) && this.#mayEnter ? fieldsAt(this.#body, from) : undefined
    if (inner !== undefined && isRecord(there)) return this.#record({ record: there, fields: inner })
    const value = this.#other()
    return equalJson(value, there) ? there : value
  }

  /** Undefined for what is no value or has a key twice: that is told of the whole. */
  #other(): unknown {
    const { at } = this.#cursor
    const plain = this.#cursor.plainText()
    if (plain !== undefined) return plain
    const end = this.#cursor.skipValue()
    return end < 0 || end - at > longestValue ? undefined : parsed(this.#json.subarray(at, end))
  }
}

function isSame(record: JsonRecord, known: JsonRecord): boolean {
  const names = Object.keys(known)
  return (
    names.length === Object.keys(record).length &&
    names.every(name => Object.hasOwn(record, name) && record[name] === known[name])
  )
}

function parsed(json: Buffer): unknown {
  try {
    const { value, duplicates } = parseJson(json)
    return duplicates.length === 0 ? value : undefined
  } catch (thrown) {
    if (isReason(thrown, 'BadRequest')) return undefined
    throw thrown
  }
}
