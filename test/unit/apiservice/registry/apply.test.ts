import { describe, expect, it } from 'vitest'
import type { Answer, RegistryUnderTest } from '../../../support/registry.ts'
import {
  anUpdate,
  applyType,
  aSpace,
  aWidget,
  aWidgetRegistry,
  jsonPatchType,
  makeWidget,
  mergePatchType,
  spaces,
  type WidgetParts,
  widgets,
} from '../../../support/widgets.ts'

const web = `${widgets}/web`

function apply(
  registry: RegistryUnderTest,
  manager: string,
  parts: WidgetParts,
  target: { readonly query?: string; readonly path?: string } = {},
): Promise<Answer> {
  const { query = '', path = web } = target
  const body = aWidget('web', parts)
  return registry.send('PATCH', `${path}?fieldManager=${manager}${query}`, { body, type: applyType })
}

const managersOf = ({ body }: Answer): readonly string[] =>
  (body.metadata.managedFields ?? []).map(
    (entry: { manager: string; operation: string }) => `${entry.manager} ${entry.operation}`,
  )

describe('apply', () => {
  it('creates what is not there, and defaults belong to nobody', async () => {
    const registry = await aWidgetRegistry()
    const answer = await apply(registry, 'ann', { spec: { size: 1, tags: ['a'] } })
    expect(answer).toMatchObject({
      code: 201,
      body: { metadata: { generation: 1 }, spec: { size: 1, color: 'red', tags: ['a'] } },
    })
    expect(answer.body.metadata.managedFields).toEqual([
      anUpdate(
        { 'f:spec': { 'f:size': {}, 'f:tags': { 'v:"a"': {} } } },
        { manager: 'ann', operation: 'Apply' },
      ),
    ])
  })

  it('writes nothing the second time', async () => {
    const registry = await aWidgetRegistry()
    const parts = { metadata: { labels: { a: '1' } }, spec: { size: 1 } }
    const first = await apply(registry, 'ann', parts)
    await registry.clock.advance(60_000)
    const watch = await registry.watch(
      `${widgets}?watch=1&resourceVersion=${first.body.metadata.resourceVersion}`,
    )
    const second = await apply(registry, 'ann', parts)
    expect(second).toEqual({ ...first, code: 200 })
    await watch.settle()
    expect(watch.seen).toEqual([])
  })

  it('says who holds what it would change, and takes it when it is forced', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', { spec: { size: 1 } })
    const refused = await apply(registry, 'ann', { spec: { size: 2 } })
    expect(refused.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Conflict',
      code: 409,
      message: 'Apply failed with 1 conflict: conflict with "tester" using test.example.com/v2: .spec.size',
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: 'conflict with "tester" using test.example.com/v2',
            field: '.spec.size',
          },
        ],
      },
    })
    const forced = await apply(registry, 'ann', { spec: { size: 2 } }, { query: '&force=true' })
    expect(forced).toMatchObject({ code: 200, body: { spec: { size: 2, color: 'red' } } })
    expect(forced.body.metadata.managedFields).toEqual([
      anUpdate({ 'f:spec': { 'f:size': {} } }, { manager: 'ann', operation: 'Apply' }),
      anUpdate({ 'f:spec': { '.': {}, 'f:color': {} } }),
    ])
  })

  it('names all managers and fields that are in the way', async () => {
    const registry = await aWidgetRegistry()
    await apply(registry, 'ann', { spec: { size: 1, settings: { 'a.b/c': '1' } } })
    await apply(registry, 'bob', { spec: { color: 'blue' } })
    const { body } = await apply(registry, 'eve', {
      spec: { size: 2, color: 'green', settings: { 'a.b/c': '2' } },
    })
    expect(body.message).toBe(
      'Apply failed with 3 conflicts: conflicts with "ann":\n- .spec.size\n- .spec.settings.a.b/c\nconflicts with "bob":\n- .spec.color',
    )
  })

  it('shares what two apply alike, and takes away what the last of them drops', async () => {
    const registry = await aWidgetRegistry()
    await apply(registry, 'ann', { spec: { size: 1, tags: ['a', 'b'] } })
    await apply(registry, 'bob', { spec: { size: 1, tags: ['b', 'c'] } })
    const dropped = await apply(registry, 'ann', { spec: { size: 1 } })
    expect(dropped.body.spec).toEqual({ size: 1, color: 'red', tags: ['b', 'c'] })
    const last = await apply(registry, 'bob', { spec: { size: 1 } })
    expect(last.body.spec).toEqual({ size: 1, color: 'red' })
  })

  it('gives back the default of a field that is no longer applied', async () => {
    const registry = await aWidgetRegistry()
    await apply(registry, 'ann', { spec: { size: 1, color: 'blue' } })
    const answer = await apply(registry, 'ann', { spec: { size: 1 } })
    expect(answer.body.spec).toEqual({ size: 1, color: 'red' })
  })

  it('attributes an object without managers to those before', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', { spec: { size: 1 } })
    const reset = await registry.send('PATCH', web, {
      body: { metadata: { managedFields: [{}] } },
      type: mergePatchType,
    })
    expect(reset.body.metadata).not.toHaveProperty('managedFields')
    expect(managersOf(await apply(registry, 'ann', { spec: { size: 1 } }))).toEqual([
      'ann Apply',
      'before-first-apply Update',
    ])
    expect((await apply(registry, 'ann', { spec: { size: 2 } })).body.message).toMatch(
      /conflict with "before-first-apply" using/,
    )
  })

  it('applies the status through its endpoint only, and nothing else there', async () => {
    const registry = await aWidgetRegistry()
    await apply(registry, 'ann', { spec: { size: 1 }, status: { phase: 'Mine' } })
    const parts = { metadata: { labels: { a: 'b' } }, spec: { size: 5 }, status: { phase: 'Up' } }
    const { body } = await apply(registry, 'ann', parts, { path: `${web}/status` })
    expect(body).toMatchObject({ spec: { size: 1 }, status: { phase: 'Up' } })
    expect(body.metadata).not.toHaveProperty('labels')
    const entry = { manager: 'ann', operation: 'Apply' }
    expect(body.metadata.managedFields).toEqual([
      anUpdate({ 'f:spec': { 'f:size': {} } }, entry),
      anUpdate({ 'f:status': { 'f:phase': {} } }, { ...entry, subresource: 'status' }),
    ])
    const other = await apply(registry, 'bob', { status: { phase: 'Down' } }, { path: `${web}/status` })
    expect(other.body.message).toBe(
      'Apply failed with 1 conflict: conflict with "ann" with subresource "status": .status.phase',
    )
  })

  it('does not create through /status', async () => {
    const registry = await aWidgetRegistry()
    expect((await apply(registry, 'ann', { status: { phase: 'Up' } }, { path: `${web}/status` })).code).toBe(
      404,
    )
  })

  it('stores nothing in a dry run', async () => {
    const registry = await aWidgetRegistry()
    expect((await apply(registry, 'ann', { spec: { size: 1 } }, { query: '&dryRun=All' })).code).toBe(201)
    expect((await registry.send('GET', web)).code).toBe(404)
  })

  it('asks whether the client may create', async () => {
    const asked: unknown[] = []
    const registry = await aWidgetRegistry({
      authorize: ({ info }) => {
        asked.push('verb' in info && info.verb)
        return Promise.resolve()
      },
    })
    await apply(registry, 'ann', {})
    await apply(registry, 'ann', {})
    expect(asked).toEqual(['create'])
  })

  it('reads YAML', async () => {
    const registry = await aWidgetRegistry()
    const body = 'apiVersion: test.example.com/v2\nkind: Widget\nmetadata:\n  name: web\nspec:\n  size: 3\n'
    const answer = await registry.send('PATCH', `${web}?fieldManager=ann`, { body, type: applyType })
    expect(answer).toMatchObject({ code: 201, body: { spec: { size: 3 } } })
  })

  it.each([
    ['without a manager', {}, 422, /fieldManager: Required value: is required for apply patch/],
    ['with managedFields', { metadata: { managedFields: [] } }, 400, /^metadata.managedFields must be nil$/],
    ['of another name', { metadata: { name: 'x' } }, 400, /does not match the name on the URL \(web\)/],
    [
      'with unknown fields',
      { spec: { nope: 1 } },
      400,
      /^failed to create typed patch object \(\/web; test.example.com\/v2, Kind=Widget\): .spec.nope: field not declared in schema$/,
    ],
    [
      'with an item twice',
      { spec: { tags: ['a', 'a'] } },
      400,
      /.spec.tags: duplicate entries for key \[="a"\]$/,
    ],
    [
      'of a wrong type',
      { spec: { size: 'x' } },
      400,
      /Kind=Widget\): .spec.size: expected numeric \(int or float\), got string$/,
    ],
    ['with the uid of what is not there', { metadata: { uid: 'u' } }, 409, /uid mismatch/],
  ])('refuses a configuration %s', async (what, parts, code, message) => {
    const registry = await aWidgetRegistry()
    const answer = await apply(registry, what === 'without a manager' ? '' : 'ann', parts)
    expect(answer.body).toMatchObject({ code, message: expect.stringMatching(message) })
  })

  it('refuses a wrong type before it looks for conflicts', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', { spec: { size: 1, settings: { a: '1' } } })
    const wrong = { spec: { size: 2, settings: { a: 5 } } }
    expect((await apply(registry, 'ann', wrong)).body).toMatchObject({
      code: 400,
      message:
        'failed to create typed patch object (/web; test.example.com/v2, Kind=Widget): .spec.settings.a: expected string, got &value.valueUnstructured{Value:5}',
    })
    expect((await apply(registry, 'ann', { spec: { size: 2 } })).code).toBe(409)
  })

  it('refuses a configuration of another version', async () => {
    const registry = await aWidgetRegistry()
    const answer = await apply(registry, 'ann', {}, { path: web.replace('/v2/', '/v1/') })
    expect(answer.body).toMatchObject({
      code: 400,
      message: 'invalid object type: test.example.com/v2, Kind=Widget',
    })
  })

  it('refuses a field that is given twice when it is to be strict, and warns of it otherwise', async () => {
    const registry = await aWidgetRegistry()
    const body =
      '{"apiVersion":"test.example.com/v2","kind":"Widget","metadata":{"name":"web"},"spec":{"size":1,"size":2}}'
    const strict = `${web}?fieldManager=ann&fieldValidation=Strict`
    expect((await registry.send('PATCH', strict, { body, type: applyType })).body).toMatchObject({
      code: 400,
      message: 'error strict decoding YAML: duplicate field "spec.size"',
    })
    const warned = await registry.send('PATCH', `${web}?fieldManager=ann`, { body, type: applyType })
    expect(warned).toMatchObject({ code: 201, warnings: ['duplicate field "spec.size"'] })
  })

  it('refuses a version that is not the newest', async () => {
    const registry = await aWidgetRegistry()
    const { body } = await apply(registry, 'ann', { spec: { size: 1 } })
    await apply(registry, 'ann', { spec: { size: 2 } })
    const { resourceVersion } = body.metadata
    expect((await apply(registry, 'ann', { metadata: { resourceVersion }, spec: { size: 3 } })).code).toBe(
      409,
    )
  })
})

