import { describe, expect, it } from 'vitest'
import { EventKind } from '../../../../src/api/kinds/event.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { EventRecorder } from '../../../../src/cluster/event-recorder.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { serviceExport } from '../../../support/shop.ts'

const about = {
  ...serviceExport(),
  metadata: { ...serviceExport().metadata, uid: 'u1', resourceVersion: '7' },
}
const refused = { type: 'Warning', reason: 'NoService', message: 'no Service web' } as const

function setUp() {
  const clock = manualClock()
  const state: { away: boolean } = { away: false }
  const cluster = new MemoryCluster({
    name: 'east',
    clock,
    intercept: () => {
      if (state.away) throw unavailable('away')
    },
  })
  const log = memoryLogger()
  const recorder = new EventRecorder({ cluster, component: 'isthmus-agent', clock, log })
  const events = async () => (await cluster.list(resource(EventKind), {}, never)).items
  return { clock, state, log, recorder, events }
}

describe('EventRecorder', () => {
  it('writes what kubectl describe shows', async () => {
    const { events, recorder } = setUp()
    await recorder.record(about, refused, never)
    expect(await events()).toMatchObject([
      {
        metadata: { namespace: 'shop', name: expect.stringMatching(/^web\.[0-9a-v]{16}$/) },
        involvedObject: {
          apiVersion: 'multicluster.x-k8s.io/v1beta1',
          kind: 'ServiceExport',
          namespace: 'shop',
          name: 'web',
          uid: 'u1',
          resourceVersion: '7',
        },
        type: 'Warning',
        reason: 'NoService',
        message: 'no Service web',
        source: { component: 'isthmus-agent' },
        count: 1,
        firstTimestamp: '2026-01-02T03:04:05Z',
        lastTimestamp: '2026-01-02T03:04:05Z',
      },
    ])
  })

  it('writes of an object without a namespace what kubectl describe looks for', async () => {
    const { events, recorder } = setUp()
    const { namespace: _namespace, ...metadata } = about.metadata
    await recorder.record({ ...about, metadata }, refused, never)
    expect(await events()).toMatchObject([
      { metadata: { namespace: 'default' }, involvedObject: { namespace: '', name: 'web' } },
    ])
  })

  it('counts up what happens again, and tells other things and other lives apart', async () => {
    const { clock, events, recorder } = setUp()
    await recorder.record(about, refused, never)
    await clock.advance(5_000)
    await recorder.record(about, refused, never)
    await recorder.record(about, { ...refused, message: 'other' }, never)
    await recorder.record({ ...about, metadata: { ...about.metadata, uid: 'u2' } }, refused, never)
    const found = await events()
    expect(found.map(event => event.count).sort()).toEqual([1, 1, 2])
    expect(found.find(event => event.count === 2)).toMatchObject({
      firstTimestamp: '2026-01-02T03:04:05Z',
      lastTimestamp: '2026-01-02T03:04:10Z',
    })
  })

  it('cuts a message to what an API server takes', async () => {
    const { events, recorder } = setUp()
    await recorder.record(about, { ...refused, message: 'x'.repeat(5_000) }, never)
    expect((await events())[0]?.message).toHaveLength(1_024)
  })

  it('logs what it cannot write and goes on', async () => {
    const { log, recorder, state } = setUp()
    state.away = true
    await recorder.record(about, refused, never)
    expect(log.lines).toMatchObject([
      { level: 'warn', message: 'event not recorded', fields: { reason: 'NoService' } },
    ])
  })
})
