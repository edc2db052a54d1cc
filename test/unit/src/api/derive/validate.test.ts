import { describe, expect, it } from 'vitest'
import { applyDefaults, prune, validateSchema } from '../../../../../src/api/derive/validate.ts'
import { type AnyKind, defineKind } from '../../../../../src/api/kind.ts'
import type { KubeObject } from '../../../../../src/api/meta.ts'
import { byText } from '../../../../../src/api/order.ts'
import { type Properties, s } from '../../../../../src/api/schema.ts'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { aCondition, anExport, anImport, kindNamed } from '../../../../support/mcs-objects.ts'

const importKind = kindNamed('ServiceImport')
const exportKind = kindNamed('ServiceExport')

function aKind<P extends Properties>(properties: P): AnyKind {
  return defineKind({
    group: 'example.com',
    versions: [{ name: 'v1' }],
    storageVersion: 'v1',
    kind: 'Thing',
    plural: 'things',
    scope: 'Namespaced',
    description: 'A thing.',
    servers: ['hub'],
    properties,
  })
}

function aThing(content: Readonly<Record<string, unknown>>): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 'a' }, ...content }
}

/** As a write has it: nulls are dropped before anything is validated. */
function texts(kind: AnyKind, object: KubeObject): readonly string[] {
  return validateSchema(kind, applyDefaults(kind, object)).map(fieldErrorText)
}

describe('what a kube-apiserver answers about a ServiceImport', () => {
  it.each([
    [
      'a spec without anything',
      { type: undefined, ports: undefined },
      ['spec.ports: Required value', 'spec.type: Required value'],
    ],
    [
      'a type that there is not',
      { type: 'Foo' },
      ['spec.type: Unsupported value: "Foo": supported values: "ClusterSetIP", "Headless"'],
    ],
    [
      'three addresses',
      { ips: ['1.1.1.1', '2.2.2.2', '3.3.3.3'] },
      ['spec.ips: Too many: 3: must have at most 2 items'],
    ],
    ['ports that are null', { ports: null }, ['spec.ports: Required value']],
    [
      'a port in quotes',
      { ports: [{ port: '80' }] },
      [
        'spec.ports[0].port: Invalid value: "string": spec.ports[0].port in body must be of type integer: "string"',
      ],
    ],
    ['a port without a number', { ports: [{ name: 'x' }] }, ['spec.ports[0].port: Required value']],
    [
      'several faults',
      { type: 'Foo', ips: ['1', '2', '3'], ports: [{}] },
      [
        'spec.ips: Too many: 3: must have at most 2 items',
        'spec.ports[0].port: Required value',
        'spec.type: Unsupported value: "Foo": supported values: "ClusterSetIP", "Headless"',
      ],
    ],
    ['no ports', { type: 'Headless', ports: [] }, []],
    ['one family twice', { ipFamilies: ['IPv4', 'IPv4'] }, []],
  ])('%s', (_, spec, errors) => {
    expect([...texts(importKind, anImport(spec))].toSorted(byText)).toEqual(errors)
  })

  it.each([
    ['a half port', 80.5, 'must be of type integer: "number"'],
    ['a port beyond int32', 4294967296, 'should be less than or equal to 2147483647'],
    ['a port below int32', -2147483649, 'should be greater than or equal to -2147483648'],
  ])('%s is refused at its place', (_, port, text) => {
    const [error] = texts(importKind, anImport({ ports: [{ port }] }))
    expect(error).toMatch(/^spec\.ports\[0\]\.port: Invalid value: /)
    expect(error).toContain(`spec.ports[0].port in body ${text}`)
  })

  it('lets the whole spec be absent', () => {
    const { spec: _, ...bare } = anImport()
    expect(texts(importKind, { ...bare, metadata: bare.metadata, apiVersion: '', kind: '' })).toEqual([])
  })

  it('names clusters that come twice, and those without an id', () => {
    const withClusters = (clusters: unknown) => ({ ...anImport(), status: { clusters } })
    expect(texts(importKind, withClusters([{ cluster: 'c1' }, { cluster: 'c1' }]))).toEqual([
      'status.clusters[1]: Duplicate value: {"cluster":"c1"}',
    ])
    expect(texts(importKind, withClusters([{}]))).toEqual(['status.clusters[0].cluster: Required value'])
  })
})

