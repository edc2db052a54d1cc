import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  protobufEnvelope,
  readProtobuf,
  readProtobufDeleteOptions,
} from '../../../../../src/api/derive/protobuf-object.ts'
import type { AnyKind } from '../../../../../src/api/kind.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'
import type { ProtobufFields } from '../../../../../src/api/protobuf-fields.ts'
import { isReason } from '../../../../../src/kernel/errors.ts'

const kindOf = (name: string): AnyKind => {
  const found = kinds.find(kind => kind.kind === name)
  if (found === undefined) throw new Error(`no kind ${name}`)
  return found
}

function read(hex: string) {
  const { apiVersion, kind, raw } = protobufEnvelope(Buffer.from(hex, 'hex'))
  return { apiVersion, kind, ...readProtobuf(kindOf(kind), raw) }
}

/** What kubectl 1.32 sent. */
describe('a message of kubectl', () => {
  it('create namespace', () => {
    const sent =
      '6b3873000a0f0a02763112094e616d657370616365121d0a150a0573686f703212001a0022002a0032003800420012001a020a001a002200'
    expect(read(sent)).toEqual({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop2' } })
  })

  it('create service nodeport --tcp=80:http --node-port=30080', () => {
    const sent =
      '6b3873000a0d0a02763112075365727669636512710a230a0377656212001a0473686f7022002a003200380042005a0a0a03617070120377656212460a200a0738302d6874747012035443501850220a080110001a04687474702880eb01120a0a0361707012037765621a0022084e6f6465506f72743a00420052005a00600068001a020a001a002200'
    expect(read(sent)).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' } },
      spec: {
        type: 'NodePort',
        ports: [{ name: '80-http', protocol: 'TCP', port: 80, targetPort: 'http', nodePort: 30_080 }],
        selector: { app: 'web' },
      },
    })
  })

  it('create configmap with a value that is no text', () => {
    const sent =
      '6b3873000a0f0a0276311209436f6e6669674d617012330a170a0362696e12001a0473686f7022002a0032003800420012060a01611201621a100a0762696e2e6461741205ff0062696e1a002200'
    expect(read(sent)).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'bin', namespace: 'shop' },
      data: { a: 'b' },
      binaryData: { 'bin.dat': Buffer.from([0xff, 0x00, 0x62, 0x69, 0x6e]).toString('base64') },
    })
  })

  it('create role, with the core group as an empty string in a list', () => {
    const sent =
      '6b3873000a240a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f76311204526f6c65122d0a150a017212001a0473686f7022002a0032003800420012140a0367657412001a0873657276696365732201781a002200'
    expect(read(sent)).toMatchObject({
      kind: 'Role',
      rules: [{ verbs: ['get'], apiGroups: [''], resources: ['services'], resourceNames: ['x'] }],
    })
  })

  it('create rolebinding', () => {
    const sent =
      '6b3873000a2b0a1c726261632e617574686f72697a6174696f6e2e6b38732e696f2f7631120b526f6c6542696e64696e67128f010a160a02726212001a0473686f7022002a0032003800420012270a0547726f75701219726261632e617574686f72697a6174696f6e2e6b38732e696f1a01672200121c0a0e536572766963654163636f756e7412001a027361220473686f701a2e0a19726261632e617574686f72697a6174696f6e2e6b38732e696f120b436c7573746572526f6c651a04766965771a002200'
    expect(read(sent)).toMatchObject({
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [
        { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'g' },
        { kind: 'ServiceAccount', name: 'sa', namespace: 'shop' },
      ],
    })
  })

  it('auth can-i, about a path', () => {
    const sent =
      '6b3873000a320a17617574686f72697a6174696f6e2e6b38732e696f2f7631121753656c665375626a656374416363657373526576696577122f0a100a0012001a0022002a003200380042001211120f0a082f6865616c74687a12036765741a08080012001a0020001a002200'
    expect(read(sent)).toEqual({
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { nonResourceAttributes: { path: '/healthz', verb: 'get' } },
    })
  })
})

/** Messages written field by field, as protoc would. */
const varint = (value: bigint): Buffer => {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, value)
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  return Buffer.from([...bytes, Number(rest)])
}
const number = (field: number, value: bigint): Buffer =>
  Buffer.concat([varint(BigInt(field * 8)), varint(value)])
const bytes = (field: number, ...parts: readonly (Buffer | string)[]): Buffer => {
  const content = Buffer.concat(parts.map(part => Buffer.from(part)))
  return Buffer.concat([varint(BigInt(field * 8 + 2)), varint(BigInt(content.length)), content])
}

