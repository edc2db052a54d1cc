import { beforeEach, describe, expect, it } from 'vitest'
import { openRevisionStore } from '../../../../apiservice/store/revision-store.ts'
import { WatchHub } from '../../../../apiservice/store/watch-hub.ts'
import type { Revision, StoreEvent, StoreListener } from '../../../../apiservice/store-contract.ts'
import type { Clock } from '../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { aBody, aKey, created, exports, inScope } from '../../../conformance/store/harness.ts'
import { FaultyDisk } from '../../../support/faulty-log.ts'
import { type ManualClock, manualClock, settled } from '../../../support/manual-clock.ts'

let time: ManualClock
/** Time that passes while listeners work. */
let workedMs: number
let clock: Clock

beforeEach(() => {
  time = manualClock()
  workedMs = 0
  clock = { now: () => time.now() + workedMs, after: time.after }
})

/** Keeps the revisions of each call that has any, and takes so long for it. */
function slowListener(callMs: number): { readonly calls: Revision[][]; readonly listener: StoreListener } {
  const calls: Revision[][] = []
  const listener: StoreListener = {
    events: events => {
      if (events.length === 0) return
      calls.push(events.map(({ object }) => object.revision))
      workedMs += callMs
    },
    end: () => undefined,
  }
  return { calls, listener }
}

describe('the pace of the fan-out', () => {
  let hub: WatchHub

  beforeEach(() => {
    hub = new WatchHub(silentLogger, clock, 1)
  })

  function slowWatcher(callMs: number): readonly (readonly Revision[])[] {
    const { calls, listener } = slowListener(callMs)
    const watcher = { scope: inScope(), listener, position: 1, isStopped: false }
    hub.add(watcher)
    hub.join(watcher)
    return calls
  }

  function publish(revision: Revision, bytes = 0): void {
    const object = { revision, resource: exports, namespace: 'shop', name: 'web', body: Buffer.alloc(bytes) }
    const event: StoreEvent = { type: 'PUT', object, previous: undefined }
    hub.publish([event], revision)
  }

  async function handedOut(revision: Revision): Promise<void> {
    publish(revision)
    hub.expect(true)
    await settled()
    await settled()
  }

  it('holds events back for those of writes that are there already', async () => {
    const calls = slowWatcher(1)
    await handedOut(2)
    expect(calls).toEqual([[2]])
    await handedOut(3)
    await handedOut(4)
    expect(calls).toEqual([[2]])
    publish(5)
    hub.expect(false)
    await settled()
    expect(calls).toEqual([[2], [3, 4, 5]])
    expect(time.pending).toBe(0)
  })

  it('goes on when the writes that were there have brought no event', async () => {
    const calls = slowWatcher(1)
    await handedOut(2)
    await handedOut(3)
    hub.expect(false)
    await settled()
    expect(calls).toEqual([[2], [3]])
  })

  it.each([
    ['four times as long as the last hand-out took', 2, 8],
    ['no longer than ten milliseconds', 500, 10],
  ])('rests %s', async (_what, callMs, restMs) => {
    const calls = slowWatcher(callMs)
    await handedOut(2)
    await handedOut(3)
    await time.advance(restMs - 1)
    expect(calls).toEqual([[2]])
    await time.advance(1)
    await settled()
    expect(calls).toEqual([[2], [3]])
  })

  it('does not rest when the last hand-out is long past', async () => {
    const calls = slowWatcher(2)
    await handedOut(2)
    await time.advance(8)
    await handedOut(3)
    expect(calls).toEqual([[2], [3]])
  })

  it('does not rest when the last hand-out took less than a millisecond', async () => {
    const calls = slowWatcher(0.9)
    await handedOut(2)
    await handedOut(3)
    expect(calls).toEqual([[2], [3]])
  })

  it('does not rest when no more events can be handed out together with those that wait', async () => {
    const calls = slowWatcher(2)
    await handedOut(2)
    publish(3, 60_000)
    publish(4, 60_000)
    await settled()
    expect(calls).toEqual([[2]])
    publish(5, 60_000)
    await settled()
    await settled()
    expect(calls).toEqual([[2], [3, 4]])
    publish(6, 120_000)
    await settled()
    await settled()
    expect(calls).toEqual([[2], [3, 4], [5]])
  })

  it('does not rest as long as somebody waits for the end', async () => {
    const calls = slowWatcher(2)
    await handedOut(2)
    await handedOut(3)
    await hub.drained()
    expect(calls).toEqual([[2], [3]])
    await handedOut(4)
    const object = { resource: exports, namespace: 'shop', name: 'web', body: Buffer.alloc(0) }
    const many = Array.from({ length: 20_000 }, (_, at): StoreEvent => {
      return { type: 'PUT', object: { ...object, revision: at + 5 }, previous: undefined }
    })
    for (let at = 0; at < many.length; at += 100) hub.publish(many.slice(at, at + 100), at + 104)
    await hub.ready()
    expect(calls.flat()).toHaveLength(20_003)
    expect(time.pending).toBe(0)
  })

  it('tells those whose objects rest how far it has come, also during a rest', async () => {
    const idle: Revision[] = []
    const listener = { events: (_: unknown, through: Revision) => idle.push(through), end: () => undefined }
    const watcher = { scope: inScope('quiet'), listener, position: 1, isStopped: false }
    hub.add(watcher)
    hub.join(watcher)
    const calls = slowWatcher(2)
    await handedOut(2)
    await handedOut(3)
    expect(calls).toEqual([[2]])
    hub.progress()
    await settled()
    await settled()
    expect(calls).toEqual([[2], [3]])
    expect(idle).toEqual([3])
  })

  it('hands out what is published as soon as the last hand-out has ended', async () => {
    const calls = slowWatcher(0)
    publish(2)
    const next = hub.drained().then(() => publish(3))
    await next
    await settled()
    expect(calls).toEqual([[2], [3]])
  })
})

it('goes on at once when the writes that wait come to nothing', async () => {
  const disk = new FaultyDisk()
  const store = await openRevisionStore(disk.open, { clock, log: silentLogger, metrics: noMetrics })
  const { calls, listener } = slowListener(2)
  store.watch(inScope(), store.revision(), listener)
  await settled()
  const first = await created(store, aKey('a/first'))
  await settled()
  disk.hold()
  const writing = created(store, aKey('a/second'))
  await disk.arrived(disk.batches.length + 1)
  const refused = store.create(aKey('a/first'), aBody('x'))
  disk.release()
  const second = await writing
  expect(await refused).toMatchObject({ done: false })
  await settled()
  await settled()
  expect(calls).toEqual([[first], [second]])
  await store.close()
})

it('hands out the events of a commit with those of the next, whose writes were there', async () => {
  const disk = new FaultyDisk()
  const store = await openRevisionStore(disk.open, { clock, log: silentLogger, metrics: noMetrics })
  const { calls, listener } = slowListener(2)
  store.watch(inScope(), store.revision(), listener)
  await settled()
  const first = await created(store, aKey('a/first'))
  await settled()
  disk.hold()
  const writing = created(store, aKey('a/second'))
  await disk.arrived(disk.batches.length + 1)
  const waiting = created(store, aKey('a/third'))
  disk.release()
  const last = await Promise.all([writing, waiting])
  await settled()
  expect(calls).toEqual([[first], last])
  await store.close()
})
