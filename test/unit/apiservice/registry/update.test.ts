import { describe, expect, it } from 'vitest'
import type { Store } from '../../../../apiservice/store-contract.ts'
import { forbiddenPath } from '../../../../src/kernel/errors.ts'
import type { Answer, RegistryUnderTest } from '../../../support/registry.ts'
import { storeOver } from '../../../support/store-over.ts'
import {
  anUpdate,
  aSpace,
  aWidget,
  aWidgetRegistry,
  makeWidget,
  spaces,
  widgets,
} from '../../../support/widgets.ts'

const put = (registry: RegistryUnderTest, name: string, body: unknown, query = '') =>
  registry.send('PUT', `${widgets}/${name}${query}`, { body })

describe('update', () => {
  it('changes what is nested as deeply as may be stored, whoever owned it before', async () => {
    const registry = await aWidgetRegistry()
    const nested = (value: string, resourceVersion?: string): string =>
      JSON.stringify(aWidget('deep', { metadata: { resourceVersion }, spec: { extra: 0 } })).replace(
        '"extra":0',
        `"extra":${'{"a":'.repeat(990)}${value}${'}'.repeat(990)}`,
      )
    const deep = `${widgets}/deep`
    const versionOf = ({ code, body }: Answer): string => {
      expect(code).toBeLessThan(300)
      return body.metadata.resourceVersion
    }
    const created = versionOf(await registry.send('POST', widgets, { body: nested('1') }))
    const updated = versionOf(await registry.send('PUT', deep, { body: nested('2', created) }))
    const headers = { 'user-agent': 'another/1.0' }
    versionOf(await registry.send('PUT', deep, { body: nested('3', updated), headers }))
    const type = 'application/apply-patch+yaml'
    versionOf(
      await registry.send('PATCH', `${deep}?fieldManager=third&force=true`, { body: nested('4'), type }),
    )
  })

  it('replaces all but what only the server may say', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { metadata: { labels: { a: '1' } }, spec: { size: 1 } })
    const answer = await put(registry, 'web', {
      ...old,
      metadata: {
        name: 'web',
        resourceVersion: old.metadata.resourceVersion,
        annotations: { b: '2' },
        creationTimestamp: '2001-01-01T00:00:00Z',
        generation: 99,
      },
      spec: { size: 2 },
      status: { phase: 'Mine' },
    })
    expect(answer).toMatchObject({ code: 200, warnings: [] })
    expect(answer.body).toEqual({
      apiVersion: 'test.example.com/v2',
      kind: 'Widget',
      metadata: {
        name: 'web',
        namespace: 'shop',
        uid: old.metadata.uid,
        creationTimestamp: old.metadata.creationTimestamp,
        generation: 2,
        annotations: { b: '2' },
        managedFields: [
          anUpdate({
            'f:metadata': { 'f:annotations': { '.': {}, 'f:b': {} } },
            'f:spec': { '.': {}, 'f:color': {}, 'f:size': {} },
          }),
        ],
        resourceVersion: String(Number(old.metadata.resourceVersion) + 1),
      },
      spec: { size: 2, color: 'red' },
    })
  })

  it('changes nothing when the object is as it was, whatever the order of its keys', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { spec: { size: 1, color: 'blue' } })
    const watch = await registry.watch(`${widgets}?watch=1&resourceVersion=${old.metadata.resourceVersion}`)
    const { metadata, ...rest } = old
    const answer = await put(registry, 'web', { metadata, ...rest, spec: { color: 'blue', size: 1 } })
    expect([answer.code, answer.body]).toEqual([200, old])
    await watch.settle()
    expect(watch.seen).toEqual([])
  })

  it('counts the generation up for the spec only', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { spec: { size: 1 } })
    const labelled = await put(registry, 'web', { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } })
    expect(labelled.body.metadata.generation).toBe(1)
    const grown = await put(registry, 'web', { ...labelled.body, spec: { size: 2 } })
    expect(grown.body.metadata.generation).toBe(2)
  })

  it.each([
    [
      'another name',
      400,
      { name: 'other' },
      'the name of the object (other) does not match the name on the URL (web)',
    ],
    [
      'no name',
      400,
      { name: '' },
      'the name of the object (web based on URL) was undeterminable: name must be provided',
    ],
    [
      'another namespace',
      400,
      { namespace: 'other' },
      'the namespace of the provided object does not match the namespace sent on the request',
    ],
    [
      'no resourceVersion',
      422,
      { resourceVersion: undefined },
      'widgets.test.example.com "web" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
    ],
    [
      'another resourceVersion',
      409,
      { resourceVersion: '1' },
      'Operation cannot be fulfilled on widgets.test.example.com "web": the object has been modified; please apply your changes to the latest version and try again',
    ],
    [
      'a resourceVersion that is none',
      422,
      { resourceVersion: 'x' },
      'Widget.test.example.com "web" is invalid: metadata.resourceVersion: Invalid value: "x": parsing "x": invalid syntax',
    ],
    [
      'another uid',
      409,
      { uid: 'b' },
      expect.stringMatching(
        /^Operation cannot be fulfilled on widgets.test.example.com "web": Precondition failed: UID in precondition: b, UID in object meta: [-\da-f]{36}$/,
      ),
    ],
  ])('refuses %s', async (_what, code, metadata, message) => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web')
    const answer = await put(registry, 'web', { ...old, metadata: { ...old.metadata, ...metadata } })
    expect(answer.body).toMatchObject({ code, message })
    expect((await registry.send('GET', `${widgets}/web`)).body).toEqual(old)
  })

  it('tells the kind what it replaces', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web', { spec: { size: 5 } })
    expect((await put(registry, 'web', { ...old, spec: { size: 4 } })).body).toMatchObject({
      code: 422,
      message: 'Widget.test.example.com "web" is invalid: spec.size: Invalid value: 4: may not shrink',
    })
  })

  it('answers 404 for what is not there, and 405 for a collection', async () => {
    const registry = await aWidgetRegistry()
    expect((await put(registry, 'nope', aWidget('nope', { metadata: { resourceVersion: '1' } }))).code).toBe(
      404,
    )
    expect((await put(registry, 'nope', aWidget('nope'))).code).toBe(404)
    expect((await registry.send('PUT', widgets, { body: aWidget('web') })).code).toBe(405)
  })

  it('lets exactly one of two that were made from one version win', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web')
    const sizes = [1, 2, 3, 4, 5]
    const answers = await Promise.all(sizes.map(size => put(registry, 'web', { ...old, spec: { size } })))
    const won = answers.filter(answer => answer.code === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(answer => answer.code === 409)).toHaveLength(4)
    expect((await registry.send('GET', `${widgets}/web`)).body.spec).toEqual(won[0]?.body.spec)
  })

  it('serves one object at both versions', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web')
    const path = `${widgets.replace('v2', 'v1')}/web`
    const read = await registry.send('GET', path)
    expect(read.body).toEqual({ ...old, apiVersion: 'test.example.com/v1' })
    expect(read.warnings).toEqual(['test.example.com/v1 Widget is deprecated'])
    expect((await registry.send('PUT', path, { body: { ...read.body, spec: { size: 1 } } })).code).toBe(200)
    expect((await registry.send('GET', `${widgets}/web`)).body.spec.size).toBe(1)
  })

  it('shows what a dry run would make, at the old resourceVersion', async () => {
    const registry = await aWidgetRegistry()
    const old = await makeWidget(registry, 'web')
    const answer = await put(registry, 'web', { ...old, spec: { size: 1 } }, '?dryRun=All')
    expect(answer.body).toMatchObject({
      spec: { size: 1 },
      metadata: { generation: 2, resourceVersion: old.metadata.resourceVersion },
    })
    expect((await registry.send('GET', `${widgets}/web`)).body).toEqual(old)
    const stale = { ...old, metadata: { ...old.metadata, resourceVersion: '1' } }
    expect((await put(registry, 'web', stale, '?dryRun=All')).code).toBe(409)
  })
})

