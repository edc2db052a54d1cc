import { describe, expect, it } from 'vitest'
import type { AdmissionPlugin } from '../../../../apiservice/contract.ts'
import type { Store } from '../../../../apiservice/store-contract.ts'
import { forbidden } from '../../../../src/kernel/errors.ts'
import { WidgetKind } from '../../../support/kinds.ts'
import { storeOver } from '../../../support/store-over.ts'
import { aWidget, aWidgetRegistry, makeWidget, mergePatchType, widgets } from '../../../support/widgets.ts'

const held = { metadata: { finalizers: ['example.com/f'] } }
const web = `${widgets}/web`

describe('delete', () => {
  it('answers a Status with the uid of what is gone', async () => {
    const registry = await aWidgetRegistry()
    const { metadata } = await makeWidget(registry, 'web')
    expect(await registry.send('DELETE', web)).toEqual({
      code: 200,
      warnings: [],
      body: {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Success',
        details: { name: 'web', group: 'test.example.com', kind: 'widgets', uid: metadata.uid },
      },
    })
    expect((await registry.send('GET', web)).code).toBe(404)
    expect((await registry.send('DELETE', web)).body).toMatchObject({
      code: 404,
      message: 'widgets.test.example.com "web" not found',
    })
  })

  it('keeps what has finalizers, stamped once', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', held)
    const watch = await registry.watch(`${widgets}?watch=1`)
    await registry.clock.advance(5_000)
    const going = await registry.send('DELETE', web)
    expect(going.code).toBe(200)
    expect(going.body).toEqual({
      ...old,
      metadata: {
        ...old.metadata,
        generation: 2,
        deletionTimestamp: '2026-01-02T03:04:10Z',
        deletionGracePeriodSeconds: 0,
        resourceVersion: going.body.metadata.resourceVersion,
      },
    })
    await registry.clock.advance(5_000)
    expect((await registry.send('DELETE', web)).body).toEqual(going.body)
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED web', 'MODIFIED web'])
  })

  it('ends with the update that removes the last finalizer', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', held)
    await registry.send('DELETE', web)
    const watch = await registry.watch(`${widgets}?watch=1`)
    const body = { metadata: { finalizers: null, labels: { last: 'words' } } }
    const last = await registry.send('PATCH', web, { body, type: mergePatchType })
    expect(last).toMatchObject({ code: 200, body: { metadata: { labels: { last: 'words' } } } })
    expect(last.body.metadata).not.toHaveProperty('finalizers')
    expect((await registry.send('GET', web)).code).toBe(404)
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED web', 'DELETED web'])
    expect(watch.frames[1]?.object).toEqual(last.body)
  })

  it('goes on when one finalizer of two is removed', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', { metadata: { finalizers: ['a.com/a', 'b.com/b'] } })
    await registry.send('DELETE', web)
    const patch = (finalizers: unknown) =>
      registry.send('PATCH', web, { body: { metadata: { finalizers } }, type: mergePatchType })
    expect((await patch(['b.com/b'])).body.metadata.finalizers).toEqual(['b.com/b'])
    expect((await patch(['b.com/b', 'c.com/c'])).body).toMatchObject({
      code: 422,
      message:
        'Widget.test.example.com "web" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"c.com/c"}',
    })
  })

  it('leaves the name taken while it lasts', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', held)
    await registry.send('DELETE', web)
    expect((await registry.send('POST', widgets, { body: aWidget('web') })).body).toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'object is being deleted: widgets.test.example.com "web" already exists',
    })
  })

  it('lets the spec change meanwhile, and cannot be taken back', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', held)
    await registry.send('DELETE', web)
    const body = {
      metadata: { deletionTimestamp: null, deletionGracePeriodSeconds: null },
      spec: { size: 1 },
    }
    const { metadata } = (await registry.send('PATCH', web, { body, type: mergePatchType })).body
    expect(metadata).toMatchObject({
      generation: 3,
      deletionTimestamp: '2026-01-02T03:04:05Z',
      deletionGracePeriodSeconds: 0,
    })
  })
})

