import { expect } from 'vitest'
import { openMemoryStore } from '../../apiservice/store/memory-store.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { prometheus } from '../../src/telemetry/prometheus.ts'
import { eventually } from '../support/eventually.ts'
import { must } from './frame/must.ts'
import { Scene } from './frame/scene.ts'
import type { Watch } from './frame/subject.ts'
import { aSuite, isComputed, isGadget, isReadable } from './frame/suite.ts'

const metrics = prometheus({ processMetrics: false })
const store = await openMemoryStore({ clock: systemClock, log: silentLogger, metrics })
const suite = aSuite({ store, metrics }, 'HTTP/2')

const withMarks = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'
const accepting = (as: string, v = 'v1') => ({
  headers: { accept: `application/json;as=${as};v=${v};g=meta.k8s.io,application/json` },
})

/** An object that is there, and then changes and goes: what a watch with marks tells of it. */
async function story(scene: Scene, watch: (scene: Scene) => Promise<Watch>) {
  const made = await scene.make()
  const revision = await scene.revision()
  const open = await watch(scene)
  await scene.change(made, { changed: 'yes' })
  await scene.remove(made)
  const frames = []
  for (const type of ['ADDED', 'BOOKMARK', 'MODIFIED', ...scene.removal]) {
    const frame = await open.next()
    expect(frame?.type).toBe(type)
    frames.push(frame?.object)
  }
  open.close()
  return { made, revision, frames }
}

const endMark = { 'k8s.io/initial-events-end': 'true' }

suite.every(isReadable, subject => {
  must([98, 102], 'turns events into Tables of one row, with columns in the first only', async () => {
    const scene = await Scene.of(subject)
    for (const v of ['v1', 'v1beta1']) {
      const watch = () => scene.watch(withMarks, accepting('Table', v))
      const { made, revision, frames } = await story(scene, watch)
      const whole = (await scene.list('', { accept: accepting('Table', v).headers.accept })).body
      const [first, mark, ...later] = frames
      expect(first.columnDefinitions).toEqual(whole.columnDefinitions)
      for (const frame of frames) {
        expect(frame).toMatchObject({ kind: 'Table', apiVersion: `meta.k8s.io/${v}`, rows: [{}] })
        expect(frame.rows[0].cells).toHaveLength(whole.columnDefinitions.length)
        expect(frame.metadata.resourceVersion).toMatch(/^\d+$/)
      }
      for (const frame of [mark, ...later]) expect(frame.columnDefinitions ?? []).toEqual([])
      for (const frame of [first, ...later]) {
        expect(frame.rows[0].object).toMatchObject({
          kind: 'PartialObjectMetadata',
          apiVersion: `meta.k8s.io/${v}`,
          metadata: { name: made.metadata.name, resourceVersion: frame.metadata.resourceVersion },
        })
      }
      expect(mark.metadata.resourceVersion).toBe(revision)
      expect(mark.rows[0].object.metadata).toMatchObject({ resourceVersion: revision, annotations: endMark })
    }
  })

  must(102, 'puts into rows what includeObject asks for', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make()
    const first = async (include: string) => {
      const watch = await scene.watch(`includeObject=${include}`, accepting('Table'))
      const frame = await watch.next()
      watch.close()
      return frame?.object.rows[0].object
    }
    expect(await first('Object')).toEqual(made)
    expect(await first('None')).toBeNull()
    expect((await first('Metadata')).metadata).toEqual(made.metadata)
    const wrong = await scene.list('watch=1&includeObject=All', { accept: accepting('Table').headers.accept })
    expect(wrong).toMatchObject({ code: 400, body: { kind: 'Status' } })
  })

  must([98, 102, 138], 'turns events into metadata for clients that ask for no more', async () => {
    const scene = await Scene.of(subject)
    const watch = () =>
      scene.watch(withMarks, {
        headers: {
          accept:
            'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json',
        },
      })
    const { made, revision, frames } = await story(scene, watch)
    for (const frame of frames) {
      expect(frame).toMatchObject({ apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata' })
      expect(new Set(Object.keys(frame))).toEqual(new Set(['apiVersion', 'kind', 'metadata']))
    }
    const [first, mark, ...later] = frames
    expect(first.metadata).toEqual(made.metadata)
    expect(mark.metadata).toMatchObject({ resourceVersion: revision, annotations: endMark })
    for (const { metadata } of later) expect(metadata.uid).toBe(made.metadata.uid)
  })

  must(102, 'leaves errors as they are in every form', async () => {
    const scene = await Scene.of(subject)
    const start = await scene.revision()
    await scene.make()
    await suite.server.store.compact(suite.server.store.revision())
    for (const as of ['Table', 'PartialObjectMetadata']) {
      const watch = await scene.watch(`resourceVersion=${start}`, accepting(as))
      expect(await watch.next()).toMatchObject({
        type: 'ERROR',
        object: { kind: 'Status', apiVersion: 'v1', code: 410 },
      })
      expect(await watch.next()).toBeUndefined()
    }
  })

  must(103, 'sends events at once and as they are to clients that take gzip', async () => {
    const scene = await Scene.of(subject)
    const watch = await scene.watch('resourceVersion=0', { headers: { 'accept-encoding': 'gzip' } })
    expect(watch.stream.headers).not.toHaveProperty('content-encoding')
    for (let round = 0; round < 3; round += 1) {
      const made = await scene.make()
      expect(await watch.next()).toEqual({ type: 'ADDED', object: made })
    }
    watch.close()
  })

  must(105, 'forgets a watch whose client has gone', async () => {
    const scene = await Scene.of(subject)
    await eventually(async () => expect(await openWatches()).toEqual([0, 0]))
    const watches = await Promise.all([
      scene.watch('resourceVersion=0'),
      scene.watch(withMarks),
      scene.watch(''),
    ])
    await eventually(async () => expect(await openWatches()).toEqual([3, 3]))
    for (const watch of watches) watch.close()
    await eventually(async () => expect(await openWatches()).toEqual([0, 0]))
  })
})

/** One whose objects are stored, and one whose objects are computed. */
suite.every(
  kind => isGadget(kind) || isComputed(kind),
  subject => {
    must(104, 'cuts off who does not read, and tells the others everything', async () => {
      const scene = await Scene.of(subject)
      const made = await scene.make()
      const revision = await scene.revision()
      const slow = await suite.server
        .client('HTTP/2')
        .open(`${scene.collection}?watch=1&resourceVersion=${revision}`)
      slow.pause()
      const fast = await scene.watch(`resourceVersion=${revision}`)
      const changes = 80
      for (let change = 0; change < changes; change += 1) {
        const note = `${change}${'x'.repeat(240_000)}`
        await scene.annotate(made, { note })
        const event = await fast.next()
        expect([event?.type, JSON.stringify(event?.object).includes(note)]).toEqual(['MODIFIED', true])
      }
      fast.close()
      let read = 0
      const readAll = async () => {
        while ((await slow.line()) !== undefined) read += 1
      }
      await expect(readAll()).rejects.toThrow()
      expect(read).toBeLessThan(changes)
    })
  },
)

/** Those that the server answers, and those that its store feeds beside its own. */
async function openWatches(): Promise<readonly number[]> {
  const text = await metrics.text()
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'gm'))].reduce(
      (all, [, n]) => all + Number(n),
      0,
    )
  own ??= sum('isthmus_store_watches')
  return [sum('apiserver_longrunning_requests'), sum('isthmus_store_watches') - own]
}

/** What the server itself follows. */
let own: number | undefined
