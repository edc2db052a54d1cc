import { describe, expect, it } from 'vitest'
import type { WatchEvent } from '../../../../apiservice/contract.ts'
import { toRequestInfo } from '../../../../apiservice/http/route.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { anApiRequest } from '../../../support/api-request.ts'
import type { RegistryUnderTest } from '../../../support/registry.ts'
import {
  allWidgets,
  aWidget,
  aWidgetRegistry,
  makeWidget,
  mergePatchType,
  widgets,
} from '../../../support/widgets.ts'

const patch = (registry: RegistryUnderTest, name: string, body: unknown) =>
  registry.send('PATCH', `${widgets}/${name}`, { body, type: mergePatchType })

async function seeded(): Promise<RegistryUnderTest> {
  const registry = await aWidgetRegistry()
  await makeWidget(registry, 'a', { metadata: { labels: { app: 'web' } } })
  await makeWidget(registry, 'b')
  return registry
}

const watchOf = (registry: RegistryUnderTest, query: string, path = widgets) =>
  registry.watch(`${path}?watch=1&${query}`)

async function firstBatch(registry: RegistryUnderTest): Promise<readonly WatchEvent[]> {
  const query = new URLSearchParams('watch=1')
  const info = toRequestInfo('GET', widgets, query)
  const reply = await registry.handle(anApiRequest({ path: widgets, query, info }), never)
  if (reply.type !== 'watch') throw new Error(`expected a watch, got ${reply.type}`)
  return new Promise(resolve => {
    reply.open({ events: resolve, end: () => resolve([]) }, never)
  })
}

describe('a watch', () => {
  it.each([
    '',
    'resourceVersion=0',
    'resourceVersion=',
    'sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  ])('from %j begins with what is there and goes on', async query => {
    const registry = await seeded()
    const watch = await watchOf(registry, query)
    expect(watch.seen).toEqual(['ADDED a', 'ADDED b'])
    await makeWidget(registry, 'c')
    await registry.send('DELETE', `${widgets}/a`)
    await watch.settle()
    expect(watch.seen.slice(2)).toEqual(['ADDED c', 'DELETED a'])
  })

  it('from a revision has exactly what came later, as it was', async () => {
    const registry = await seeded()
    const { resourceVersion } = (await registry.send('GET', widgets)).body.metadata
    await makeWidget(registry, 'c')
    await patch(registry, 'c', { metadata: { labels: { x: 'y' } } })
    await patch(registry, 'c', { metadata: { labels: { x: 'y' } } })
    await registry.send('DELETE', `${widgets}/c`)
    const watch = await watchOf(registry, `resourceVersion=${resourceVersion}`)
    expect(watch.seen).toEqual(['ADDED c', 'MODIFIED c', 'DELETED c'])
    const [added, modified, deleted] = watch.frames.map(frame => frame.object)
    expect(added.metadata).not.toHaveProperty('labels')
    expect(deleted).toEqual({
      ...modified,
      metadata: {
        ...modified.metadata,
        resourceVersion: String(Number(modified.metadata.resourceVersion) + 1),
      },
    })
    const late = await watchOf(registry, `resourceVersion=${modified.metadata.resourceVersion}`)
    expect(late.seen).toEqual(['DELETED c'])
  })

  it('from now has nothing that is there', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, 'sendInitialEvents=false&resourceVersionMatch=NotOlderThan')
    await makeWidget(registry, 'c')
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED c'])
  })

  it('from a revision that is still to come waits for it in silence', async () => {
    const registry = await seeded()
    const watch = await watchOf(
      registry,
      `resourceVersion=${registry.store.revision() + 2}&allowWatchBookmarks=1`,
    )
    await registry.clock.advance(60_000)
    await makeWidget(registry, 'c')
    await makeWidget(registry, 'd')
    await makeWidget(registry, 'e')
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED e'])
  })

  it('of all namespaces carries the same revisions as of one', async () => {
    const registry = await seeded()
    const [one, all] = await Promise.all([watchOf(registry, ''), watchOf(registry, '', allWidgets)])
    await makeWidget(registry, 'c')
    await registry.send('POST', widgets.replace('shop', 'another'), { body: aWidget('z') })
    await all.settle()
    expect(one.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c'])
    expect(all.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c', 'ADDED z'])
    expect(all.frames[2]).toEqual(one.frames[2])
  })

  it('serves the version that it was asked at', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, '', widgets.replace('v2', 'v1'))
    expect(watch.frames[0]?.object.apiVersion).toBe('test.example.com/v1')
  })

  it('says nothing of dry runs and of writes that change nothing', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, `resourceVersion=${registry.store.revision()}`)
    await patch(registry, 'a?dryRun=All', { metadata: { labels: { dry: '1' } } })
    await patch(registry, 'a', { metadata: { labels: { app: 'web' } } })
    await watch.settle()
    expect(watch.seen).toEqual([])
  })

  it('that begins with what another one begins with shares what is made of it', async () => {
    const registry = await aWidgetRegistry()
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => makeWidget(registry, `w${i}`)))
    const [one, other] = [await firstBatch(registry), await firstBatch(registry)]
    expect(one).toHaveLength(1_000)
    expect(other).toBe(one)
    await makeWidget(registry, 'another')
    expect(await firstBatch(registry)).toHaveLength(1_001)
  })

  it('stops for good when its client is gone', async () => {
    const registry = await seeded()
    const before = registry.clock.pending
    const watch = await watchOf(registry, 'allowWatchBookmarks=1')
    expect(registry.clock.pending).toBeGreaterThan(before)
    watch.abort()
    await makeWidget(registry, 'c')
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED a', 'ADDED b', expect.stringMatching(/^BOOKMARK .* end$/)])
    expect(registry.clock.pending).toBe(before)
    expect(watch.isEnded).toBe(false)
  })

  it('ends when the store closes', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, '')
    await registry.store.close()
    await watch.settle()
    expect(watch.isEnded).toBe(true)
    expect(watch.seen).toEqual(['ADDED a', 'ADDED b'])
  })
})