describe('what a kube-apiserver answers about a ServiceExport', () => {
  it.each([
    [
      'a spec that is text',
      'x',
      ['spec: Invalid value: "string": spec in body must be of type object: "string"'],
    ],
    [
      'a label that is a number',
      { exportedLabels: { a: 1 } },
      [
        'spec.exportedLabels.a: Invalid value: "integer": spec.exportedLabels.a in body must be of type string: "integer"',
      ],
    ],
    ['labels that are null', { exportedLabels: null }, []],
    ['a label that is null', { exportedLabels: { a: null } }, []],
    ['a spec that is null', null, []],
  ])('%s', (_, spec, errors) => {
    expect(texts(exportKind, anExport({ spec }))).toEqual(errors)
  })

  it.each([
    ['without a message', { message: undefined }, 'status.conditions[0].message: Required value'],
    [
      'with a space in its reason',
      { reason: 'Port Conflict' },
      `status.conditions[0].reason: Invalid value: "Port Conflict": conditions[0].reason in body should match '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'`,
    ],
    [
      'with an empty reason',
      { reason: '' },
      'status.conditions[0].reason: Invalid value: "": conditions[0].reason in body should be at least 1 chars long',
    ],
    [
      'with a message that is too long',
      { message: 'x'.repeat(32769) },
      'status.conditions[0].message: Too long: may not be more than 32768 bytes',
    ],
    [
      'with another status',
      { status: 'Maybe' },
      'status.conditions[0].status: Unsupported value: "Maybe": supported values: "True", "False", "Unknown"',
    ],
    [
      'with a time that is none',
      { lastTransitionTime: 'yesterday' },
      'status.conditions[0].lastTransitionTime: Invalid value: "yesterday": conditions[0].lastTransitionTime in body must be of type date-time: "yesterday"',
    ],
    [
      'with a generation below zero',
      { observedGeneration: -1 },
      'status.conditions[0].observedGeneration: Invalid value: -1: conditions[0].observedGeneration in body should be greater than or equal to 0',
    ],
  ])('a condition %s', (_, condition, error) => {
    const object = anExport({ status: { conditions: [aCondition(condition)] } })
    expect(texts(exportKind, object)).toEqual([error])
  })

  it('takes reasons that are joined by commas', () => {
    const conditions = [aCondition({ type: 'Conflict', reason: 'PortConflict,LabelsConflict' })]
    expect(texts(exportKind, anExport({ status: { conditions } }))).toEqual([])
  })

  it('names a condition that comes twice', () => {
    const conditions = [aCondition(), aCondition()]
    expect(texts(exportKind, anExport({ status: { conditions } }))).toEqual([
      'status.conditions[1]: Duplicate value: {"type":"Valid"}',
    ])
  })
})

