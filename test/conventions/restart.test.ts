import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect } from 'vitest'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { manualClock } from '../support/manual-clock.ts'
import { asking } from './frame/ask.ts'
import { must } from './frame/must.ts'
import { eventsBefore, Scene, summaryOf } from './frame/scene.ts'
import { servedKinds, startConventionServer } from './frame/server.ts'
import { Subject, Watch } from './frame/subject.ts'
import { isReadable } from './frame/suite.ts'

const directory = await mkdtemp(join(tmpdir(), 'isthmus-restart-'))
afterAll(() => rm(directory, { recursive: true, force: true }))

const clock = manualClock()
const minute = 60_000

/** A server on the same directory as those before it. */
async function started() {
  const store = await openLevelStore({ directory, clock, log: silentLogger, metrics: noMetrics })
  const server = await startConventionServer({ store, clock })
  const client = server.client('HTTP/2')
  const ask: Subject['ask'] = (path, call = {}) => asking(client, path, call)
  return { server, subjectOf: (kind: Subject['kind']) => new Subject(kind, ask, () => client) }
}

must(
  [90, 96],
  'goes on over a restart with exactly the later events, deletions of the last minutes among them',
  async () => {
    const before = await started()
    const stories = []
    for (const kind of servedKinds.filter(isReadable)) {
      const scene = await Scene.of(before.subjectOf(kind))
      const made = await scene.make()
      const start = await scene.revision()
      await scene.change(made, { changed: 'yes' })
      await scene.remove(made)
      const last = await scene.make()
      const path = `${scene.collection}?watch=1&${scene.select()}&resourceVersion=${start}`
      const watch = await scene.watch(`resourceVersion=${start}`)
      const events = await eventsBefore(watch, last)
      expect(events.map(summaryOf)).toEqual(
        ['MODIFIED', ...scene.removal].map(type => `${type} ${made.metadata.name}`),
      )
      stories.push({ kind, path, last, events })
    }
    await before.server.close()
    await clock.advance(4 * minute)
    const after = await started()
    for (const { kind, path, last, events } of stories) {
      const watch = new Watch(await after.subjectOf(kind).open(path))
      expect(await eventsBefore(watch, last)).toEqual(events)
    }
    await after.server.close()
  },
)
