import { describe, expect, it } from 'vitest'
import {
  protobufEnvelope,
  readProtobuf,
  readProtobufDeleteOptions,
} from '../../../../../src/api/derive/protobuf-object.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'
import { isRecord, type JsonRecord } from '../../../../../src/api/record.ts'
// What client-go 0.33 makes of objects, in both forms, with nearly every field set in one of them.
import bodies from '../../../../support/client-go-bodies.json' with { type: 'json' }

function decode(bytes: Buffer): JsonRecord {
  const { raw, ...names } = protobufEnvelope(bytes)
  if (names.kind === 'DeleteOptions') return { ...names, ...readProtobufDeleteOptions(raw) }
  const kind = kinds.find(k => k.kind === names.kind)
  if (kind === undefined) throw new Error(`no kind ${names.kind}`)
  return { ...names, ...readProtobuf(kind, raw) }
}

/** What is left out where it is empty, what clients may not set, and answers, which clients do not give. */
const unread: ReadonlySet<string> = new Set(['managedFields'])
const answered = /Review$/

function substance(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(substance)
  if (!isRecord(value)) return value
  const entries = Object.entries(value).map(([key, inner]) => [key, substance(inner)] as const)
  return Object.fromEntries(entries.filter(([key, inner]) => !unread.has(key) && !isEmpty(inner)))
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (isRecord(value) && Object.keys(value).length === 0)
}

describe('protocol buffers of client-go', () => {
  it.each(bodies.map(({ json, protobuf }) => [json.kind, json, protobuf] as const))(
    'of a %s say what its JSON says',
    (kind, json, protobuf) => {
      const sent = answered.test(kind) ? { ...json, status: null } : json
      expect(substance(decode(Buffer.from(protobuf, 'base64')))).toEqual(substance(sent))
    },
  )

  it('have been tried for every kind that clients send so', () => {
    const tried = new Set(bodies.map(body => body.json.kind))
    const declared = kinds.filter(k => k.protobuf !== undefined).map(k => k.kind)
    expect(declared.filter(kind => !tried.has(kind))).toEqual([])
  })
})
