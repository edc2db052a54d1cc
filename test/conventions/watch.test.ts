import { expect } from 'vitest'
import { apiVersionOf } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { protocols } from '../support/api-client.ts'
import { must } from './frame/must.ts'
import { eventsBefore, Scene, summaryOf } from './frame/scene.ts'
import type { Frame } from './frame/subject.ts'
import { aSuite, isReadable, isStored } from './frame/suite.ts'

// Over HTTP/1.1 every watch would be a connection.
const suite = aSuite({}, 'HTTP/2')

const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan'

const revisionOf = ({ object }: Frame): number => Number(object.metadata.resourceVersion)

suite.every(isReadable, subject => {
  must(88, 'sends the headers of a watch before there is any event', async () => {
    const scene = await Scene.of(subject)
    const revision = await scene.revision()
    for (const protocol of protocols) {
      const client = suite.server.client(protocol)
      const answer = await client.open(`${scene.collection}?watch=1&resourceVersion=${revision}`)
      expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } })
      expect(answer.headers).not.toHaveProperty('content-length')
      answer.cancel()
    }
  })

  must(89, 'sends each event as one line with a type and an object of the watched version', async () => {
    const scene = await Scene.of(subject)
    const { kind } = subject
    for (const { name: version } of kind.versions) {
      const collection = subject.collection(scene.namespace, version)
      const watch = await scene.watch(`${initial}&allowWatchBookmarks=1`, { collection })
      const made = await scene.make()
      await scene.change(made, { changed: 'yes' })
      await scene.remove(made)
      const types = new Set<string>()
      while (!types.has('DELETED')) {
        const line = await watch.stream.line()
        const frame = JSON.parse(line ?? '')
        expect(new Set(Object.keys(frame))).toEqual(new Set(['type', 'object']))
        expect(frame.object).toMatchObject({ apiVersion: apiVersionOf(kind, version), kind: kind.kind })
        types.add(frame.type)
      }
      expect(types).toEqual(new Set(['BOOKMARK', 'ADDED', 'MODIFIED', 'DELETED']))
      watch.close()
    }
  })

  must(
    90,
    'goes on behind each version with exactly the later events, in one namespace and in all',
    async () => {
      const scene = await Scene.of(subject)
      const start = await scene.revision()
      const one = await scene.make()
      await scene.change(one, { changed: 'once' })
      const two = await scene.make()
      await scene.remove(one)
      await scene.change(two, { changed: 'too' })
      const stop = await scene.make()
      const whole = await eventsBefore(await scene.watch(`resourceVersion=${start}`), stop)
      const [first, second] = [one.metadata.name, two.metadata.name]
      expect(whole.map(summaryOf)).toEqual([
        `ADDED ${first}`,
        `MODIFIED ${first}`,
        `ADDED ${second}`,
        ...scene.removal.map(type => `${type} ${first}`),
        `MODIFIED ${second}`,
      ])
      const revisions = whole.map(revisionOf)
      expect(revisions).toEqual([...new Set(revisions)].toSorted((a, b) => a - b))
      for (const collection of [scene.collection, subject.collection()]) {
        for (const [index, revision] of [Number(start), ...revisions].entries()) {
          const watch = await scene.watch(`resourceVersion=${revision}`, { collection })
          expect(await eventsBefore(watch, stop)).toEqual(whole.slice(index))
        }
      }
    },
  )

  must(91, 'begins with what is there when it is asked from nothing or 0', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(3)
    for (const query of ['', 'resourceVersion=', 'resourceVersion=0']) {
      const items = await scene.items()
      const watch = await scene.watch(query)
      const added = items.map(object => ({ type: 'ADDED', object }))
      expect(await scene.eventsOf(watch)).toEqual(added)
    }
  })

  must(92, 'tells a watch from a version that is too old so, and ends it', async () => {
    const scene = await Scene.of(subject)
    const start = await scene.revision()
    await scene.make()
    const { store } = suite.server
    await store.compact(store.revision())
    const watch = await scene.watch(`resourceVersion=${start}`)
    expect(await watch.next()).toMatchObject({
      type: 'ERROR',
      object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 },
    })
    expect(await watch.next()).toBeUndefined()
  })

  must(93, 'waits in silence for a version of the future', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make()
    const watch = await scene.watch(`resourceVersion=${Number(await scene.revision()) + 2}`)
    await scene.change(made, { round: '1' })
    await scene.change(made, { round: '2' })
    const third = await scene.change(made, { round: '3' })
    expect(await scene.eventsOf(watch)).toEqual([{ type: 'MODIFIED', object: third }])
  })

  must(95, 'gives what is deleted its last state and the version of the deletion', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make()
    const changed = await scene.change(made, { changed: 'yes' })
    const watch = await scene.watch(`resourceVersion=${await scene.revision()}`)
    await scene.remove(made)
    const deletion = Number(await scene.revision())
    const deleted = (await scene.eventsOf(watch)).at(-1)
    expect(deleted?.type).toBe('DELETED')
    expect(deleted?.object.metadata).toMatchObject({
      uid: changed.metadata.uid,
      ...(changed.metadata.labels === undefined ? {} : { labels: changed.metadata.labels }),
      resourceVersion: String(deletion),
    })
    expect(deletion).toBeGreaterThan(Number(changed.metadata.resourceVersion))
    if (scene.removal.length > 1 || !scene.isStored) return
    const { metadata } = changed
    expect(deleted?.object).toEqual({
      ...changed,
      metadata: { ...metadata, resourceVersion: String(deletion) },
    })
  })

  must([98, 99], 'marks the end of what is there once, also when nothing is', async () => {
    const scene = await Scene.of(subject)
    for (const count of [0, 3]) {
      await scene.makeMany(count)
      const items = await scene.items()
      const revision = await scene.revision()
      for (const from of ['', `&resourceVersion=${revision}`, '&resourceVersion=0']) {
        const watch = await scene.watch(`${initial}&allowWatchBookmarks=true${from}`)
        const frames: Frame[] = []
        for (let n = 0; n <= items.length; n += 1) frames.push((await watch.next()) as Frame)
        expect(frames.slice(0, -1)).toEqual(items.map(object => ({ type: 'ADDED', object })))
        expect(frames.at(-1)).toMatchObject({
          type: 'BOOKMARK',
          object: {
            apiVersion: apiVersionOf(subject.kind),
            kind: subject.kind.kind,
            metadata: { resourceVersion: revision, annotations: { 'k8s.io/initial-events-end': 'true' } },
          },
        })
        watch.close()
      }
    }
    const watch = await scene.watch(`${initial}&allowWatchBookmarks=true`)
    const made = await scene.make()
    await scene.change(made, { changed: 'yes' })
    const all = [...(await scene.eventsOf(watch))]
    expect(all.filter(({ type }) => type === 'BOOKMARK')).toHaveLength(1)
    const unmarked = await scene.eventsOf(await scene.watch(initial))
    expect(new Set(unmarked.map(({ type }) => type))).toEqual(new Set(['ADDED']))
  })

  must(98, 'begins with nothing when initial events are not wanted', async () => {
    const scene = await Scene.of(subject)
    await scene.makeMany(2)
    const revision = await scene.revision()
    for (const from of ['', '0', revision]) {
      const query = `sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=${from}`
      const watch = await scene.watch(query)
      const last = await scene.make()
      expect(await watch.next()).toEqual({ type: 'ADDED', object: last })
      watch.close()
      await scene.remove(last)
      if (from === '0') break
    }
  })

  must(100, 'refuses combinations of initial events and matches that have no meaning', async () => {
    const scene = await Scene.of(subject)
    for (const query of [
      'sendInitialEvents=true',
      'sendInitialEvents=false',
      'sendInitialEvents=true&resourceVersionMatch=Exact',
      'sendInitialEvents=true&resourceVersionMatch=Newest',
      'resourceVersionMatch=NotOlderThan',
      'resourceVersion=1&resourceVersionMatch=NotOlderThan',
      'resourceVersion=1&resourceVersionMatch=Exact',
      `${initial}&continue=token`,
    ]) {
      expect(await scene.list(`watch=1&${query}`), query).toMatchObject({
        code: 422,
        body: { kind: 'Status', reason: 'Invalid', details: { group: 'meta.k8s.io', kind: 'ListOptions' } },
      })
    }
  })

  must(107, 'watches one object by its name', async () => {
    const scene = await Scene.of(subject)
    const [one, two] = (await scene.makeMany(2)) as readonly [KubeObject, KubeObject]
    const start = await scene.revision()
    const other = await scene.change(two, { changed: 'yes' })
    const changed = await scene.change(one, { changed: 'yes' })
    const named = (name: string) =>
      scene.watch(`resourceVersion=${start}&fieldSelector=metadata.name%3D${name}`)
    const watch = await named(one.metadata.name)
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: changed })
    await scene.remove(two)
    await scene.remove(one)
    for (const type of scene.removal) {
      expect(await watch.next()).toMatchObject({ type, object: { metadata: { name: one.metadata.name } } })
    }
    watch.close()
    const others = await scene.watch(
      `resourceVersion=${start}&fieldSelector=metadata.name!%3D${one.metadata.name}`,
    )
    expect(await others.next()).toEqual({ type: 'MODIFIED', object: other })
    others.close()
  })
})

