import { expect } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { must } from './frame/must.ts'
import { applyPatch, content, jsonPatch, mergePatch, strategicPatch } from './frame/subject.ts'
import { aSuite, isGadget, isStored } from './frame/suite.ts'

const suite = aSuite()

const annotationsOf = ({ metadata }: KubeObject) => metadata.annotations ?? {}

suite.every(isStored, subject => {
  const { kind } = subject

  must(54, 'takes JSON patches with all operations, all of one or none', async () => {
    const place = await subject.place()
    const made = await place.make({
      annotations: { 'a.test/b': 'c', old: 'o' },
      finalizers: ['conventions.test/f'],
    })
    const patch = (operations: unknown) => place.patch(made, operations, { type: jsonPatch })
    const patched = await patch([
      { op: 'test', path: '/metadata/annotations/a.test~1b', value: 'c' },
      { op: 'add', path: '/metadata/annotations/added', value: 'a' },
      { op: 'replace', path: '/metadata/annotations/a.test~1b', value: 'd' },
      { op: 'copy', from: '/metadata/annotations/added', path: '/metadata/annotations/copied' },
      { op: 'move', from: '/metadata/annotations/old', path: '/metadata/annotations/moved' },
      { op: 'remove', path: '/metadata/annotations/added' },
      { op: 'add', path: '/metadata/finalizers/-', value: 'conventions.test/last' },
      { op: 'add', path: '/metadata/finalizers/0', value: 'conventions.test/first' },
    ])
    expect(patched.code).toBe(200)
    expect(annotationsOf(patched.body)).toEqual({ 'a.test/b': 'd', copied: 'a', moved: 'o' })
    expect(patched.body.metadata.finalizers).toEqual([
      'conventions.test/first',
      'conventions.test/f',
      'conventions.test/last',
    ])
    expect(content(patched.body)).toEqual(content(made))
    const add = { op: 'add', path: '/metadata/annotations/never', value: 'x' }
    for (const failing of [
      { op: 'test', path: '/metadata/name', value: 'other' },
      { op: 'remove', path: '/metadata/annotations/none' },
      { op: 'replace', path: '/metadata/none/of', value: 'x' },
      { op: 'add', path: '/metadata/finalizers/99', value: 'conventions.test/far' },
      { op: 'move', from: '/metadata/annotations/none', path: '/metadata/annotations/x' },
    ]) {
      expect((await patch([add, failing])).body).toMatchObject({ code: 422, reason: 'Invalid' })
    }
    expect((await patch({ op: 'add' })).code).toBe(400)
    expect((await place.get(made)).body).toEqual(patched.body)
    expect((await patch(null)).body).toEqual(patched.body)
    const lenient = await patch([
      { op: 'replace', path: '/metadata/annotations/none', value: 'x' },
      { op: 'add', path: '/metadata/annotations/empty' },
      { op: 'add', path: 'x/metadata/annotations/old', value: 'top', foo: 1 },
      { op: 'remove', path: '/metadata/finalizers/-1' },
    ])
    expect(lenient.code).toBe(200)
    expect(lenient.body.metadata.annotations).toMatchObject({ none: 'x', empty: '', old: 'top' })
    expect(lenient.body.metadata.finalizers).not.toContain('conventions.test/last')
    const strange = '[{"op":"test","op":"add","path":"/metadata/annotations/b","value":"c","foo":1}]'
    const query = { type: jsonPatch, query: '?fieldValidation=Strict' }
    expect((await place.patch(made, strange, query)).body).toMatchObject({
      code: 422,
      message: expect.stringContaining(
        'strict decoding error: json patch duplicate field "[0].op", json patch unknown field "[0].foo"',
      ),
    })
    for (const name of ['kind', 'apiVersion']) {
      const unnamed = (await patch([{ op: 'remove', path: `/${name}` }])).body
      expect(unnamed).toMatchObject({
        code: 400,
        message: expect.stringContaining('in the data () does not'),
      })
    }
    const noVersion = [{ op: 'remove', path: '/metadata/resourceVersion' }]
    expect((await patch(noVersion)).code).toBe(kind.unconditionalUpdate ? 200 : 422)
  })

  must(
    55,
    'takes merge patches: null deletes, lists are replaced, what is no object is refused',
    async () => {
      const place = await subject.place()
      const made = await place.make({ annotations: { a: '1', b: '2' }, finalizers: ['conventions.test/f'] })
      const patched = await place.patch(made, {
        metadata: { annotations: { a: null, c: '3' }, finalizers: ['conventions.test/g'] },
      })
      expect(patched.code).toBe(200)
      expect(annotationsOf(patched.body)).toEqual({ b: '2', c: '3' })
      // What a kind adds by itself stays.
      const { finalizers = [] } = (patched.body as KubeObject).metadata
      expect(finalizers).toContain('conventions.test/g')
      expect(finalizers).not.toContain('conventions.test/f')
      expect(content(patched.body)).toEqual(content(made))
      for (const body of ['[]', '"text"', '7', 'null', '{']) {
        expect((await place.patch(made, body)).body).toMatchObject({ code: 400, reason: 'BadRequest' })
      }
    },
  )

  must(56, 'takes strategic merge patches only where it has merge keys for them', async () => {
    const place = await subject.place()
    const made = await place.make({ finalizers: ['conventions.test/f'] })
    const body = { metadata: { finalizers: ['conventions.test/g'], labels: { b: '2' } } }
    const answer = await place.patch(made, body, { type: strategicPatch })
    if (kind.strategicMergePatch) {
      expect(answer.code).toBe(200)
      expect(new Set(answer.body.metadata.finalizers)).toEqual(
        new Set(['conventions.test/f', 'conventions.test/g']),
      )
      expect(answer.body.metadata.labels).toEqual({ ...made.metadata.labels, b: '2' })
    } else {
      expect(answer.body).toMatchObject({
        code: 415,
        reason: 'UnsupportedMediaType',
        message: `the body of the request was in an unknown format - accepted media types include: ${[jsonPatch, mergePatch, applyPatch].join(', ')}`,
      })
    }
  })

  must(57, 'refuses a patch that names another version or another uid', async () => {
    const place = await subject.place()
    const made = await place.make()
    const { resourceVersion, uid } = made.metadata
    const now = (await place.patch(made, { metadata: { annotations: { a: '1' } } })).body
    const stale = await place.patch(made, { metadata: { resourceVersion, annotations: { a: '2' } } })
    expect(stale.body).toMatchObject({
      code: 409,
      reason: 'Conflict',
      message: `Operation cannot be fulfilled on ${subject.resource} "${made.metadata.name}": the object has been modified; please apply your changes to the latest version and try again`,
    })
    const inJson = [{ op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion }]
    expect((await place.patch(made, inJson, { type: jsonPatch })).code).toBe(409)
    const other = await place.patch(made, { metadata: { uid: 'other', annotations: { a: '2' } } })
    expect(other.body).toMatchObject({
      code: 422,
      details: {
        causes: expect.arrayContaining([
          { reason: 'FieldValueInvalid', field: 'metadata.uid', message: expect.any(String) },
        ]),
      },
    })
    expect((await place.get(made)).body).toEqual(now)
    const meant = { resourceVersion: now.metadata.resourceVersion, uid, annotations: { a: '2' } }
    expect((await place.patch(made, { metadata: meant })).code).toBe(200)
  })

  must(58, 'takes every patch of many at once that name no version', async () => {
    const place = await subject.place()
    const made = await place.make()
    const names = Array.from({ length: 12 }, (_, n) => `writer-${n}`)
    const answers = await Promise.all(
      names.map((name, n) =>
        n % 2 === 0
          ? place.patch(made, { metadata: { annotations: { [name]: 'was here' } } })
          : place.apply(
              { ...named(made), metadata: { ...named(made).metadata, annotations: { [name]: 'was here' } } },
              name,
            ),
      ),
    )
    expect(answers.map(({ code }) => code)).toEqual(names.map(() => 200))
    const { body } = await place.get(made)
    expect(Object.keys(annotationsOf(body))).toEqual(expect.arrayContaining(names))
  })

  must(59, 'is not created by other patches than apply', async () => {
    const place = await subject.place()
    const missing = { metadata: { name: 'not.there' } }
    for (const [type, body] of [
      [mergePatch, {}],
      [jsonPatch, []],
      ...(kind.strategicMergePatch ? [[strategicPatch, {}] as const] : []),
    ] as const) {
      expect((await place.patch(missing, body, { type })).body).toMatchObject({
        code: 404,
        reason: 'NotFound',
        message: `${subject.resource} "not.there" not found`,
      })
    }
  })
})