it('times have whole seconds, micro times six digits, and an empty one is none', () => {
  const time = (field: number) => bytes(field, number(1, 1_767_323_045n), number(2, 678_901_234n))
  const raw = Buffer.concat([time(6), bytes(7), time(10)])
  expect(readProtobuf(kindOf('Event'), raw)).toEqual({
    firstTimestamp: '2026-01-02T03:04:05Z',
    eventTime: '2026-01-02T03:04:05.678901Z',
  })
})

it('a pointer keeps its zero value, any other field leaves it out', () => {
  const conditions = bytes(2, number(1, 0n), number(2, 1n), number(3, 0n))
  const raw = Buffer.concat([bytes(2, bytes(1, '10.0.0.1'), conditions), bytes(4, 'IPv4')])
  expect(readProtobuf(kindOf('EndpointSlice'), raw)).toEqual({
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: false, serving: true, terminating: false } }],
  })
})

it.each([9007199254740993n, 9223372036854775807n, -9223372036854775808n])(
  '%d keeps all its digits',
  value => {
    const { metadata } = readProtobuf(kindOf('Namespace'), bytes(1, number(7, value)))
    expect(metadata).toEqual({ generation: value })
  },
)

it('numbers may be negative, and lists of a map are wrapped', () => {
  expect(readProtobuf(kindOf('Event'), number(8, -5n))).toEqual({ count: -5 })
  const extra = bytes(5, bytes(1, 'scopes'), bytes(2, bytes(1, 'a'), bytes(1, 'b')))
  expect(readProtobuf(kindOf('SubjectAccessReview'), bytes(2, extra, bytes(3, 'jo')))).toEqual({
    spec: { extra: { scopes: ['a', 'b'] }, user: 'jo' },
  })
})

it('a key of a map may be any text', () => {
  const raw = bytes(2, bytes(1, '__proto__'), bytes(2, 'x'))
  const { data } = readProtobuf(kindOf('ConfigMap'), raw)
  expect(JSON.stringify(data)).toBe('{"__proto__":"x"}')
})

it('DeleteOptions', () => {
  const raw = Buffer.concat([
    number(1, 0n),
    bytes(2, bytes(1, 'uid')),
    bytes(4, 'Foreground'),
    bytes(5, 'All'),
  ])
  expect(readProtobufDeleteOptions(raw)).toEqual({
    gracePeriodSeconds: 0,
    preconditions: { uid: 'uid' },
    propagationPolicy: 'Foreground',
    dryRun: ['All'],
  })
})

describe('what is no message', () => {
  it.each([
    ['without its beginning', '0a0f'],
    ['cut off', '6b387300 0a0f0a0276'],
    ['with field 0', '6b387300 0200'],
    ['with a group', '6b387300 0b'],
    ['with an endless number', '6b387300 08ffffffffffffffffffffff'],
  ])('%s is a BadRequest', (_, hex) => {
    expect(() => read(hex.replaceAll(' ', ''))).toThrow(/protobuf/)
  })

  it('is a BadRequest or read as something, whatever the bytes', () => {
    const withFields = kinds.filter(kind => kind.protobuf !== undefined)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.constantFrom(...withFields), (raw, kind) => {
        try {
          readProtobuf(kind, Buffer.from(raw))
        } catch (thrown) {
          if (!isReason(thrown, 'BadRequest')) throw thrown
        }
      }),
    )
  })

  it('of millions of empty items is read in their number', () => {
    const raw = Buffer.alloc(1_000_000, Buffer.from([0x12, 0x00]))
    expect(readProtobuf(kindOf('Role'), raw)).toMatchObject({ rules: { length: 500_000 } })
  })
})

it('every numbered field is a property of its kind, and every number stands once', () => {
  for (const kind of kinds) {
    if (kind.protobuf !== undefined) check(kind.kind, kind.protobuf, kind.schema)
  }
})

function check(path: string, fields: ProtobufFields, schema: AnyKind['schema']): void {
  const inner = schema.items ?? schema
  const numbers = Object.values(fields).map(field => (typeof field === 'number' ? field : field.number))
  expect(new Set(numbers).size, path).toBe(numbers.length)
  for (const [name, field] of Object.entries(fields)) {
    const property = inner.properties?.[name]
    if (property === undefined) throw new Error(`${path}.${name} is no property`)
    if (typeof field === 'object' && field.fields !== undefined)
      check(`${path}.${name}`, field.fields, property)
  }
}