describe('a watch with selectors', () => {
  it('shows what enters as added and what leaves as deleted, with the state that was in it', async () => {
    const registry = await seeded()
    const watch = await watchOf(
      registry,
      `labelSelector=app%3Dweb&resourceVersion=${registry.store.revision()}`,
    )
    await patch(registry, 'b', { metadata: { labels: { app: 'web' } } })
    await patch(registry, 'b', { spec: { size: 1 } })
    const gone = await patch(registry, 'b', { metadata: { labels: { app: 'db' } }, spec: { size: 2 } })
    await patch(registry, 'b', { spec: { size: 3 } })
    await registry.send('DELETE', `${widgets}/b`)
    await registry.send('DELETE', `${widgets}/a`)
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED b', 'MODIFIED b', 'DELETED b', 'DELETED a'])
    expect(watch.frames[2]?.object).toMatchObject({
      metadata: { labels: { app: 'web' }, resourceVersion: gone.body.metadata.resourceVersion },
      spec: { size: 1 },
    })
  })

  it('selects by the state before, when the last write takes the label away', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'a', { metadata: { labels: { app: 'web' }, finalizers: ['a.com/a'] } })
    await registry.send('DELETE', `${widgets}/a`)
    const watch = await watchOf(registry, 'labelSelector=app%3Dweb')
    await patch(registry, 'a', { metadata: { labels: null, finalizers: null } })
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED a', 'DELETED a'])
    expect(watch.frames[1]?.object.metadata.labels).toEqual({ app: 'web' })
  })

  it.each([
    ['fieldSelector=metadata.name%3Da', ['ADDED a', 'MODIFIED a']],
    ['fieldSelector=spec.color%3Dblue', ['ADDED b']],
    ['labelSelector=none', []],
  ])('%s', async (query, seen) => {
    const registry = await seeded()
    const watch = await watchOf(registry, query)
    await patch(registry, 'a', { spec: { size: 1 } })
    await patch(registry, 'b', { spec: { color: 'blue' } })
    await watch.settle()
    expect(watch.seen).toEqual(seen)
  })

  it('watches one item by the deprecated path', async () => {
    const registry = await seeded()
    const watch = await registry.watch(`${widgets.replace('/v2/', '/v2/watch/')}/b`)
    await patch(registry, 'a', { spec: { size: 1 } })
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED b'])
  })
})

describe('the initial events', () => {
  const wanted = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'

  it('end with one marked bookmark at the revision of their state', async () => {
    const registry = await seeded()
    const revision = registry.store.revision()
    const watch = await watchOf(registry, wanted)
    await makeWidget(registry, 'c')
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED a', 'ADDED b', `BOOKMARK ${revision} end`, 'ADDED c'])
    await registry.clock.advance(60_000)
    expect(watch.seen.at(-1)).toBe(`BOOKMARK ${registry.store.revision()}`)
  })

  it('end so when there are none', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, `${wanted}&labelSelector=none%3Dnone`)
    expect(watch.seen).toEqual([`BOOKMARK ${registry.store.revision()} end`])
    expect(watch.isEnded).toBe(false)
  })

  it('are of a state that is not older than what was asked for', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, `${wanted}&resourceVersion=${registry.store.revision() + 1}`)
    expect(watch.seen).toEqual([])
    await makeWidget(registry, 'c')
    await registry.clock.advance(100)
    expect(watch.seen).toEqual(['ADDED a', 'ADDED b', 'ADDED c', `BOOKMARK ${registry.store.revision()} end`])
  })

  it('fail when that state does not come', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, `${wanted}&resourceVersion=99`)
    await registry.clock.advance(3_000)
    expect(watch.seen).toEqual(['ERROR 504'])
    expect(watch.frames[0]?.object.details.causes).toEqual([
      { reason: 'ResourceVersionTooLarge', message: 'Too large resource version' },
    ])
    expect(watch.isEnded).toBe(true)
  })

  it('have no end mark for who wants no bookmarks', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan')
    expect(watch.seen).toEqual(['ADDED a', 'ADDED b'])
  })

  it.each([
    [
      'sendInitialEvents=true',
      'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ],
    [
      'sendInitialEvents=false',
      'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    ],
    [
      'resourceVersionMatch=NotOlderThan&resourceVersion=0',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    ],
    [
      'continue=abc',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
    ],
    [
      'continue=abc&resourceVersion=0',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
    ],
    [
      'continue=abc&limit=3',
      'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided',
    ],
  ])('refuse %s', async (query, message) => {
    const registry = await seeded()
    expect((await registry.send('GET', `${widgets}?watch=1&${query}`)).body).toMatchObject({
      code: 422,
      message: `ListOptions.meta.k8s.io "" is invalid: ${message}`,
    })
  })

  it.each(['resourceVersion=abc', 'labelSelector=a+in+b', 'fieldSelector=spec.nope%3D1', 'timeoutSeconds=x'])(
    'refuse %s before the stream opens',
    async query => {
      const registry = await seeded()
      expect((await registry.send('GET', `${widgets}?watch=1&${query}`)).code).toBe(400)
    },
  )
})

