// Integers beyond 2^53, wherever an object may have them, through every verb.
import { beforeEach, describe, expect, it } from 'vitest'
import { defineKind } from '../../../../src/api/kind.ts'
import { s } from '../../../../src/api/schema.ts'
import { aRegistry, type RegistryUnderTest } from '../../../support/registry.ts'
import { applyType, jsonPatchType, mergePatchType } from '../../../support/widgets.ts'

const big = 9007199254740993n
const greatest = 9223372036854775807n
const least = -9223372036854775808n

const CounterKind = defineKind({
  group: 'test.example.com',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Counter',
  plural: 'counters',
  scope: 'Cluster',
  description: 'For tests.',
  servers: ['standalone'],
  strategicMergePatch: true,
  properties: {
    spec: s.object({
      count: s.optional(s.int64()),
      few: s.optional(s.int64({ minimum: -5, maximum: 1e18 })),
      small: s.optional(s.int()),
      port: s.optional(s.intOrString()),
      set: s.optional(s.setList(s.int64())),
      parts: s.optional(
        s.patchList(s.mapList(s.object({ id: s.int64(), note: s.optional(s.string()) }), ['id']), 'id'),
      ),
      named: s.optional(s.map(s.int64())),
      free: s.optional(s.anything()),
    }),
  },
  columns: [{ name: 'Count', type: 'integer', description: '', cell: ({ spec }) => spec.count ?? null }],
})

const counters = '/apis/test.example.com/v1/counters'
const item = `${counters}/a`
const strategicType = 'application/strategic-merge-patch+json'

const spec = {
  count: greatest,
  few: 2n ** 55n,
  port: big,
  set: [big, big + 1n, 5],
  parts: [
    { id: big, note: 'one' },
    { id: big + 1n, note: 'two' },
  ],
  named: { a: least },
  free: { deep: [{ inner: big, half: 0.5 }], text: String(big) },
}

const aCounter = (content: object = spec) => ({
  apiVersion: 'test.example.com/v1',
  kind: 'Counter',
  metadata: { name: 'a' },
  spec: content,
})

let registry: RegistryUnderTest

beforeEach(async () => {
  registry = await aRegistry({ kinds: [CounterKind] })
})

const create = (content?: object) => registry.send('POST', counters, { body: aCounter(content) })
const patch = (type: string, body: unknown, query = '') =>
  registry.send('PATCH', item + query, { type, body })