describe('kubectl', () => {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration'
  const appliedBefore = (size: number) => ({
    metadata: {
      annotations: { [annotation]: JSON.stringify(aWidget('web', { spec: { size } })) },
    },
    spec: { size: 1 },
  })

  it('does not conflict with what it applied from the client, and keeps the annotation true', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', appliedBefore(1))
    const answer = await apply(registry, 'kubectl', { spec: { size: 2 } })
    expect(answer).toMatchObject({ code: 200, body: { spec: { size: 2 } } })
    expect(answer.body.metadata.annotations[annotation]).toBe(
      `${JSON.stringify({ ...aWidget('web'), spec: { size: 2 } })}\n`,
    )
  })

  it('conflicts where someone has changed it since', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', appliedBefore(7))
    expect((await apply(registry, 'kubectl', { spec: { size: 2 } })).code).toBe(409)
  })

  it('hands its entry over to server-side apply with a JSON patch, unless another write came first', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { spec: { size: 1 } })
    const [entry] = old.metadata.managedFields ?? []
    const value = [{ ...entry, manager: 'kubectl', operation: 'Apply' }]
    const { resourceVersion } = old.metadata
    const migrate = () =>
      registry.send('PATCH', web, {
        type: jsonPatchType,
        body: [
          { op: 'replace', path: '/metadata/managedFields', value },
          { op: 'replace', path: '/metadata/resourceVersion', value: resourceVersion },
        ],
      })
    expect((await migrate()).body.metadata.managedFields).toEqual(value)
    expect((await migrate()).code).toBe(409)
  })
})