describe('propagation', () => {
  it.each([
    ['?propagationPolicy=Foreground', undefined, ['foregroundDeletion']],
    ['?propagationPolicy=Orphan', undefined, ['orphan']],
    ['?propagationPolicy=Background', undefined, undefined],
    ['?orphanDependents=true', undefined, ['orphan']],
    ['', { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Orphan' }, ['orphan']],
    ['', { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1', propagationPolicy: 'Background' }, undefined],
    ['', { kind: 'DeleteOptions', apiVersion: 'test.example.com/v2' }, undefined],
    ['?propagationPolicy=Orphan', {}, undefined],
  ])('%s %j', async (query, body, finalizers) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const answer = await registry.send('DELETE', `${web}${query}`, { body })
    expect(answer.code).toBe(200)
    if (finalizers === undefined) expect(answer.body.status).toBe('Success')
    else expect(answer.body.metadata).toMatchObject({ finalizers, deletionTimestamp: expect.any(String) })
  })

  it.each(['Foreground', 'Orphan', 'Background'])(
    'is at once for a kind without garbage collection: %s',
    async policy => {
      const registry = await aWidgetRegistry({ kinds: [{ ...WidgetKind, isCollected: false }] })
      await makeWidget(registry, 'web')
      expect((await registry.send('DELETE', `${web}?propagationPolicy=${policy}`)).body.status).toBe(
        'Success',
      )
    },
  )

  it('replaces the finalizer of an earlier policy, and keeps all others', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', { metadata: { finalizers: ['a.com/a', 'orphan'] } })
    const finalizersAfter = async (policy: string) =>
      (await registry.send('DELETE', `${web}?propagationPolicy=${policy}`)).body.metadata.finalizers
    expect(await finalizersAfter('Foreground')).toEqual(['a.com/a', 'foregroundDeletion'])
    expect(await finalizersAfter('Background')).toEqual(['a.com/a'])
  })

  it('answers 202 in the old protocol when the object stays', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web', held)
    expect((await registry.send('DELETE', `${web}?orphanDependents=false`)).code).toBe(202)
  })
})

describe('delete options', () => {
  it.each([
    [
      '?propagationPolicy=Sideways',
      undefined,
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
    ],
    [
      '?dryRun=Some',
      undefined,
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    ],
    [
      '',
      { orphanDependents: true, propagationPolicy: 'Orphan' },
      422,
      'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
    ],
    ['', { kind: 'ConfigMap', apiVersion: 'v1' }, 400, /no kind "ConfigMap" is accepted here/],
    ['', { propagationPolicy: 5 }, 400, 'DeleteOptions: propagationPolicy must be a string'],
    ['', { preconditions: 'x' }, 400, 'DeleteOptions: preconditions must be an object'],
    ['', { dryRun: 'All' }, 400, 'DeleteOptions: dryRun must be a list of strings'],
    [
      '',
      '{"a":1}}',
      400,
      "couldn't get version/kind; json parse error: invalid character '}' after top-level value",
    ],
    ['', '[]', 400, 'DeleteOptions: the body is not an object'],
    ['?gracePeriodSeconds=x', undefined, 400, 'strconv.ParseInt: parsing "x": invalid syntax'],
  ])('refuses %s %j', async (query, body, code, message) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const answer = await registry.send('DELETE', `${web}${query}`, { body })
    expect(answer.body).toMatchObject({
      code,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
    expect((await registry.send('GET', web)).code).toBe(200)
  })

  it('accepts a grace period, and null for what is not given', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const body = { gracePeriodSeconds: 30, propagationPolicy: null, dryRun: null, preconditions: null }
    expect((await registry.send('DELETE', web, { body })).body.status).toBe('Success')
  })

  it('refuses a body of an unknown type', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const type = 'text/plain'
    expect((await registry.send('DELETE', web, { body: 'x', type })).code).toBe(415)
  })
})

describe('preconditions', () => {
  it('must hold, or nothing is deleted', async () => {
    const registry = await aWidgetRegistry()
    const { uid, resourceVersion } = (await makeWidget(registry, 'web')).metadata
    const send = (preconditions: unknown) => registry.send('DELETE', web, { body: { preconditions } })
    expect((await send({ uid: 'e' })).body).toMatchObject({
      code: 409,
      message: `Operation cannot be fulfilled on widgets.test.example.com "web": the UID in the precondition (e) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    })
    expect((await send({ uid, resourceVersion: '1' })).body).toMatchObject({
      code: 409,
      message: `Operation cannot be fulfilled on widgets.test.example.com "web": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    })
    expect((await send({ uid, resourceVersion })).body.status).toBe('Success')
  })

  it('are checked on the state that is deleted, not on an earlier one', async () => {
    let interfere = async (): Promise<void> => undefined
    const wrap = (store: Store): Store =>
      storeOver(store, {
        delete: async (key, expected, body) => {
          await interfere()
          return store.delete(key, expected, body)
        },
      })
    const registry = await aWidgetRegistry({ wrap })
    const { resourceVersion } = (await makeWidget(registry, 'web')).metadata
    interfere = async () => {
      interfere = async () => undefined
      await registry.send('PATCH', web, { body: { metadata: held.metadata }, type: mergePatchType })
    }
    const answer = await registry.send('DELETE', web, { body: { preconditions: { resourceVersion } } })
    expect(answer.code).toBe(409)
    expect((await registry.send('GET', web)).body.metadata.finalizers).toEqual(held.metadata.finalizers)
  })

  it('meets a finalizer that was added just before', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    await registry.send('PATCH', web, { body: { metadata: held.metadata }, type: mergePatchType })
    expect((await registry.send('DELETE', web)).body.metadata).toHaveProperty('deletionTimestamp')
  })
})

describe('dry run of delete', () => {
  it('answers as if, and keeps the object', async () => {
    const registry = await aWidgetRegistry()
    const plain = await makeWidget(registry, 'web')
    const other = await makeWidget(registry, 'other', held)
    expect((await registry.send('DELETE', `${web}?dryRun=All`)).body).toMatchObject({
      status: 'Success',
      details: { uid: plain.metadata.uid },
    })
    const going = await registry.send('DELETE', `${widgets}/other`, { body: { dryRun: ['All'] } })
    expect(going.body.metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      resourceVersion: other.metadata.resourceVersion,
    })
    expect((await registry.send('GET', widgets)).body.items).toEqual([other, plain])
  })
})

describe('admission of delete', () => {
  it('sees the object, and may refuse', async () => {
    const seen: unknown[] = []
    const plugin: AdmissionPlugin = {
      name: 'keeper',
      handles: attributes => attributes.operation === 'DELETE',
      validate: attributes => {
        seen.push([attributes.name, attributes.object, attributes.oldObject?.metadata.name])
        throw forbidden({ group: '', resource: 'widgets' }, attributes.name, 'it stays')
      },
    }
    const registry = await aWidgetRegistry({ plugins: [plugin] })
    await makeWidget(registry, 'web')
    expect((await registry.send('DELETE', web)).code).toBe(403)
    expect((await registry.send('DELETE', widgets)).code).toBe(403)
    expect(seen).toEqual([
      ['web', undefined, 'web'],
      ['web', undefined, 'web'],
    ])
    expect((await registry.send('GET', web)).code).toBe(200)
  })
})