suite.every(isStored, subject => {
  must(94, 'adds what enters a selection, and deletes what leaves it as it was', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make({ x: 'out' })
    const watch = await scene.watch(`resourceVersion=${await scene.revision()}`, { labels: 'x in (in)' })
    const entered = await scene.change(made, { x: 'in' })
    const changed = await scene.change(made, { y: '1' })
    const left = await scene.change(made, { x: 'out' })
    await scene.change(made, { y: '2' })
    const back = await scene.change(made, { x: 'in', y: null })
    await scene.remove(made)
    const events = await scene.eventsOf(watch, { x: 'in' })
    const departed = { ...changed.metadata, resourceVersion: left.metadata.resourceVersion }
    expect(events.slice(0, 4)).toEqual([
      { type: 'ADDED', object: entered },
      { type: 'MODIFIED', object: changed },
      { type: 'DELETED', object: { ...changed, metadata: departed } },
      { type: 'ADDED', object: back },
    ])
    expect(events.slice(4).map(({ type }) => type)).toEqual(scene.removal)
  })

  must(95, 'deletes with what the update said that took the last finalizer', async () => {
    const scene = await Scene.of(subject)
    if (scene.removal.length > 1) return
    const made = await scene.make()
    const patch = (metadata: object) =>
      subject.ask(scene.item(made), {
        method: 'PATCH',
        body: { metadata },
        type: 'application/merge-patch+json',
      })
    await patch({ finalizers: ['conventions.test/hold'] })
    await scene.remove(made)
    const watch = await scene.watch(`resourceVersion=${await scene.revision()}`)
    expect((await patch({ finalizers: null, labels: { last: 'words' } })).code).toBe(200)
    const events = await scene.eventsOf(watch)
    expect(events.map(({ type }) => type)).toEqual(['DELETED'])
    expect(events[0]?.object.metadata).toMatchObject({ labels: { last: 'words' } })
    expect(events[0]?.object.metadata).not.toHaveProperty('finalizers')
  })

  must(106, 'sends nothing for writes that change nothing and for dry runs', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make()
    const watch = await scene.watch(`resourceVersion=${await scene.revision()}`)
    const item = scene.item(made)
    const merge = { method: 'PATCH', type: 'application/merge-patch+json' }
    const other = { labels: { changed: 'no' } }
    const codes = [
      await subject.ask(item, { method: 'PUT', body: made }),
      await subject.ask(item, { ...merge, body: { metadata: { labels: made.metadata.labels ?? {} } } }),
      await subject.ask(item, { method: 'PATCH', type: 'application/json-patch+json', body: [] }),
      await subject.ask(`${item}?dryRun=All`, { ...merge, body: { metadata: other } }),
      await subject.ask(`${item}?dryRun=All`, { method: 'DELETE' }),
    ].map(({ code }) => code)
    expect(new Set(codes)).toEqual(new Set([200]))
    await subject.ask(`${scene.collection}?dryRun=All&${scene.select()}`, { method: 'DELETE' })
    const changed = await scene.change(made, { changed: 'yes' })
    expect(await scene.eventsOf(watch)).toEqual([{ type: 'MODIFIED', object: changed }])
  })

  must(107, 'watches what labels select, by every operator', async () => {
    const scene = await Scene.of(subject)
    const start = await scene.revision()
    for (const x of ['a', 'b', 'c']) await scene.make({ x })
    await scene.make({ y: '5' })
    const items = await scene.items()
    for (const [labels, fits] of [
      ['x=a', ({ x }) => x === 'a'],
      ['x!=a', ({ x }) => x !== 'a'],
      ['x in (a,b)', ({ x }) => x === 'a' || x === 'b'],
      ['x notin (a,b)', ({ x }) => x !== 'a' && x !== 'b'],
      ['!x', ({ x }) => x === undefined],
      ['y>4', ({ y }) => y === '5'],
    ] as readonly (readonly [string, (labels: Readonly<Record<string, string>>) => boolean])[]) {
      const expected = items.filter(({ metadata }) => fits(metadata.labels ?? {}))
      const watch = await scene.watch(`resourceVersion=${start}`, { labels })
      const seen = new Set<string>()
      for (const _ of expected) seen.add(summaryOf((await watch.next()) as Frame))
      expect(seen, labels).toEqual(new Set(expected.map(object => `ADDED ${object.metadata.name}`)))
      watch.close()
    }
  })
})
