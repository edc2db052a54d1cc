/**
 * Where the values of an object's fields lie in its JSON, so that what stays as it is need not be read again. Only simple
 * records are read: of few fields, each there once, with names without escapes.
 */
import { JsonCursor } from './json-cursor.ts'

/** The fields of one record in their order, and the places of their values. */
export class Fields {
  readonly names: string[] = []
  readonly starts: number[] = []
  readonly ends: number[] = []

  /** Most records that are compared have their fields in the same order: `guess` is looked at first. */
  indexOf(name: string, guess: number): number {
    return this.names[guess] === name ? guess : this.names.indexOf(name)
  }
}

/** The places in a body as `object-bytes.ts` has it. */
export type BodyFields = { readonly metadata: Fields; readonly others: Fields }

/** Whoever has more fields is read as a whole: each is compared with all before it. */
const maxFields = 64

/** Undefined when the object is no simple one. */
export function bodyFields(body: Buffer): BodyFields | undefined {
  const cursor = new JsonCursor(body)
  const metadata = readFields(cursor, true)
  const others = metadata && readFields(cursor, false)
  return metadata && others && cursor.isAtEnd ? { metadata, others } : undefined
}

/** The record at a place. Undefined when it is no simple one. */
export function fieldsAt(json: Buffer, place: number): Fields | undefined {
  const cursor = new JsonCursor(json, place)
  return cursor.enter() ? readFields(cursor, true) : undefined
}

/** Up to the closing brace; nothing precedes the first field of a record. */
function readFields(cursor: JsonCursor, isWhole: boolean): Fields | undefined {
  const fields = new Fields()
  while (!cursor.leave()) {
    const name = cursor.name(isWhole && fields.names.length === 0)
    const start = cursor.at
    const end = name === undefined ? -1 : cursor.skipValue()
    if (name === undefined || end < 0 || fields.names.length === maxFields || fields.names.includes(name))
      return undefined
    fields.names.push(name)
    fields.starts.push(start)
    fields.ends.push(end)
  }
  return fields
}
