import { describe, expect, it } from 'vitest'
import { openapiV2 } from '../../../../../src/api/derive/openapi-v2.ts'
import { openapiV2Protobuf } from '../../../../../src/api/derive/openapi-v2-protobuf.ts'
import {
  asYaml,
  double,
  encodeMessage,
  flag,
  integer,
  type Message,
  named,
  nested,
  repeated,
  text,
  wrapped,
} from '../../../../../src/api/derive/protobuf.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'

const message: Message = {
  fields: {
    name: [1, text],
    on: [2, flag],
    count: [3, integer],
    share: [4, double],
    tags: [5, repeated(text)],
    inner: [6, nested(() => message)],
    map: [7, named(text)],
    any: [8, asYaml],
    wrapped: [9, wrapped(1, text)],
  },
  extensions: 31,
}

const hex = (value: object) => encodeMessage(message, value).toString('hex')

describe('a protocol buffer', () => {
  it.each([
    [{}, ''],
    [{ name: 'ab' }, '0a026162'],
    [{ name: '' }, '0a00'],
    [{ on: true }, '1001'],
    [{ on: false }, ''],
    [{ count: 300 }, '18ac02'],
    [{ count: -1 }, '18ffffffffffffffffff01'],
    [{ share: 1.5 }, '21000000000000f83f'],
    [{ tags: ['a', 'b'] }, '2a01612a0162'],
    [{ inner: { name: 'a' } }, '32030a0161'],
    [{ map: { k: 'v' } }, '3a060a016b120176'],
    [{ any: [1] }, '4205' + '1203' + '5b315d'],
    [{ wrapped: 'a' }, '4a030a0161'],
    [{ 'x-a': 1 }, `fa010a0a03782d6112031201${'31'}`],
    [{ unknown: 1, name: 5 }, ''],
  ])('of %j', (value, bytes) => {
    expect(hex(value)).toBe(bytes)
  })
})

/** The fields of a message: number, and the bytes of those that have any. */
function fieldsOf(bytes: Buffer): readonly (readonly [number, Buffer])[] {
  const fields: (readonly [number, Buffer])[] = []
  let at = 0
  const varint = () => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = varint()
    if (tag % 8 === 0) fields.push([tag >> 3, Buffer.from(String(varint()))])
    else {
      const length = tag % 8 === 1 ? 8 : varint()
      fields.push([tag >> 3, bytes.subarray(at, at + length)])
      at += length
    }
  }
  return fields
}

const only = (bytes: Buffer, number: number) =>
  fieldsOf(bytes)
    .filter(([n]) => n === number)
    .map(([, b]) => b)

describe('the OpenAPI v2 document as a protocol buffer', () => {
  const document = openapiV2(kinds)
  const bytes = openapiV2Protobuf(document)

  it('has the definitions and the paths of the document', () => {
    expect(only(bytes, 1).map(String)).toEqual(['2.0'])
    const entries = (field: number, inner: number) =>
      only(only(bytes, field)[0] ?? Buffer.alloc(0), inner).map(entry => String(only(entry, 1)[0]))
    expect(entries(9, 1)).toEqual(Object.keys(document.definitions ?? {}))
    expect(entries(8, 2)).toEqual(Object.keys(document.paths))
  })

  it('gives definitions their extensions', () => {
    const definitions = only(only(bytes, 9)[0] ?? Buffer.alloc(0), 1)
    const found = definitions.find(entry => String(only(entry, 1)[0]).endsWith('v1beta1.ServiceImport'))
    const schema = only(found ?? Buffer.alloc(0), 2)[0] ?? Buffer.alloc(0)
    const [name, value] = fieldsOf(only(schema, 31)[0] ?? Buffer.alloc(0))
    expect(String(name?.[1])).toBe('x-kubernetes-group-version-kind')
    expect(String(only(value?.[1] ?? Buffer.alloc(0), 2)[0])).toBe(
      '[{"group":"multicluster.x-k8s.io","kind":"ServiceImport","version":"v1beta1"}]',
    )
  })
})