describe('structural validation', () => {
  const kind = aKind({
    spec: s.optional(
      s.object({
        set: s.optional(s.setList(s.string())),
        target: s.optional(s.intOrString()),
        on: s.optional(s.boolean()),
        share: s.optional(s.optional(s.int({ minimum: 1, maximum: 10 }))),
        bytes: s.optional(s.bytes()),
        many: s.optional(s.list(s.string(), { minItems: 2 })),
        note: s.optional(s.string({ nullable: true })),
        emoji: s.optional(s.string({ maxLength: 2 })),
        big: s.optional(s.int64()),
        free: s.optional(s.anything()),
      }),
    ),
  })

  it.each([
    [{ set: ['a', 'b', 'a'] }, ['spec.set[2]: Duplicate value: "a"']],
    [{ target: 'http' }, []],
    [{ target: 80 }, []],
    [
      { target: true },
      [
        'spec.target: Invalid value: "boolean": spec.target in body must be of type integer,string: "boolean"',
      ],
    ],
    [{ on: 'yes' }, ['spec.on: Invalid value: "string": spec.on in body must be of type boolean: "string"']],
    [{ share: 11 }, ['spec.share: Invalid value: 11: spec.share in body should be less than or equal to 10']],
    [{ bytes: 'aGVsbG8=' }, []],
    [{ bytes: 'a' }, ['spec.bytes: Invalid value: "a": spec.bytes in body must be of type byte: "a"']],
    [{ many: ['a'] }, ['spec.many: Invalid value: 1: spec.many in body should have at least 2 items']],
    [
      { many: [null, 'a'] },
      ['spec.many[0]: Invalid value: "null": spec.many[0] in body must be of type string: "null"'],
    ],
    [
      { many: 'ab' },
      ['spec.many: Invalid value: "string": spec.many in body must be of type array: "string"'],
    ],
    [{ note: null }, []],
    [{ emoji: '🙂🙂' }, []],
    [{ emoji: 'abc' }, ['spec.emoji: Too long: may not be more than 2 bytes']],
    [{ big: 9007199254740991 }, []],
    [{ free: { any: [{ thing: 1 }] } }, []],
    [{ free: [] }, ['spec.free: Invalid value: "array": spec.free in body must be of type object: "array"']],
  ])('%j', (spec, errors) => {
    expect(texts(kind, aThing({ spec }))).toEqual(errors)
  })

  it('asks for what the root needs', () => {
    expect(texts(aKind({ spec: s.object({}) }), aThing({}))).toEqual(['spec: Required value'])
  })

  it('says a hundred faults and no more', () => {
    const many = Array.from({ length: 1000 }, () => 1)
    expect(texts(kind, aThing({ spec: { many } }))).toHaveLength(100)
  })
})

describe('defaults', () => {
  const kind = aKind({
    spec: s.optional(
      s.object({
        protocol: s.optional(s.string({ default: 'TCP' })),
        ports: s.optional(s.list(s.object({ protocol: s.optional(s.string({ default: 'UDP' })) }))),
        zones: s.optional(s.map(s.object({ weight: s.optional(s.int({ default: 1 })) }))),
        note: s.optional(s.string({ nullable: true })),
      }),
    ),
  })

  it('are filled in at any depth, where the object around them is given', () => {
    const sent = aThing({ spec: { ports: [{}, { protocol: 'SCTP' }], zones: { a: {} } } })
    expect(applyDefaults(kind, sent).spec).toEqual({
      protocol: 'TCP',
      ports: [{ protocol: 'UDP' }, { protocol: 'SCTP' }],
      zones: { a: { weight: 1 } },
    })
    expect(applyDefaults(kind, aThing({})).spec).toBeUndefined()
  })

  it('take the place of nulls that are not allowed, and keep those that are', () => {
    const sent = aThing({ spec: { protocol: null, ports: null, note: null } })
    expect(applyDefaults(kind, sent).spec).toEqual({ protocol: 'TCP', note: null })
  })

  it('leave no null in maps: built-in kinds have empty text for it', () => {
    const maps = {
      spec: s.optional(
        s.object({ texts: s.optional(s.map(s.string())), counts: s.optional(s.map(s.int())) }),
      ),
    }
    const sent = aThing({ spec: { texts: { a: null, b: 'c' }, counts: { d: null } } })
    expect(applyDefaults(aKind(maps), sent).spec).toEqual({ texts: { b: 'c' }, counts: {} })
    const data = { a: null, b: 'c' }
    const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data, binaryData: data }
    expect(applyDefaults(kindNamed('ConfigMap'), map)).toMatchObject({
      data: { a: '', b: 'c' },
      binaryData: { a: '', b: 'c' },
    })
  })

  it('leave an object that has all as it is', () => {
    const sent = aThing({ spec: { protocol: 'TCP', ports: [{ protocol: 'TCP' }], zones: {} } })
    expect(applyDefaults(kind, sent)).toBe(sent)
  })

  it('leave the object that was sent unchanged', () => {
    const sent = aThing({ spec: { ports: [{}] } })
    const before = structuredClone(sent)
    applyDefaults(kind, sent)
    expect(sent).toEqual(before)
  })

  it('of a kind are computed only for objects that the schema takes', () => {
    const computing = defineKind({
      ...names,
      properties: { spec: s.optional(s.object({ size: s.int() })) },
      default: o => ({
        ...o,
        metadata: { ...o.metadata, labels: { size: String(o.spec?.size.toFixed(0)) } },
      }),
    })
    expect(applyDefaults(computing, aThing({ spec: { size: 3 } })).metadata.labels).toEqual({ size: '3' })
    expect(applyDefaults(computing, aThing({ spec: { size: 'x' } })).metadata.labels).toBeUndefined()
  })
})