describe('an integer of 64 bits', () => {
  it('is stored and answered as it was sent, in JSON and in YAML', async () => {
    const made = await create()
    expect(made).toMatchObject({ code: 201, body: { spec } })
    expect((await registry.send('GET', item)).body).toEqual(made.body)
    expect((await registry.send('GET', counters)).body.items).toEqual([made.body])
    const yaml =
      'apiVersion: test.example.com/v1\nkind: Counter\nmetadata: {name: b}\nspec: {count: -9007199254740993}\n'
    const other = await registry.send('POST', counters, { type: 'application/yaml', body: yaml })
    expect(other.body.spec.count).toBe(-big)
  })

  it('changes nothing when it is put, patched or applied again', async () => {
    const made = await create()
    const watch = await registry.watch(
      `${counters}?watch=1&resourceVersion=${made.body.metadata.resourceVersion}`,
    )
    expect((await registry.send('PUT', item, { body: made.body })).body).toEqual(made.body)
    expect((await patch(mergePatchType, { spec })).body).toEqual(made.body)
    expect((await patch(strategicType, { spec })).body).toEqual(made.body)
    expect((await patch(jsonPatchType, [{ op: 'replace', path: '/spec', value: spec }])).body).toEqual(
      made.body,
    )
    const applied = await patch(applyType, aCounter(), '?fieldManager=ann')
    expect((await patch(applyType, aCounter(), '?fieldManager=ann')).body).toEqual(applied.body)
    await watch.settle()
    expect(watch.frames.map(frame => frame.object.spec)).toEqual([spec])
  })

  it('differs from its neighbours', async () => {
    await create()
    const next = big + 1n
    const changed = await patch(mergePatchType, { spec: { free: { deep: [{ inner: next }] }, port: next } })
    expect(changed.body).toMatchObject({
      metadata: { generation: 2 },
      spec: { ...spec, port: next, free: { deep: [{ inner: next }], text: String(big) } },
    })
    const tested = (value: bigint) => patch(jsonPatchType, [{ op: 'test', path: '/spec/count', value }])
    expect((await tested(greatest)).code).toBe(200)
    expect((await tested(greatest - 1n)).code).toBe(422)
    const copied = await patch(jsonPatchType, [
      { op: 'copy', from: '/spec/count', path: '/spec/named/b' },
      { op: 'move', from: '/spec/set/0', path: '/spec/set/2' },
    ])
    expect(copied.body.spec).toMatchObject({ named: { a: least, b: greatest }, set: [next, 5, big] })
  })

  it('tells items of lists apart', async () => {
    await create({})
    const merged = await patch(strategicType, { spec: { parts: [{ id: big }, { id: big + 1n }] } })
    expect(merged.body.spec.parts).toEqual([{ id: big }, { id: big + 1n }])
    const removed = await patch(strategicType, { spec: { parts: [{ id: big, $patch: 'delete' }] } })
    expect(removed.body.spec.parts).toEqual([{ id: big + 1n }])
    const twice = { set: [big, big], parts: [{ id: big }, { id: big }] }
    const refused = await patch(mergePatchType, { spec: twice })
    expect(refused.body.details.causes.map((cause: { message: string }) => cause.message)).toEqual([
      'Duplicate value: 9007199254740993',
      'Duplicate value: {"id":9007199254740993}',
    ])
  })

  it('is owned under all its digits', async () => {
    const mine = { set: [big], parts: [{ id: big, note: 'mine' }] }
    const made = await patch(applyType, aCounter(mine), '?fieldManager=ann')
    expect(made.body.metadata.managedFields[0].fieldsV1).toEqual({
      'f:spec': {
        'f:set': { 'v:9007199254740993': {} },
        'f:parts': { 'k:{"id":9007199254740993}': { '.': {}, 'f:id': {}, 'f:note': {} } },
      },
    })
    const theirs = { set: [big + 1n], parts: [{ id: big + 1n, note: 'theirs' }] }
    const both = await patch(applyType, aCounter(theirs), '?fieldManager=bob')
    expect(both.body.spec).toEqual({ set: [big, big + 1n], parts: [...mine.parts, ...theirs.parts] })
    const refused = await patch(
      applyType,
      aCounter({ parts: [{ id: big, note: 'no' }] }),
      '?fieldManager=bob',
    )
    expect(refused.body.message).toContain('.spec.parts[id=9007199254740993].note')
    const left = await patch(applyType, aCounter({}), '?fieldManager=ann')
    expect(left.body.spec).toEqual(theirs)
  })

  it('is compared with the bounds of its field', async () => {
    const faults = async (content: object) =>
      (await create(content)).body.details.causes.map((cause: { message: string }) => cause.message)
    expect(await faults({ few: 10n ** 18n + 1n, small: big })).toEqual([
      'Invalid value: 1000000000000000001: spec.few in body should be less than or equal to 1000000000000000000',
      'Invalid value: 9007199254740993: spec.small in body should be less than or equal to 2147483647',
    ])
    expect(await faults({ few: least })).toEqual([
      'Invalid value: -9223372036854775808: spec.few in body should be greater than or equal to -5',
    ])
    // Beyond int64 there are only floats, and a float of that size is no integer.
    for (const count of ['9223372036854775808', '-9223372036854775809', '1e19', '1.5']) {
      const body = JSON.stringify(aCounter({ count: 0 })).replace('"count":0', `"count":${count}`)
      const refused = await registry.send('POST', counters, { body })
      expect(refused.body.message).toContain('spec.count in body must be of type integer: "number"')
    }
  })
})
