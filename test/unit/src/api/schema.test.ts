import { describe, expect, expectTypeOf, it } from 'vitest'
import { defineKind, type ObjectOf } from '../../../../src/api/kind.ts'
import type { ServiceExport } from '../../../../src/api/kinds/service-export.ts'
import type { ServiceImport } from '../../../../src/api/kinds/service-import.ts'
import type { Condition, ObjectMeta } from '../../../../src/api/meta.ts'
import { type Infer, objectSchema, s } from '../../../../src/api/schema.ts'

const port = s.object({ name: s.optional(s.string()), port: s.int() })

describe('a schema', () => {
  it('is JSON Schema with the extensions that clients know', () => {
    const schema = objectSchema({
      kind: s.oneOf(['a', 'b'], { default: 'a' }),
      ports: s.optional(s.patchList(s.mapList(port, ['port']), 'port')),
      names: s.setList(s.string({ maxLength: 3 })),
      target: s.optional(s.intOrString()),
      labels: s.optional(s.atomic(s.map(s.string()))),
    })
    expect(schema).toEqual({
      type: 'object',
      required: ['kind', 'names'],
      properties: {
        kind: { type: 'string', enum: ['a', 'b'], default: 'a' },
        ports: {
          type: 'array',
          items: {
            type: 'object',
            required: ['port'],
            properties: { name: { type: 'string' }, port: { type: 'integer', format: 'int32' } },
          },
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['port'],
          'x-kubernetes-patch-strategy': 'merge',
          'x-kubernetes-patch-merge-key': 'port',
        },
        names: {
          type: 'array',
          items: { type: 'string', maxLength: 3 },
          'x-kubernetes-list-type': 'set',
        },
        target: { 'x-kubernetes-int-or-string': true },
        labels: {
          type: 'object',
          additionalProperties: { type: 'string' },
          'x-kubernetes-map-type': 'atomic',
        },
      },
    })
  })

  it('is the type of its values', () => {
    expectTypeOf<Infer<typeof port>>().toEqualTypeOf<{ readonly port: number } & { readonly name?: string }>()
    const choice = s.oneOf(['a', 'b'])
    expectTypeOf<Infer<typeof choice>>().toEqualTypeOf<'a' | 'b'>()
    const map = s.map(port)
    expectTypeOf<Infer<typeof map>[string]>().toEqualTypeOf<Infer<typeof port>>()
  })

  it('takes only fields of its items as keys of a map list', () => {
    // @ts-expect-error: items have no protocol
    const list = s.mapList(port, ['protocol'])
    expect(list.json['x-kubernetes-list-map-keys']).toEqual(['protocol'])
  })
})

describe('a kind', () => {
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
  const Kind = defineKind({
    ...names,
    properties: { spec: s.object({ size: s.int() }), status: s.optional(s.object({ ready: s.boolean() })) },
    columns: [{ name: 'Size', type: 'integer', description: 'Its size.', cell: o => o.spec.size }],
  })

  it('is the type of its objects', () => {
    type Thing = ObjectOf<typeof Kind>
    expectTypeOf<Thing['metadata']>().toEqualTypeOf<ObjectMeta>()
    expectTypeOf<Thing['spec']['size']>().toEqualTypeOf<number>()
    expectTypeOf<NonNullable<Thing['status']>['ready']>().toEqualTypeOf<boolean>()
  })

  it('shows columns only what its objects have', () => {
    const wrong = () =>
      defineKind({
        ...names,
        properties: { spec: s.object({ size: s.int() }) },
        // @ts-expect-error: a spec has no colour
        columns: [{ name: 'C', type: 'string', description: '', cell: o => o.spec.colour }],
      })
    expect(wrong).toBeTypeOf('function')
  })

  it('is stored at one of its versions', () => {
    expect(() => defineKind({ ...names, properties: {}, storageVersion: 'v2' })).toThrow(
      'Thing: storageVersion v2 is not one of its versions',
    )
  })
})

describe('the types of the MCS kinds', () => {
  it('let an export be empty and make an import say its type and ports', () => {
    expectTypeOf<undefined>().toExtend<ServiceExport['spec']>()
    type Spec = NonNullable<ServiceImport['spec']>
    expectTypeOf<Spec['type']>().toEqualTypeOf<'ClusterSetIP' | 'Headless'>()
    expectTypeOf<Spec['ports'][number]['port']>().toEqualTypeOf<number>()
    expectTypeOf<Spec['ips']>().toEqualTypeOf<readonly string[] | undefined>()
  })

  it('have the conditions that all kinds have', () => {
    type Conditions = NonNullable<NonNullable<ServiceExport['status']>['conditions']>
    expectTypeOf<Conditions[number]>().toExtend<Condition>()
    expectTypeOf<Condition>().toExtend<Conditions[number]>()
  })
})
