// How what several managers apply is put together, for every kind of list and map that a schema can declare.
import { describe, expect } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { must } from './frame/must.ts'
import type { Place } from './frame/subject.ts'
import { aSuite, isGadget } from './frame/suite.ts'

const suite = aSuite()

type Spec = Readonly<Record<string, unknown>>

/** What ann applies, what bob applies, what comes of both, and what is left when ann applies nothing of it any more. */
type Merge = {
  readonly ann: Spec
  readonly bob: Spec
  readonly both: Spec
  readonly left: Spec
  /** What bob takes away from ann. */
  readonly conflicts?: readonly string[]
}

const merges: Readonly<Record<string, Merge>> = {
  'a set': {
    ann: { tags: ['a', 'b'] },
    bob: { tags: ['b', 'c'] },
    both: { tags: ['a', 'b', 'c'] },
    left: { tags: ['b', 'c'] },
  },
  'a list by one key': {
    ann: { parts: [{ name: 'a', size: 1 }, { name: 'b' }] },
    bob: { parts: [{ name: 'b', size: 2 }, { name: 'c' }] },
    both: { parts: [{ name: 'a', size: 1 }, { name: 'b', size: 2 }, { name: 'c' }] },
    left: { parts: [{ name: 'b', size: 2 }, { name: 'c' }] },
  },
  'a list by several keys, of which one has a default': {
    ann: { ports: [{ port: 80, protocol: 'TCP', note: 'web' }] },
    bob: { ports: [{ port: 80, protocol: 'UDP' }, { port: 80 }] },
    both: {
      ports: [
        { port: 80, protocol: 'UDP' },
        { port: 80, protocol: 'TCP', note: 'web' },
      ],
    },
    left: {
      ports: [
        { port: 80, protocol: 'UDP' },
        { port: 80, protocol: 'TCP' },
      ],
    },
  },
  'an atomic list': {
    ann: { steps: ['one', 'two'] },
    bob: { steps: ['two', 'three', 'two'] },
    both: { steps: ['two', 'three', 'two'] },
    left: { steps: ['two', 'three', 'two'] },
    conflicts: ['.spec.steps'],
  },
  'a map': {
    ann: { settings: { a: '1', b: '2' } },
    bob: { settings: { b: '2', c: '3' } },
    both: { settings: { a: '1', b: '2', c: '3' } },
    left: { settings: { b: '2', c: '3' } },
  },
  'an atomic map': {
    ann: { selector: { a: '1' } },
    bob: { selector: { b: '2' } },
    both: { selector: { b: '2' } },
    left: { selector: { b: '2' } },
    conflicts: ['.spec.selector'],
  },
  'an atomic object': {
    ann: { place: { x: 1 } },
    bob: { place: { y: 2 } },
    both: { place: { y: 2 } },
    left: { place: { y: 2 } },
    conflicts: ['.spec.place'],
  },
  'objects in objects': {
    ann: { inner: { deep: { note: 'a' } }, target: 80 },
    bob: { inner: { deep: { note: 'b' } }, target: 'http' },
    both: { inner: { deep: { note: 'b' } }, target: 'http' },
    left: { inner: { deep: { note: 'b' } }, target: 'http' },
    conflicts: ['.spec.inner.deep.note', '.spec.target'],
  },
  'what no schema tells of': {
    ann: { free: { a: { x: 1 }, list: [1] } },
    bob: { free: { a: { y: 2 }, list: [2] } },
    both: { free: { a: { x: 1, y: 2 }, list: [2] } },
    left: { free: { a: { y: 2 }, list: [2] } },
    conflicts: ['.spec.free.list'],
  },
}

/** Of an object that ann has made with nothing but its owner. */
function config({ apiVersion, kind, metadata }: KubeObject, spec: Spec): KubeObject {
  return { apiVersion, kind, metadata: { name: metadata.name }, spec: { owner: 'ann', ...spec } }
}

const without = ({ owner: _owner, minimum: _minimum, mode: _mode, ...spec }: Spec): Spec => spec

