import { describe, expect, it } from 'vitest'
import {
  allWidgets,
  anUpdate,
  aSpace,
  aWidget,
  aWidgetRegistry,
  makeWidget,
  spaces,
  widgets,
} from '../../../support/widgets.ts'

const uuid = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('create', () => {
  it('answers 201 with what the server has added', async () => {
    const registry = await aWidgetRegistry()
    const answer = await registry.send('POST', widgets, { body: aWidget('web', { spec: { size: 3 } }) })
    expect(answer).toEqual({
      code: 201,
      warnings: [],
      body: {
        apiVersion: 'test.example.com/v2',
        kind: 'Widget',
        metadata: {
          name: 'web',
          namespace: 'shop',
          uid: expect.stringMatching(uuid),
          resourceVersion: expect.stringMatching(/^[1-9]\d*$/),
          generation: 1,
          creationTimestamp: '2026-01-02T03:04:05Z',
          managedFields: [anUpdate({ 'f:spec': { '.': {}, 'f:color': {}, 'f:size': {} } })],
        },
        spec: { size: 3, color: 'red' },
      },
    })
    expect((await registry.send('GET', `${widgets}/web`)).body).toEqual(answer.body)
  })

  it('ignores what only the server may say, and the status', async () => {
    const registry = await aWidgetRegistry()
    const metadata = {
      uid: 'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 9,
      generation: 7,
      selfLink: '/x',
      managedFields: [{ manager: 'x', operation: 'Update' }],
      resourceVersion: '0',
    }
    const { code, body } = await registry.send('POST', widgets, {
      body: aWidget('sys', { metadata, status: { phase: 'Mine' } }),
    })
    expect(code).toBe(201)
    expect(body.metadata.uid).not.toBe(metadata.uid)
    expect(new Set(Object.keys(body.metadata))).toEqual(
      new Set(['creationTimestamp', 'generation', 'name', 'namespace', 'resourceVersion', 'uid']),
    )
    expect(body).toMatchObject({ metadata: { creationTimestamp: '2026-01-02T03:04:05Z', generation: 1 } })
    expect(body).not.toHaveProperty('status')
  })

  it('stores nothing for empty and null metadata', async () => {
    const registry = await aWidgetRegistry()
    const metadata = {
      labels: {},
      annotations: null,
      finalizers: [],
      ownerReferences: null,
      generateName: '',
    }
    const body = await makeWidget(registry, 'web', { metadata, spec: null })
    expect(Object.keys(body.metadata)).not.toEqual(expect.arrayContaining(['labels']))
    expect(body.metadata).not.toHaveProperty('annotations')
    expect(body.metadata).not.toHaveProperty('finalizers')
    expect(body.metadata).not.toHaveProperty('generateName')
    expect(body).not.toHaveProperty('spec')
  })

  it('lets a kind prepare what it creates', async () => {
    const registry = await aWidgetRegistry()
    const { body } = await registry.send('POST', spaces, { body: aSpace('a', { status: { phase: 'Mine' } }) })
    expect(body.status).toEqual({ phase: 'There' })
    expect(body.metadata).not.toHaveProperty('generation')
  })

  it('drops a namespace that a cluster-scoped object names', async () => {
    const registry = await aWidgetRegistry()
    const { code, body } = await registry.send('POST', spaces, {
      body: aSpace('a', { metadata: { namespace: 'x' } }),
    })
    expect([code, body.metadata.namespace]).toEqual([201, undefined])
  })

  it.each([
    ['a name that is there', aWidget('there'), 409, 'widgets.test.example.com "there" already exists'],
    [
      'another namespace',
      aWidget('x', { metadata: { namespace: 'other' } }),
      400,
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'a resourceVersion',
      aWidget('x', { metadata: { resourceVersion: '5' } }),
      400,
      'resourceVersion should not be set on objects to be created',
    ],
    [
      'no name',
      { ...aWidget(''), metadata: null },
      422,
      'Widget.test.example.com "" is invalid: metadata.name: Required value: name or generateName is required',
    ],
    [
      'another version',
      { ...aWidget('x'), apiVersion: 'test.example.com/v1' },
      400,
      'the API version in the data (test.example.com/v1) does not match the expected API version (test.example.com/v2)',
    ],
    [
      'another kind',
      { ...aWidget('x'), kind: 'Gadget' },
      400,
      'the kind in the data (Gadget) does not match the expected kind (Widget)',
    ],
    [
      'no kind',
      { metadata: { name: 'nokind' } },
      400,
      `the object provided is unrecognized (must be of type Widget): Object 'Kind' is missing in '{"metadata":{"name":"nokind"}}' ({"metadata":{"name":"nokind"}})`,
    ],
    [
      'metadata of a wrong type',
      { ...aWidget('x'), metadata: 'x' },
      400,
      'Widget in version "v2" cannot be handled as a Widget: json: cannot unmarshal string into Go value of type v1.ObjectMeta',
    ],
    [
      'a spec of a wrong type',
      aWidget('x', { spec: 'x' }),
      422,
      'Widget.test.example.com "x" is invalid: spec: Invalid value: "string": spec in body must be of type object: "string"',
    ],
    [
      'half a document',
      '{"kind":',
      400,
      `the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: unexpected end of JSON input ({"kind":)`,
    ],
    [
      'nothing',
      '',
      400,
      `the object provided is unrecognized (must be of type Widget): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)`,
    ],
    [
      'a list',
      '[]',
      400,
      "the object provided is unrecognized (must be of type Widget): couldn't get version/kind; the body is not an object (5b5d)",
    ],
  ])('refuses %s', async (_what, body, code, message) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'there')
    const answer = await registry.send('POST', widgets, { body })
    expect(answer.body).toMatchObject({ code, message, kind: 'Status', status: 'Failure' })
    expect((await registry.send('GET', widgets)).body.items).toHaveLength(1)
  })

  it('fills in the kind of an object of a built-in kind', async () => {
    const registry = await aWidgetRegistry()
    const { code, body } = await registry.send('POST', spaces, { body: { metadata: { name: 'a' } } })
    expect([code, body.kind, body.apiVersion]).toEqual([201, 'Space', 'v1'])
  })

  it('reads YAML, and refuses other media types with those it reads', async () => {
    const registry = await aWidgetRegistry()
    const yaml = 'apiVersion: test.example.com/v2\nkind: Widget\nmetadata:\n  name: from-yaml\n'
    expect((await registry.send('POST', widgets, { body: yaml, type: 'application/yaml' })).code).toBe(201)
    const charset = 'application/json; charset=utf-8'
    expect((await registry.send('POST', widgets, { body: aWidget('cs'), type: charset })).code).toBe(201)
    expect((await registry.send('POST', widgets, { body: 'x', type: 'text/plain' })).body).toMatchObject({
      code: 415,
      reason: 'UnsupportedMediaType',
      message: expect.stringContaining('accepted media types include: application/json, application/yaml'),
    })
  })

  it('refuses an object that is larger than what is stored', async () => {
    const registry = await aWidgetRegistry()
    const settings = { big: 'x'.repeat(1_600_000) }
    const { body } = await registry.send('POST', widgets, { body: aWidget('big', { spec: { settings } }) })
    expect(body).toMatchObject({ code: 413, reason: 'RequestEntityTooLarge' })
    expect(body.message).toMatch(/is 160\d{4} bytes as JSON, at most 1572864 are stored/)
  })

  it('bounds the nesting of what a schema keeps without knowing it', async () => {
    const registry = await aWidgetRegistry()
    const nested = (name: string, depth: number): string =>
      JSON.stringify(aWidget(name, { spec: { extra: 0 } })).replace(
        '"extra":0',
        `"extra":${'{"a":'.repeat(depth)}{}${'}'.repeat(depth)}`,
      )
    expect((await registry.send('POST', widgets, { body: nested('deep', 990) })).code).toBe(201)
    for (const depth of [1_010, 9_000]) {
      expect((await registry.send('POST', widgets, { body: nested('deeper', depth) })).body).toMatchObject({
        code: 400,
        message: 'the object is nested too deeply: at most 1000 levels are stored',
      })
    }
  })

  it('removes owners that are named twice, and says so', async () => {
    const registry = await aWidgetRegistry()
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'u' }
    const answer = await registry.send('POST', widgets, {
      body: aWidget('web', { metadata: { ownerReferences: [owner, { ...owner }] } }),
    })
    expect(answer.body.metadata.ownerReferences).toEqual([owner])
    expect(answer.warnings).toEqual([expect.stringMatching(/duplicate entries were removed.*: u$/)])
  })

  it('passes on the warnings of the kind, of its version and of metadata', async () => {
    const registry = await aWidgetRegistry()
    const answer = await registry.send('POST', widgets.replace('v2', 'v1'), {
      body: {
        ...aWidget('web', { metadata: { finalizers: ['nodomain'] }, spec: { size: 13 } }),
        apiVersion: 'test.example.com/v1',
      },
    })
    expect(answer.code).toBe(201)
    expect(answer.warnings).toEqual([
      'test.example.com/v1 Widget is deprecated',
      'metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
      '13 is an unlucky size',
    ])
  })

  it('is not for all namespaces, nor for an item', async () => {
    const registry = await aWidgetRegistry()
    const body = aWidget('x')
    expect((await registry.send('POST', allWidgets, { body })).code).toBe(405)
    expect((await registry.send('POST', `${widgets}/x`, { body })).code).toBe(405)
  })
})