describe('bookmarks', () => {
  it('come every minute to who allows them, and follow writes elsewhere', async () => {
    const registry = await seeded()
    const revision = registry.store.revision()
    const query = `resourceVersion=${revision}`
    const [with_, without] = await Promise.all([
      watchOf(registry, `${query}&allowWatchBookmarks=true`),
      watchOf(registry, query),
    ])
    await registry.clock.advance(59_000)
    expect(with_.seen).toEqual([])
    await registry.send('POST', '/api/v1/spaces', { body: { metadata: { name: 'a' } } })
    await registry.clock.advance(1_000)
    await registry.clock.advance(60_000)
    expect(with_.seen).toEqual([expect.stringMatching(/^BOOKMARK/), `BOOKMARK ${revision + 1}`])
    expect(without.seen).toEqual([])
  })

  it('are never behind an event that was sent, nor ahead of one that was not', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, 'allowWatchBookmarks=true')
    await makeWidget(registry, 'c')
    await registry.clock.advance(60_000)
    await makeWidget(registry, 'd')
    await watch.settle()
    const revisions = watch.frames
      .slice(2)
      .map(frame => Number(frame.object.revision ?? frame.object.metadata.resourceVersion))
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b))
    expect(watch.seen.slice(2)).toEqual(['BOOKMARK 3 end', 'ADDED c', 'BOOKMARK 4', 'ADDED d'])
  })
})

describe('the end of a watch', () => {
  it('comes after the time that was asked for, two seconds after a last bookmark', async () => {
    const registry = await seeded()
    const watch = await watchOf(registry, 'timeoutSeconds=10&allowWatchBookmarks=true&resourceVersion=2')
    await registry.clock.advance(7_999)
    expect(watch.seen).toEqual(['ADDED b'])
    await registry.clock.advance(1)
    expect(watch.seen).toEqual(['ADDED b', 'BOOKMARK 3'])
    expect(watch.isEnded).toBe(false)
    await registry.clock.advance(2_000)
    expect(watch.isEnded).toBe(true)
    await makeWidget(registry, 'c')
    await registry.clock.advance(60_000)
    expect(watch.seen).toHaveLength(2)
  })

  it.each(['', '&timeoutSeconds=0', '&timeoutSeconds=-1'])(
    'comes within half an hour to an hour for %j',
    async query => {
      const registry = await seeded()
      const watches = await Promise.all(
        Array.from({ length: 30 }, () => watchOf(registry, `resourceVersion=2${query}`)),
      )
      await registry.clock.advance(1_799_000)
      expect(watches.filter(watch => watch.isEnded)).toHaveLength(0)
      await registry.clock.advance(900_000)
      const half = watches.filter(watch => watch.isEnded).length
      expect(half).toBeGreaterThan(0)
      expect(half).toBeLessThan(30)
      await registry.clock.advance(901_000)
      expect(watches.filter(watch => watch.isEnded)).toHaveLength(30)
    },
  )

  it('is an ERROR when the history does not reach back', async () => {
    const registry = await seeded()
    const oldest = registry.store.revision()
    await registry.store.compact(oldest)
    const watch = await watchOf(registry, 'resourceVersion=1&allowWatchBookmarks=true')
    expect(watch.seen).toEqual(['ERROR 410'])
    expect(watch.frames[0]?.object).toMatchObject({
      kind: 'Status',
      reason: 'Expired',
      message: `too old resource version: 1 (${oldest})`,
    })
    expect(watch.isEnded).toBe(true)
    expect((await watchOf(registry, `resourceVersion=${oldest}`)).isEnded).toBe(false)
  })
})