const names = {
  group: 'example.com',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Thing',
  plural: 'things',
  scope: 'Namespaced',
  description: 'A thing.',
  servers: ['hub'],
} as const

describe('pruning', () => {
  it('drops unknown fields at any depth and says where they were', () => {
    const sent = {
      ...anImport({ nope: 1, ports: [{ port: 80, foo: { bar: 1 } }], ips: ['1'] }),
      extra: true,
      status: { conditions: [aCondition({ more: 1 })] },
      metadata: { name: 'a', bogus: 'x', ownerReferences: [{ uid: '1', odd: 1 }], labels: { any: 'key' } },
    }
    // What was sent need not be an object of any kind.
    const { object, unknown } = prune(importKind, sent as unknown as KubeObject)
    expect([...unknown].toSorted(byText)).toEqual([
      'extra',
      'metadata.bogus',
      'metadata.ownerReferences[0].odd',
      'spec.nope',
      'spec.ports[0].foo',
      'status.conditions[0].more',
    ])
    expect(object).toEqual({
      ...anImport({ ports: [{ port: 80 }], ips: ['1'] }),
      status: { conditions: [aCondition()] },
      metadata: { name: 'a', ownerReferences: [{ uid: '1' }], labels: { any: 'key' } },
    })
  })

  it('answers the same object when all is known', () => {
    const sent = anImport()
    expect(prune(importKind, sent)).toEqual({ object: sent, unknown: [] })
    expect(prune(importKind, sent).object).toBe(sent)
  })

  it('keeps all of what is declared open', () => {
    const kind = aKind({ spec: s.optional(s.object({ free: s.optional(s.anything()) })) })
    const sent = aThing({ spec: { free: { any: { thing: [1] } } } })
    expect(prune(kind, sent).object).toBe(sent)
  })

  it('treats __proto__ as any other unknown field', () => {
    const sent: KubeObject = JSON.parse(
      '{"apiVersion":"v1","kind":"K","metadata":{"name":"a"},"spec":{"__proto__":{"type":"x"},"ports":[],"type":"Headless"}}',
    )
    const { object, unknown } = prune(importKind, sent)
    expect(unknown).toEqual(['spec.__proto__'])
    expect(JSON.stringify(object.spec)).toBe('{"ports":[],"type":"Headless"}')
  })

  it('keeps __proto__ as a key of a map', () => {
    const sent: KubeObject = JSON.parse(
      '{"apiVersion":"v1","kind":"K","metadata":{"name":"a","annotations":{"__proto__":"x"},"odd":1},"spec":{"exportedLabels":{"__proto__":"y"}}}',
    )
    expect(JSON.stringify(prune(exportKind, sent).object)).toBe(
      '{"apiVersion":"v1","kind":"K","metadata":{"name":"a","annotations":{"__proto__":"x"}},"spec":{"exportedLabels":{"__proto__":"y"}}}',
    )
  })

  it('names a hundred unknown fields and drops all', () => {
    const odd = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`odd${i}`, i]))
    const { object, unknown } = prune(exportKind, anExport({ spec: odd }))
    expect(unknown).toHaveLength(100)
    expect(object.spec).toEqual({})
  })
})