describe('update of built-in kinds', () => {
  const putSpace = (registry: RegistryUnderTest, body: unknown, query = '') =>
    registry.send('PUT', `${spaces}/a${query}`, { body })

  it('needs no resourceVersion, and honours one', async () => {
    const registry = await aWidgetRegistry()
    await registry.send('POST', spaces, { body: aSpace('a') })
    expect((await putSpace(registry, aSpace('a', { spec: { words: ['x'] } }))).code).toBe(200)
    expect((await putSpace(registry, aSpace('a', { metadata: { resourceVersion: '1' } }))).code).toBe(409)
  })

  it('creates what is not there', async () => {
    const registry = await aWidgetRegistry()
    const answer = await putSpace(registry, aSpace('a', { spec: { words: ['x'] } }))
    expect(answer).toMatchObject({ code: 201, body: { spec: { words: ['x'] }, status: { phase: 'There' } } })
    expect((await registry.send('GET', `${spaces}/a`)).body).toEqual(answer.body)
  })

  it('does not create what was made for an object that was there', async () => {
    const registry = await aWidgetRegistry()
    for (const metadata of [{ resourceVersion: '1' }, { uid: 'u' }]) {
      expect((await putSpace(registry, aSpace('a', { metadata }))).code).toBe(404)
    }
  })

  it('asks whether the user may create', async () => {
    const asked: unknown[] = []
    const registry = await aWidgetRegistry({
      authorize: ({ info, user }) => {
        asked.push([user.name, info.verb, info.path])
        throw forbiddenPath('no')
      },
    })
    expect((await putSpace(registry, aSpace('a'))).code).toBe(403)
    expect(asked).toEqual([['admin', 'create', '/api/v1/spaces/a']])
    expect((await registry.send('GET', `${spaces}/a`)).code).toBe(404)
  })
})