describe('managed fields', () => {
  it('stay when a client sends none or what has no meaning', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { spec: { size: 1 } })
    for (const managedFields of [null, [{ manager: 'x', operation: 'Update' }]]) {
      const body = { ...old, metadata: { ...old.metadata, managedFields } }
      expect((await registry.send('PUT', web, { body })).body).toEqual(old)
    }
  })

  it('are not taken through /status', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { spec: { size: 1 } })
    const body = { ...old, metadata: { ...old.metadata, managedFields: [] } }
    expect((await registry.send('PUT', `${web}/status`, { body })).body).toEqual(old)
  })

  it('begin at spec for kinds that are built in', async () => {
    const registry = await aWidgetRegistry()
    const { body } = await registry.send('POST', spaces, { body: aSpace('a', { spec: { words: ['x'] } }) })
    expect(body.metadata.managedFields).toEqual([
      anUpdate({ 'f:spec': { 'f:words': { '.': {}, 'v:"x"': {} } } }, { apiVersion: 'v1' }),
    ])
  })

  it('tell ten updaters apart, and put older ones together', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', { spec: { size: 1 } })
    for (let i = 0; i < 12; i += 1) {
      await registry.clock.advance(1_000)
      const body = { metadata: { labels: { [`l${i}`]: 'x' } } }
      await registry.send('PATCH', `${web}?fieldManager=m${i}`, { body, type: mergePatchType })
    }
    const made = await registry.send('GET', web)
    expect(managersOf(made)).toEqual(
      ['ancient-changes', 'm3', 'm4', 'm5', 'm6', 'm7', 'm8', 'm9', 'm10', 'm11'].map(
        name => `${name} Update`,
      ),
    )
    expect(made.body.metadata.managedFields[0]).toMatchObject({
      time: '2026-01-02T03:04:08Z',
      fieldsV1: {
        'f:metadata': { 'f:labels': { '.': {}, 'f:l0': {}, 'f:l1': {}, 'f:l2': {} } },
        'f:spec': { '.': {}, 'f:color': {}, 'f:size': {} },
      },
    })
  })

  it('are left out where they would make an object too large, and refused where it is applied', async () => {
    const registry = await aWidgetRegistry()
    const spec = { settings: { a: 'x'.repeat(1_536 * 1_024 - 400) } }
    const made = await registry.send('POST', widgets, { body: aWidget('web', { spec }) })
    expect(made.code).toBe(201)
    expect(made.body.metadata).not.toHaveProperty('managedFields')
    const path = `${widgets}/other?fieldManager=${'a'.repeat(128)}`
    const answer = await registry.send('PATCH', path, { body: aWidget('other', { spec }), type: applyType })
    expect(answer.code).toBe(413)
  })
})
