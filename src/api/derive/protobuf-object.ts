/** Reads objects that clients send as protocol buffers (`application/vnd.kubernetes.protobuf`). */
import { badRequest } from '../../kernel/errors.ts'
import { canonicalInteger } from '../../kernel/json.ts'
import type { AnyKind } from '../kind.ts'
import { objectMetaSchema } from '../meta-schema.ts'
import {
  message,
  objectMetaFields,
  type ProtobufField,
  type ProtobufFields,
  pointer,
} from '../protobuf-fields.ts'
import type { JsonRecord } from '../record.ts'
import type { JsonSchema } from '../schema.ts'
import { wireFields } from './protobuf-reader.ts'

export const protobufMediaType = 'application/vnd.kubernetes.protobuf'

/** Every message begins with these four bytes; behind them is a `runtime.Unknown`. */
const magic = Buffer.from('k8s\0', 'latin1')

export type ProtobufEnvelope = { readonly apiVersion: string; readonly kind: string; readonly raw: Buffer }

/** What is in it, and the message itself. Throws BadRequest. */
export function protobufEnvelope(bytes: Buffer): ProtobufEnvelope {
  if (!bytes.subarray(0, magic.length).equals(magic)) {
    throw badRequest('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  }
  let type: Buffer = Buffer.alloc(0)
  let raw: Buffer = Buffer.alloc(0)
  for (const { number, value } of wireFields(bytes.subarray(magic.length))) {
    if (number === 1) type = messageOf(value)
    if (number === 2) raw = messageOf(value)
  }
  const names = new Map([...wireFields(type)].map(field => [field.number, textOf(field.value)]))
  return { apiVersion: names.get(1) ?? '', kind: names.get(2) ?? '', raw }
}

/** The message of a kind that has field numbers, as JSON without its names. Throws BadRequest. */
export function readProtobuf(kind: AnyKind, raw: Buffer): JsonRecord {
  const schema: JsonSchema = {
    ...kind.schema,
    properties: { ...kind.schema.properties, metadata: objectMetaSchema.json },
  }
  return readMessage(raw, { metadata: message(1, objectMetaFields), ...kind.protobuf }, schema)
}

const preconditions: JsonSchema = {
  type: 'object',
  properties: { uid: { type: 'string' }, resourceVersion: { type: 'string' } },
}
const deleteOptionsSchema: JsonSchema = {
  type: 'object',
  properties: {
    gracePeriodSeconds: { type: 'integer' },
    preconditions,
    orphanDependents: { type: 'boolean' },
    propagationPolicy: { type: 'string' },
    dryRun: { type: 'array', items: { type: 'string' } },
  },
}
const deleteOptionsFields: ProtobufFields = {
  gracePeriodSeconds: pointer(1),
  preconditions: pointer(2, { uid: 1, resourceVersion: 2 }),
  orphanDependents: pointer(3),
  propagationPolicy: 4,
  dryRun: 5,
}

/** `DeleteOptions` as JSON, without its names. Throws BadRequest. */
export function readProtobufDeleteOptions(raw: Buffer): JsonRecord {
  return readMessage(raw, deleteOptionsFields, deleteOptionsSchema)
}

type Named = ProtobufField & { readonly name: string }

function readMessage(bytes: Buffer, fields: ProtobufFields, schema: JsonSchema): JsonRecord {
  if (bytes.length === 0) return {}
  const known = byNumber(fields)
  const content = new Content()
  for (const { number, value } of wireFields(bytes)) {
    const field = known.get(number)
    const type = field && schema.properties?.[field.name]
    if (field !== undefined && type !== undefined) readField(content, { field, type, schema }, value)
  }
  return content.toRecord()
}

type Member = { readonly field: Named; readonly type: JsonSchema; readonly schema: JsonSchema }

function readField(content: Content, { field, type, schema }: Member, value: bigint | Buffer): void {
  if (type.items !== undefined) {
    content.append(field.name, readOne(value, field, type.items))
    return
  }
  if (type.additionalProperties !== undefined) {
    content.put(field.name, readEntry(value, field, type.additionalProperties))
    return
  }
  const read = readOne(value, field, type)
  if (keepsZero(field, schema) || !isZero(read)) content.set(field.name, read)
}

/** What has been read of a message. Lists and maps come item by item, and may be long. */
class Content {
  readonly #values = new Map<string, unknown>()
  readonly #lists = new Map<string, unknown[]>()
  readonly #maps = new Map<string, Map<string, unknown>>()

  set(name: string, value: unknown): void {
    this.#values.set(name, value)
  }

  append(name: string, item: unknown): void {
    const list = this.#lists.get(name)
    if (list === undefined) this.#lists.set(name, [item])
    else list.push(item)
  }

  put(name: string, [key, value]: readonly [string, unknown]): void {
    const map = this.#maps.get(name)
    if (map === undefined) this.#maps.set(name, new Map([[key, value]]))
    else map.set(key, value)
  }

  toRecord(): JsonRecord {
    const maps = [...this.#maps].map(([name, map]) => [name, Object.fromEntries(map)] as const)
    return Object.fromEntries([...this.#values, ...this.#lists, ...maps])
  }
}

const tables = new WeakMap<ProtobufFields, ReadonlyMap<number, Named>>()

function byNumber(fields: ProtobufFields): ReadonlyMap<number, Named> {
  const known = tables.get(fields)
  if (known !== undefined) return known
  const made = new Map(
    Object.entries(fields).map(([name, field]) => {
      const named = typeof field === 'number' ? { name, number: field } : { name, ...field }
      return [named.number, named]
    }),
  )
  tables.set(fields, made)
  return made
}

/** Values that Go's `omitempty` leaves out, and a time that is none. */
function isZero(value: unknown): boolean {
  if (value === undefined || value === '' || value === 0 || value === false) return true
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function keepsZero(field: Named, schema: JsonSchema): boolean {
  return field.pointer === true || schema.required?.includes(field.name) === true
}

/** One entry of a map is a message of its key and its value. */
function readEntry(
  value: bigint | Buffer,
  field: ProtobufField,
  type: JsonSchema,
): readonly [string, unknown] {
  let key = ''
  let content: unknown = type.items === undefined ? '' : []
  for (const part of wireFields(messageOf(value))) {
    if (part.number === 1) key = textOf(part.value)
    if (part.number === 2) content = readMapValue(part.value, field, type)
  }
  return [key, content]
}

/** A list as the value of a map is wrapped into a message. */
function readMapValue(value: bigint | Buffer, field: ProtobufField, type: JsonSchema): unknown {
  const { items } = type
  if (items === undefined) return readOne(value, field, type)
  return [...wireFields(messageOf(value))].map(item => readOne(item.value, field, items))
}

function readOne(value: bigint | Buffer, field: ProtobufField, type: JsonSchema): unknown {
  if (type['x-kubernetes-int-or-string'] === true) return readIntOrString(messageOf(value))
  if (type.type === 'object') return readMessage(messageOf(value), field.fields ?? {}, type)
  if (type.type === 'integer') return canonicalInteger(BigInt.asIntN(64, numberOf(value)))
  if (type.type === 'boolean') return numberOf(value) !== 0n
  return readText(value, field, type)
}

function readText(value: bigint | Buffer, field: ProtobufField, type: JsonSchema): string | undefined {
  if (type.format === 'date-time') return readTime(messageOf(value), field.micro === true)
  return type.format === 'byte' ? messageOf(value).toString('base64') : textOf(value)
}

/** An `IntOrString`. One that was never set is the number 0. */
function readIntOrString(bytes: Buffer): number | bigint | string {
  const parts = new Map([...wireFields(bytes)].map(part => [part.number, part.value]))
  if (numberOf(parts.get(1) ?? 0n) === 1n) return textOf(parts.get(3) ?? Buffer.alloc(0))
  return canonicalInteger(BigInt.asIntN(64, numberOf(parts.get(2) ?? 0n)))
}

/** A `Timestamp`; an empty one is no time. */
function readTime(bytes: Buffer, micro: boolean): string | undefined {
  const parts = new Map([...wireFields(bytes)].map(part => [part.number, numberOf(part.value)]))
  const seconds = parts.get(1)
  if (seconds === undefined) return undefined
  const date = new Date(Number(BigInt.asIntN(64, seconds)) * 1000)
  if (Number.isNaN(date.getTime())) throw badRequest('protobuf: a time lies out of range')
  const whole = date.toISOString().slice(0, -5)
  const micros = Math.floor(Number(parts.get(2) ?? 0n) / 1000)
  return micro ? `${whole}.${String(micros).padStart(6, '0')}Z` : `${whole}Z`
}

function messageOf(value: bigint | Buffer): Buffer {
  if (typeof value === 'bigint') throw badRequest('protobuf: a field has another type than its schema')
  return value
}

function numberOf(value: bigint | Buffer): bigint {
  if (typeof value !== 'bigint') throw badRequest('protobuf: a field has another type than its schema')
  return value
}

function textOf(value: bigint | Buffer): string {
  return messageOf(value).toString('utf8')
}
