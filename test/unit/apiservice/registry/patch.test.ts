import { describe, expect, it } from 'vitest'
import type { ManagedFieldsEntry } from '../../../../src/api/meta.ts'
import {
  anUpdate,
  aSpace,
  aWidgetRegistry,
  jsonPatchType,
  makeWidget,
  mergePatchType,
  spaces,
  strategicPatchType,
  widgets,
} from '../../../support/widgets.ts'

const web = `${widgets}/web`

describe('patch', () => {
  it('merges into the newest state', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', {
      metadata: { labels: { a: '1', b: '2' } },
      spec: { size: 1 },
    })
    const body = { metadata: { labels: { a: null } }, spec: { size: 2, color: null } }
    const answer = await registry.send('PATCH', web, { body, type: mergePatchType })
    expect(answer.code).toBe(200)
    expect(answer.body).toEqual({
      ...old,
      metadata: {
        ...old.metadata,
        labels: { b: '2' },
        generation: 2,
        resourceVersion: answer.body.metadata.resourceVersion,
        managedFields: [
          anUpdate({
            'f:metadata': { 'f:labels': { '.': {}, 'f:b': {} } },
            'f:spec': { '.': {}, 'f:color': {}, 'f:size': {} },
          }),
        ],
      },
      spec: { size: 2, color: 'red' },
    })
  })

  it('writes nothing when it changes nothing', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { spec: { size: 1 } })
    const watch = await registry.watch(`${widgets}?watch=1&resourceVersion=${old.metadata.resourceVersion}`)
    const body = { spec: { size: 1 }, status: { phase: 'ignored' } }
    expect((await registry.send('PATCH', web, { body, type: mergePatchType })).body).toEqual(old)
    await watch.settle()
    expect(watch.seen).toEqual([])
  })

  it('carries out operations on the object as it is at the version of the request', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', { spec: { settings: { j: '1' } } })
    const body = [
      { op: 'test', path: '/apiVersion', value: 'test.example.com/v1' },
      { op: 'test', path: '/spec/settings/j', value: '1' },
      { op: 'replace', path: '/spec/settings/j', value: '2' },
      { op: 'add', path: '/metadata/annotations', value: { 'a/b': '1' } },
      { op: 'replace', path: '/metadata/annotations/a~1b', value: '2' },
    ]
    const answer = await registry.send('PATCH', web.replace('v2', 'v1'), { body, type: jsonPatchType })
    expect(answer.body).toMatchObject({
      apiVersion: 'test.example.com/v1',
      metadata: { annotations: { 'a/b': '2' } },
      spec: { settings: { j: '2' } },
    })
  })

  it('removes finalizers and owners that are patched to null', async () => {
    const registry = await aWidgetRegistry()
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' }
    const old = await makeWidget(registry, 'web', {
      metadata: { finalizers: ['a.com/a'], ownerReferences: [owner] },
    })
    const { resourceVersion } = old.metadata
    const body = { metadata: { resourceVersion, finalizers: null, ownerReferences: null } }
    const { metadata } = (await registry.send('PATCH', web, { body, type: mergePatchType })).body
    expect(metadata).not.toHaveProperty('finalizers')
    expect(metadata).not.toHaveProperty('ownerReferences')
  })

  it.each([
    ['a stale resourceVersion', { metadata: { resourceVersion: '1' } }, 409, /the object has been modified/],
    [
      'another name',
      { metadata: { name: 'other' } },
      400,
      /^the name of the object \(other\) does not match the name on the URL \(web\)$/,
    ],
    [
      'another namespace',
      { metadata: { namespace: 'other' } },
      400,
      /^the namespace of the provided object does not match the namespace sent on the request$/,
    ],
    ['another kind', { kind: 'Gadget' }, 400, /does not match the expected kind/],
    [
      'another version',
      { apiVersion: 'test.example.com/v1' },
      400,
      /does not match the expected API version/,
    ],
    ['another uid', { metadata: { uid: 'c' } }, 422, /metadata.uid: Invalid value: "c": field is immutable$/],
    [
      'a value of a wrong type',
      { spec: { settings: { z: 5 } } },
      422,
      /spec.settings.z in body must be of type string: "integer"$/,
    ],
    [
      'metadata of a wrong type',
      { metadata: { labels: 'x' } },
      422,
      /patch: Invalid value: ".*ObjectMeta.labels/,
    ],
  ])('refuses %s', async (_what, body, code, message) => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web')
    const answer = await registry.send('PATCH', web, { body, type: mergePatchType })
    expect(answer.body).toMatchObject({ code, message: expect.stringMatching(message) })
    expect((await registry.send('GET', web)).body).toEqual(old)
  })

  it('names an immutable field twice, as kube-apiserver does', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const answer = await registry.send('PATCH', web, {
      body: { metadata: { uid: 'c' } },
      type: mergePatchType,
    })
    expect(answer.body.details.causes).toHaveLength(2)
  })

  it('is refused when it takes the resourceVersion of a kind that wants one away', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const body = { metadata: { resourceVersion: null }, spec: { size: 1 } }
    const answer = await registry.send('PATCH', web, { body, type: mergePatchType })
    expect(answer.body).toMatchObject({
      code: 422,
      message: expect.stringContaining('must be specified for an update'),
    })
  })

  it('answers 404 for what is not there, and 405 for a collection', async () => {
    const registry = await aWidgetRegistry()
    const send = (path: string) => registry.send('PATCH', path, { body: {}, type: mergePatchType })
    expect((await send(`${widgets}/nope`)).code).toBe(404)
    expect((await send(widgets)).code).toBe(405)
  })

  // As kube-apiserver 1.37 does.
  it.each([
    ['nope/v1', ['pp Update test.example.com/v2']],
    ['/', ['pp Update test.example.com/v2']],
    ['test.example.com/v1', ['a Update test.example.com/v1', 'pp Update test.example.com/v2']],
    ['a/b/c', ['tester Update test.example.com/v2', 'pp Update test.example.com/v2']],
    ['', ['tester Update test.example.com/v2', 'pp Update test.example.com/v2']],
  ])('keeps no manager of the version %j', async (apiVersion, expected) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', { spec: { size: 1 } })
    const fieldsV1 = { 'f:spec': { 'f:size': {} } }
    const managedFields = [
      { manager: 'a', operation: 'Update', apiVersion, fieldsType: 'FieldsV1', fieldsV1 },
    ]
    const body = { metadata: { managedFields }, spec: { tags: ['x'] } }
    const answer = await registry.send('PATCH', `${web}?fieldManager=pp`, { body, type: mergePatchType })
    const managers: readonly ManagedFieldsEntry[] = answer.body.metadata.managedFields
    const texts = managers.map(entry => `${entry.manager} ${entry.operation} ${entry.apiVersion}`)
    expect(new Set(texts)).toEqual(new Set(expected))
  })

  it.each([
    [
      mergePatchType,
      '[1]',
      400,
      `error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}`,
    ],
    [
      mergePatchType,
      'null',
      400,
      `error decoding patch: json: cannot unmarshal null into Go value of type map[string]interface {}`,
    ],
    // What kubectl makes of `-p 'size 3'`.
    [
      mergePatchType,
      '"size 3"',
      400,
      `error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}`,
    ],
    [mergePatchType, 'size 3', 400, 'invalid JSON patch'],
    [mergePatchType, '{"a":', 400, 'invalid JSON patch'],
    [jsonPatchType, '[{"op":"test"},]', 400, 'invalid JSON patch'],
    [jsonPatchType, '{"op":"add"}', 400, 'error decoding patch: a JSON patch is a list of operations'],
    [
      jsonPatchType,
      '[{"op":"remove","path":"/spec"}]',
      422,
      'the server rejected our request due to an error in our request',
    ],
    [jsonPatchType, '[{"op":"replace","path":"","value":[]}]', 422, /patch: Invalid value: "\[\]"/],
  ])('refuses %s %s', async (type, body, code, message) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const answer = await registry.send('PATCH', web, { body, type })
    expect(answer.body).toMatchObject({
      code,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
  })

  it.each([strategicPatchType, 'application/json', 'application/apply-patch+cbor', ''])(
    'refuses %j for a custom resource, with what it takes',
    async type => {
      const registry = await aWidgetRegistry()
      await makeWidget(registry, 'web')
      expect((await registry.send('PATCH', web, { body: {}, type })).body).toMatchObject({
        code: 415,
        reason: 'UnsupportedMediaType',
        message:
          'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
      })
    },
  )

  it('may not be forced', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const answer = await registry.send('PATCH', `${web}?force=true`, { body: {}, type: mergePatchType })
    expect(answer.body).toMatchObject({
      code: 422,
      message:
        'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    })
  })

  it('shows what a dry run would make', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web')
    const answer = await registry.send('PATCH', `${web}?dryRun=All`, {
      body: { spec: { size: 1 } },
      type: mergePatchType,
    })
    expect(answer.body).toMatchObject({
      spec: { size: 1 },
      metadata: { resourceVersion: old.metadata.resourceVersion },
    })
    expect((await registry.send('GET', web)).body).toEqual(old)
  })

  it('loses no change of many at once', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const keys = Array.from({ length: 20 }, (_, i) => `k${i}`)
    const answers = await Promise.all(
      keys.map(key =>
        registry.send('PATCH', web, { body: { metadata: { labels: { [key]: '1' } } }, type: mergePatchType }),
      ),
    )
    expect(answers.map(answer => answer.code)).toEqual(keys.map(() => 200))
    expect(Object.keys((await registry.send('GET', web)).body.metadata.labels)).toHaveLength(20)
  })
})