/** A configuration that says nothing but which object it is for. */
function named({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name: metadata.name } }
}

suite.every(isGadget, subject => {
  must([54, 55], 'has keys with slashes and tildes, and lists at any depth, patched', async () => {
    const place = await subject.place()
    const made = await place.make()
    const patched = await place.patch(
      made,
      [
        { op: 'add', path: '/spec/free/a~1b~0c', value: [1, [2, 3]] },
        { op: 'add', path: '/spec/free/a~1b~0c/1/-', value: 4 },
        { op: 'remove', path: '/spec/parts/0' },
        { op: 'add', path: '/spec/steps/1', value: 'between' },
      ],
      { type: jsonPatch },
    )
    expect(patched.body.spec).toMatchObject({
      free: { 'a/b~c': [1, [2, 3, 4]] },
      parts: [{ name: 'axle' }],
      steps: ['one', 'between', 'two', 'one'],
    })
    const merged = await place.patch(made, {
      spec: { free: { anything: null, 'a/b~c': { now: 'an object' } }, inner: { deep: null }, tags: ['z'] },
    })
    expect(merged.body.spec).toMatchObject({ free: { 'a/b~c': { now: 'an object' } }, tags: ['z'] })
    expect(merged.body.spec.free).not.toHaveProperty('anything')
    expect(merged.body.spec.inner).toEqual({})
  })

  must(54, 'refuses JSON patches of more than 10000 operations', async () => {
    const place = await subject.place()
    const made = await place.make()
    const operation = { op: 'test', path: '/metadata/name', value: made.metadata.name }
    const patch = (count: number) =>
      place.patch(
        made,
        Array.from({ length: count }, () => operation),
        { type: jsonPatch },
      )
    expect((await patch(10_000)).code).toBe(200)
    expect((await patch(10_001)).code).toBe(413)
  })
})
