import { describe, expect, it } from 'vitest'
import {
  anUpdate,
  aSpace,
  aWidgetRegistry,
  makeWidget,
  mergePatchType,
  spaces,
  widgets,
} from '../../../support/widgets.ts'

describe('/status', () => {
  it('takes the status and leaves all else', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { spec: { size: 1 } })
    const body = {
      ...old,
      metadata: { ...old.metadata, labels: { ignored: 'yes' }, finalizers: ['a.com/b'] },
      spec: { size: 9 },
      status: { phase: 'Up' },
    }
    const answer = await registry.send('PUT', `${widgets}/web/status`, { body })
    expect(answer.code).toBe(200)
    expect(answer.body).toEqual({
      ...old,
      metadata: {
        ...old.metadata,
        resourceVersion: answer.body.metadata.resourceVersion,
        managedFields: [
          ...(old.metadata.managedFields ?? []),
          anUpdate({ 'f:status': { '.': {}, 'f:phase': {} } }, { subresource: 'status' }),
        ],
      },
      status: { phase: 'Up' },
    })
    expect((await registry.send('GET', `${widgets}/web/status`)).body).toEqual(answer.body)
  })

  it('checks the resourceVersion that the client sent', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web')
    await registry.send('PUT', `${widgets}/web/status`, { body: { ...old, status: { phase: 'Up' } } })
    const stale = await registry.send('PUT', `${widgets}/web/status`, {
      body: { ...old, status: { phase: 'Down' } },
    })
    expect(stale.code).toBe(409)
  })

  it('survives writes of the main endpoint, and goes when /status sends none', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web')
    const up = await registry.send('PUT', `${widgets}/web/status`, {
      body: { ...old, status: { phase: 'Up' } },
    })
    const { status: _status, ...bare } = up.body
    const grown = await registry.send('PUT', `${widgets}/web`, { body: { ...bare, spec: { size: 1 } } })
    expect(grown.body).toMatchObject({
      spec: { size: 1 },
      status: { phase: 'Up' },
      metadata: { generation: 2 },
    })
    const { status: _again, ...without } = grown.body
    const gone = await registry.send('PUT', `${widgets}/web/status`, { body: without })
    expect(gone.body).not.toHaveProperty('status')
  })

  it('is patched', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const body = { spec: { size: 1 }, status: { phase: 'Up' } }
    const answer = await registry.send('PATCH', `${widgets}/web/status`, { body, type: mergePatchType })
    expect(answer.body).toMatchObject({ status: { phase: 'Up' }, metadata: { generation: 1 } })
    expect(answer.body).not.toHaveProperty('spec.size')
  })

  it('also takes labels, annotations and finalizers of built-in kinds', async () => {
    const registry = await aWidgetRegistry()
    await registry.send('POST', spaces, { body: aSpace('a', { metadata: { labels: { old: '1' } } }) })
    const body = aSpace('a', {
      metadata: {
        labels: { new: '1' },
        annotations: { b: '2' },
        finalizers: ['a.com/b'],
        ownerReferences: [],
      },
      spec: { words: ['no'] },
      status: { phase: 'Up' },
    })
    const answer = await registry.send('PUT', `${spaces}/a/status`, { body })
    expect(answer.body).toMatchObject({
      metadata: { labels: { new: '1' }, annotations: { b: '2' }, finalizers: ['a.com/b'] },
      status: { phase: 'Up' },
    })
    expect(answer.body.metadata.labels).not.toHaveProperty('old')
    expect(answer.body).not.toHaveProperty('spec')
  })

  it.each([
    ['DELETE', 'delete'],
    ['POST', 'create'],
  ])('refuses %s', async (method, verb) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    const body = method === 'POST' ? {} : undefined
    expect((await registry.send(method, `${widgets}/web/status`, { body })).body).toMatchObject({
      code: 405,
      message: `${verb} is not supported on resources of kind "widgets.test.example.com"`,
      details: { group: 'test.example.com', kind: 'widgets' },
    })
  })

  it('answers 404 for an object that is not there', async () => {
    const registry = await aWidgetRegistry()
    expect((await registry.send('GET', `${widgets}/nope/status`)).code).toBe(404)
  })
})

describe('/finalize', () => {
  const held = aSpace('a', { spec: { holds: ['one', 'two'], words: ['w'] } })

  it('writes what deletion waits for, and nothing else', async () => {
    const registry = await aWidgetRegistry()
    await registry.send('POST', spaces, { body: held })
    const body = aSpace('a', { metadata: { labels: { a: 'b' } }, spec: { holds: ['one'], words: ['x'] } })
    const answer = await registry.send('PUT', `${spaces}/a/finalize`, { body })
    expect(answer.body.spec).toEqual({ holds: ['one'], words: ['w'] })
    expect(answer.body.metadata).not.toHaveProperty('labels')
  })

  it('ends the object with the last thing that it waited for', async () => {
    const registry = await aWidgetRegistry()
    await registry.send('POST', spaces, { body: held })
    const watch = await registry.watch(`${spaces}?watch=1`)
    const going = await registry.send('DELETE', `${spaces}/a`)
    expect(going.body).toMatchObject({
      metadata: { deletionTimestamp: '2026-01-02T03:04:05Z' },
      status: { phase: 'Going' },
    })
    const again = await registry.send('DELETE', `${spaces}/a`)
    expect(again.body).toEqual(going.body)
    const body = aSpace('a', { spec: { holds: [] } })
    expect((await registry.send('PUT', `${spaces}/a/finalize`, { body })).code).toBe(200)
    expect((await registry.send('GET', `${spaces}/a`)).code).toBe(404)
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a'])
  })

  it('keeps an object that is not being deleted', async () => {
    const registry = await aWidgetRegistry()
    await registry.send('POST', spaces, { body: held })
    await registry.send('PUT', `${spaces}/a/finalize`, { body: aSpace('a', { spec: { holds: [] } }) })
    expect((await registry.send('GET', `${spaces}/a`)).body.spec.holds).toEqual([])
    expect((await registry.send('DELETE', `${spaces}/a`)).body.status).toBe('Success')
  })

  it('is not there for other kinds', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    expect((await registry.send('PUT', `${widgets}/web/finalize`, { body: {} })).code).toBe(404)
    expect((await registry.send('GET', `${spaces}/a/finalize`)).code).toBe(405)
  })
})