async function bare(place: Place): Promise<KubeObject> {
  const answer = await place.apply(config(place.sample(), {}), 'maker')
  if (answer.code !== 201) throw new Error(answer.text)
  return answer.body
}

suite.every(isGadget, subject => {
  describe.each(Object.entries(merges))('%s', (_what, { ann, bob, both, left, conflicts = [] }) => {
    must(68, 'is merged as its schema says', async () => {
      const place = await subject.place()
      const object = await bare(place)
      expect((await place.apply(config(object, ann), 'ann')).code).toBe(200)
      const second = await place.apply(config(object, bob), 'bob')
      if (conflicts.length === 0) expect(second.code).toBe(200)
      else {
        const fields = second.body.details.causes.map((cause: { field: string }) => cause.field)
        expect(fields.toSorted()).toEqual(conflicts.toSorted())
        expect((await place.apply(config(object, bob), 'bob', '&force=true')).code).toBe(200)
      }
      expect(without((await place.get(object)).body.spec)).toEqual(both)
      const dropped = await place.apply(config(object, {}), 'ann')
      expect(without(dropped.body.spec)).toEqual(left)
      const empty = await place.apply(config(object, {}), 'bob')
      expect(without(empty.body.spec)).toEqual({})
    })
  })

  must(68, 'keeps the order that is applied, and what others hold in its place', async () => {
    const place = await subject.place()
    const object = await bare(place)
    await place.apply(config(object, { tags: ['a', 'b', 'c'] }), 'ann')
    const answer = await place.apply(config(object, { tags: ['c', 'new', 'a'] }), 'bob')
    const { tags } = answer.body.spec
    expect(new Set(tags)).toEqual(new Set(['a', 'b', 'c', 'new']))
    expect(tags.filter((tag: string) => tag !== 'b')).toEqual(['c', 'new', 'a'])
  })

  must([67, 69], 'has its default back when a field is no longer applied', async () => {
    const place = await subject.place()
    const object = await bare(place)
    expect(object.spec).toMatchObject({ mode: 'Fast', minimum: 0 })
    await place.apply(config(object, { mode: 'Safe' }), 'ann')
    const dropped = await place.apply(config(object, {}), 'ann')
    expect(dropped.body.spec).toMatchObject({ mode: 'Fast' })
    expect((await place.apply(config(object, {}), 'ann')).body).toEqual(dropped.body)
  })

  must([62, 75], 'refuses items twice and fields at any depth that it does not know', async () => {
    const place = await subject.place()
    const object = await bare(place)
    for (const [spec, fault] of [
      [{ tags: ['a', 'a'] }, '.spec.tags: duplicate entries for key [="a"]'],
      [{ parts: [{ name: 'a' }, { name: 'a' }] }, '.spec.parts: duplicate entries for key [name="a"]'],
      [{ inner: { deep: { nope: 1 } } }, '.spec.inner.deep.nope: field not declared in schema'],
      [{ parts: [{ name: 'a', nope: 1 }] }, '.spec.parts[0].nope: field not declared in schema'],
    ] as const) {
      const { body } = await place.apply(config(object, spec), 'ann')
      expect(body).toMatchObject({ code: 400, message: expect.stringContaining(fault) })
    }
  })

  must(31, 'is refused for what its own rules say, with the field and the reason', async () => {
    const place = await subject.place()
    const made = await place.make()
    const causes = async (spec: Spec) => {
      const answer = await place.patch(made, { spec })
      expect(answer.code).toBe(422)
      return answer.body.details.causes
    }
    expect(await causes({ owner: 'bob' })).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.owner',
        message: 'Invalid value: "bob": field is immutable',
      },
    ])
    expect(await causes({ minimum: 9 })).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.maximum',
        message: 'Invalid value: 5: must not be less than spec.minimum',
      },
    ])
    expect(await causes({ mode: 'Slow', ports: [{ port: 0 }] })).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ reason: 'FieldValueNotSupported', field: 'spec.mode' }),
        expect.objectContaining({ reason: 'FieldValueInvalid', field: 'spec.ports[0].port' }),
      ]),
    )
  })
})
