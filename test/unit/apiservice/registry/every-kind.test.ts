import { beforeEach, describe, expect, it } from 'vitest'
import { sampleOf } from '../../../../src/api/derive/sample.ts'
import { type AnyKind, apiVersionOf } from '../../../../src/api/kind.ts'
import { kinds } from '../../../../src/api/kinds/index.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { SpaceKind, WidgetKind } from '../../../support/kinds.ts'
import { aRegistry, type RegistryUnderTest } from '../../../support/registry.ts'
import { applyType, jsonPatchType, mergePatchType } from '../../../support/widgets.ts'

const stored = [...kinds, WidgetKind, SpaceKind].filter(kind => kind.storage === 'stored')

function collectionOf(kind: AnyKind, version?: string): string {
  const apiVersion = apiVersionOf(kind, version)
  const root = kind.group === '' ? `/api/${apiVersion}` : `/apis/${apiVersion}`
  return `${root}/${kind.scope === 'Namespaced' ? 'namespaces/default/' : ''}${kind.plural}`
}

describe.each(stored.map(kind => [kind.kind, kind] as const))('%s', (_name, kind) => {
  const collection = collectionOf(kind)
  const sample = sampleOf(kind)
  const item = `${collection}/${sample.metadata.name}`
  let registry: RegistryUnderTest
  let made: KubeObject

  beforeEach(async () => {
    registry = await aRegistry({ kinds: [kind] })
    const answer = await registry.send('POST', `${collection}?fieldValidation=Strict`, { body: sample })
    expect(answer.body).toMatchObject({ kind: kind.kind, metadata: { name: sample.metadata.name } })
    made = answer.body
  })

  const patch = (body: unknown, path = item) => registry.send('PATCH', path, { body, type: mergePatchType })

  it('is created with what the server adds, and read as it was answered', async () => {
    expect(made.metadata).toMatchObject({
      uid: expect.stringMatching(/^[-\da-f]{36}$/),
      creationTimestamp: '2026-01-02T03:04:05Z',
      resourceVersion: expect.stringMatching(/^\d+$/),
    })
    expect(made.metadata.generation).toBe(kind.generation ? 1 : undefined)
    expect((await registry.send('GET', item)).body).toEqual(made)
    expect((await registry.send('GET', collection)).body.items).toEqual([made])
    expect((await registry.send('POST', collection, { body: sample })).code).toBe(409)
  })

  it('is one object at all versions', async () => {
    for (const { name } of kind.versions) {
      const { body } = await registry.send('GET', `${collectionOf(kind, name)}/${sample.metadata.name}`)
      expect(body).toEqual({ ...made, apiVersion: apiVersionOf(kind, name) })
    }
  })

  it('stays as it is when it is put or patched as it is', async () => {
    const watch = await registry.watch(
      `${collection}?watch=1&resourceVersion=${made.metadata.resourceVersion}`,
    )
    expect((await registry.send('PUT', item, { body: made })).body).toEqual(made)
    expect((await patch({ metadata: { name: sample.metadata.name } })).body).toEqual(made)
    expect((await registry.send('PATCH', item, { body: [], type: jsonPatchType })).body).toEqual(made)
    await watch.settle()
    expect(watch.seen).toEqual([])
  })

  it('is applied by a second manager, whose second time changes nothing', async () => {
    const body = { ...sample, metadata: { ...sample.metadata, labels: { 'registry.test/a': 'b' } } }
    const apply = () => registry.send('PATCH', `${item}?fieldManager=ann`, { body, type: applyType })
    const first = await apply()
    expect(first.body.metadata.generation).toBe(made.metadata.generation)
    expect(first.body.metadata.managedFields).toContainEqual(
      expect.objectContaining({ manager: 'ann', operation: 'Apply' }),
    )
    expect(await apply()).toEqual(first)
  })

  it('is labelled without a new generation, and refuses a stale version', async () => {
    const labelled = await patch({ metadata: { labels: { 'registry.test/a': 'b' } } })
    expect(labelled.body.metadata.generation).toBe(made.metadata.generation)
    expect(
      (await registry.send('GET', `${collection}?labelSelector=registry.test/a%3Db`)).body.items,
    ).toEqual([labelled.body])
    expect((await registry.send('PUT', item, { body: made })).code).toBe(409)
    expect((await patch({ metadata: { resourceVersion: made.metadata.resourceVersion } })).code).toBe(409)
  })

  it('takes a PUT without a resourceVersion only when it says so', async () => {
    const { resourceVersion: _version, ...metadata } = made.metadata
    const answer = await registry.send('PUT', item, { body: { ...made, metadata } })
    expect(answer.code).toBe(kind.unconditionalUpdate ? 200 : 422)
  })

  it('has a status of its own when it says so', async () => {
    const answer = await registry.send('GET', `${item}/status`)
    expect(answer.code).toBe(kind.status === undefined ? 404 : 200)
    const put = await registry.send('PUT', `${item}/status`, { body: made })
    expect(put.code).toBe(kind.status === undefined ? 404 : 200)
  })

  it('waits for its finalizers, and goes with the last', async () => {
    const { finalizers: own = [] } = made.metadata
    await patch({ metadata: { finalizers: [...own, 'registry.test/f'] } })
    const going = await registry.send('DELETE', item)
    expect(going.body.metadata).toMatchObject({ deletionTimestamp: '2026-01-02T03:04:05Z' })
    expect(going.body.metadata.generation).toBe(kind.generation ? 2 : undefined)
    const watch = await registry.watch(
      `${collection}?watch=1&resourceVersion=${going.body.metadata.resourceVersion}`,
    )
    await patch({ metadata: { finalizers: null } })
    const held = kind.finalize?.pending(going.body) === true
    expect((await registry.send('GET', item)).code).toBe(held ? 200 : 404)
    await watch.settle()
    expect(watch.seen).toEqual([`${held ? 'MODIFIED' : 'DELETED'} ${sample.metadata.name}`])
  })

  it('is watched from its state on, with the end of it marked', async () => {
    const watch = await registry.watch(
      `${collection}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    )
    expect(watch.seen).toEqual([
      `ADDED ${sample.metadata.name}`,
      `BOOKMARK ${made.metadata.resourceVersion} end`,
    ])
    expect(watch.frames[0]?.object).toEqual(made)
  })

  it('is deleted with its collection', async () => {
    const answer = await registry.send('DELETE', collection)
    if (!kind.deletesCollection)
      return expect(answer.body).toMatchObject({ code: 405, reason: 'MethodNotAllowed' })
    expect(answer.body.items).toEqual([made])
    const held = kind.finalize?.pending(made) === true
    expect((await registry.send('GET', collection)).body.items).toHaveLength(held ? 1 : 0)
  })

  it('is untouched by dry runs', async () => {
    expect((await registry.send('DELETE', `${item}?dryRun=All`)).code).toBe(200)
    const many = await registry.send('DELETE', `${collection}?dryRun=All`)
    expect(many.code).toBe(kind.deletesCollection ? 200 : 405)
    expect((await patch({ metadata: { labels: { a: 'b' } } }, `${item}?dryRun=All`)).code).toBe(200)
    expect((await registry.send('GET', item)).body).toEqual(made)
  })

  it('names fields that it does not know', async () => {
    const body = { nope: 1 }
    expect((await patch(body)).warnings).toEqual(['unknown field "nope"'])
    expect((await patch(body, `${item}?fieldValidation=Strict`)).code).toBe(422)
    expect((await patch(body, `${item}?fieldValidation=Ignore`)).warnings).toEqual([])
  })
})