describe('lost races', () => {
  /** A store in which somebody else writes before each of the first `times` updates. */
  const contended = (times: number) => {
    let left = times
    return (store: Store): Store =>
      storeOver(store, {
        update: async (key, expected, body) => {
          if (left > 0) {
            left -= 1
            await store.update(
              key,
              expected,
              Buffer.from(body.toString().replace(/"n":"\d+"/, `"n":"${left}"`)),
            )
          }
          return store.update(key, expected, body)
        },
      })
  }

  it('are decided again when the request names no version', async () => {
    const registry = await aWidgetRegistry({ wrap: contended(3) })
    await registry.send('POST', spaces, { body: aSpace('a', { metadata: { labels: { n: '0' } } }) })
    const body = { metadata: { labels: { mine: '1' } } }
    const answer = await registry.send('PATCH', `${spaces}/a`, { body, type: 'application/merge-patch+json' })
    expect(answer).toMatchObject({ code: 200, body: { metadata: { labels: { mine: '1' } } } })
  })

  it('are conflicts when it does', async () => {
    const registry = await aWidgetRegistry({ wrap: contended(1) })
    const old = await makeWidget(registry, 'web', { metadata: { labels: { n: '5' } } })
    expect((await put(registry, 'web', { ...old, spec: { size: 1 } })).code).toBe(409)
  })

  it('end in a conflict when there are too many', async () => {
    const registry = await aWidgetRegistry({ wrap: contended(Number.POSITIVE_INFINITY) })
    await registry.send('POST', spaces, { body: aSpace('a', { metadata: { labels: { n: '0' } } }) })
    const body = aSpace('a', { metadata: { labels: { n: '1' } } })
    expect((await registry.send('PUT', `${spaces}/a`, { body })).code).toBe(409)
  })
})