describe('field validation of patches', () => {
  const body = '{"spec":{"nope":1,"size":1,"size":2}}'

  it.each([
    ['', ['duplicate field "spec.size"', 'unknown field "spec.nope"']],
    ['?fieldValidation=Ignore', []],
  ])('%j lets it pass', async (query, warnings) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const answer = await registry.send('PATCH', `${web}${query}`, { body, type: mergePatchType })
    expect(answer).toMatchObject({ code: 200, warnings, body: { spec: { size: 2 } } })
    expect(answer.body.spec).not.toHaveProperty('nope')
  })

  it('Strict refuses it', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const answer = await registry.send('PATCH', `${web}?fieldValidation=Strict`, {
      body,
      type: mergePatchType,
    })
    expect(answer.body).toMatchObject({
      code: 422,
      message: expect.stringMatching(
        /strict decoding error: duplicate field "spec.size", unknown field "spec.nope"$/,
      ),
    })
  })
})

describe('strategic merge patch of built-in kinds', () => {
  it('merges lists by the keys of the schema, also in metadata', async () => {
    const registry = await aWidgetRegistry()
    const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: uid, uid })
    await registry.send('POST', spaces, {
      body: aSpace('a', {
        metadata: { ownerReferences: [owner('x'), owner('y')], finalizers: ['a.com/a', 'b.com/b'] },
        spec: { parts: [{ name: 'p', count: 1 }, { name: 'q' }] },
      }),
    })
    const body = {
      metadata: {
        ownerReferences: [{ $patch: 'delete', uid: 'x' }],
        '$deleteFromPrimitiveList/finalizers': ['a.com/a'],
      },
      spec: { parts: [{ name: 'q', count: 2 }], '$setElementOrder/parts': [{ name: 'q' }, { name: 'p' }] },
    }
    const answer = await registry.send('PATCH', `${spaces}/a`, { body, type: strategicPatchType })
    expect(answer).toMatchObject({
      code: 200,
      warnings: [],
      body: {
        metadata: { ownerReferences: [owner('y')], finalizers: ['b.com/b'] },
        spec: {
          parts: [
            { name: 'q', count: 2 },
            { name: 'p', count: 1 },
          ],
        },
      },
    })
  })

  it('is named among the types that are taken', async () => {
    const registry = await aWidgetRegistry()
    await registry.send('POST', spaces, { body: aSpace('a') })
    const answer = await registry.send('PATCH', `${spaces}/a`, { body: {}, type: 'text/plain' })
    expect(answer.body.message).toMatch(
      / application\/strategic-merge-patch\+json, application\/apply-patch\+yaml$/,
    )
  })
})