describe('field validation on create', () => {
  const bad = (name: string): string =>
    `{"apiVersion":"test.example.com/v2","kind":"Widget","metadata":{"name":"${name}","bogus":1},"spec":{"settings":{"a":"1","a":"2"},"nope":1}}`
  const problems = [
    'duplicate field "spec.settings.a"',
    'unknown field "metadata.bogus"',
    'unknown field "spec.nope"',
  ]

  it.each([
    ['', problems],
    ['?fieldValidation=Warn', problems],
    ['?fieldValidation=Ignore', []],
  ])('%j lets it pass', async (query, warnings) => {
    const registry = await aWidgetRegistry()
    const answer = await registry.send('POST', `${widgets}${query}`, { body: bad('web') })
    expect(answer.code).toBe(201)
    expect(answer.warnings).toEqual(warnings)
    expect(answer.body.spec).toEqual({ settings: { a: '2' }, color: 'red' })
  })

  it('Strict refuses it with every field', async () => {
    const registry = await aWidgetRegistry()
    const answer = await registry.send('POST', `${widgets}?fieldValidation=Strict`, { body: bad('web') })
    expect(answer.body).toMatchObject({
      code: 400,
      message: `Widget in version "v2" cannot be handled as a Widget: strict decoding error: ${problems.join(', ')}`,
    })
  })
})
