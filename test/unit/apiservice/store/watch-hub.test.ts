import { beforeEach, describe, expect, it } from 'vitest'
import { type Watcher, WatchHub } from '../../../../apiservice/store/watch-hub.ts'
import type { Revision, Scope, StoreEvent } from '../../../../apiservice/store-contract.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { inScope } from '../../../conformance/store/harness.ts'
import { manualClock } from '../../../support/manual-clock.ts'

type Call = { readonly events: readonly StoreEvent[]; readonly through: Revision }

let hub: WatchHub

function joined(scope: Scope, position = 1): { readonly calls: Call[]; readonly watcher: Watcher } {
  const calls: Call[] = []
  const listener = {
    events: (events: readonly StoreEvent[], through: Revision) => calls.push({ events, through }),
    end: () => undefined,
  }
  const watcher: Watcher = { scope, listener, position, isStopped: false }
  hub.add(watcher)
  hub.join(watcher)
  return { calls, watcher }
}

function anEvent(revision: Revision, { namespace = 'shop', bytes = 0 } = {}): StoreEvent {
  const resource = 'serviceexports.multicluster.x-k8s.io'
  const object = { revision, resource, namespace, name: `n${revision}`, body: Buffer.alloc(bytes) }
  return { type: 'PUT', object, previous: undefined }
}

beforeEach(() => {
  hub = new WatchHub(silentLogger, manualClock(), 1)
})

describe('the fan-out', () => {
  const lengthsOf = (calls: readonly Call[]) => calls.map(call => [call.events.length, call.through])

  it('makes one call for the commits of a turn, in a later turn', async () => {
    const { calls } = joined(inScope())
    hub.publish([anEvent(2), anEvent(3)], 3)
    hub.publish([anEvent(4)], 4)
    expect(calls).toEqual([])
    await hub.drained()
    hub.publish([anEvent(5)], 5)
    await hub.drained()
    expect(lengthsOf(calls)).toEqual([
      [3, 4],
      [1, 5],
    ])
  })

  it('makes one call for the commits that gather while many watchers are called', async () => {
    const watchers = Array.from({ length: 3000 }, () => joined(inScope()))
    hub.publish([anEvent(2)], 2)
    await new Promise(resolve => setImmediate(resolve))
    hub.publish([anEvent(3)], 3)
    hub.publish([anEvent(4), anEvent(5)], 5)
    await hub.drained()
    expect(lengthsOf(watchers.at(-1)?.calls ?? [])).toEqual([
      [1, 2],
      [3, 5],
    ])
  })

  it('joins no more commits than make one write', async () => {
    const { calls } = joined(inScope())
    for (let revision = 2; revision < 6; revision++)
      hub.publish([anEvent(revision, { bytes: 60_000 })], revision)
    await hub.drained()
    expect(lengthsOf(calls)).toEqual([
      [2, 3],
      [2, 5],
    ])
  })

  it('tells progress by itself, also to those whose objects rest', async () => {
    const idle = joined(inScope('quiet'))
    const busy = joined(inScope('shop'))
    hub.publish([anEvent(2)], 2)
    hub.publish([], 3)
    hub.publish([anEvent(4)], 4)
    await hub.drained()
    expect(lengthsOf(idle.calls)).toEqual([[0, 3]])
    expect(lengthsOf(busy.calls)).toEqual([
      [1, 2],
      [0, 3],
      [1, 4],
    ])
  })

  it('shares one array among all watchers of a scope', async () => {
    const watchers = Array.from({ length: 50 }, () => joined(inScope('shop')))
    hub.publish([anEvent(2), anEvent(3, { namespace: 'other' })], 3)
    await hub.drained()
    const [first] = watchers[0]?.calls ?? []
    expect(first?.events).toHaveLength(1)
    for (const { calls } of watchers) expect(calls[0]?.events).toBe(first?.events)
  })

  it('does not touch watchers whose scope a commit does not concern', async () => {
    const idle = Array.from({ length: 10_000 }, (_, index) => joined(inScope(`ns${index}`)))
    const { calls } = joined(inScope('shop'))
    for (let revision = 2; revision < 100; revision++) hub.publish([anEvent(revision)], revision)
    await hub.drained()
    expect(lengthsOf(calls)).toEqual([[98, 99]])
    expect(idle.every(({ calls: none }) => none.length === 0)).toBe(true)
  })

  it('tells progress only to those that have not heard of it', async () => {
    const idle = joined(inScope('quiet'))
    const busy = joined(inScope('shop'))
    hub.publish([anEvent(2)], 2)
    await hub.drained()
    hub.progress()
    await hub.drained()
    hub.progress()
    await hub.drained()
    expect(idle.calls).toEqual([{ events: [], through: 2 }])
    expect(busy.calls).toHaveLength(1)
  })

  it('leaves out what a watcher already knows of a commit', async () => {
    const { calls } = joined(inScope(), 3)
    hub.publish([anEvent(2), anEvent(3)], 3)
    hub.publish([anEvent(4)], 4)
    const ahead = joined(inScope(), 5)
    hub.publish([anEvent(5), anEvent(6)], 6)
    await hub.drained()
    expect(calls.map(call => call.events.map(event => event.object.revision))).toEqual([[4, 5, 6]])
    expect(ahead.calls.map(call => call.events.map(event => event.object.revision))).toEqual([[6]])
  })

  it('gives other work its turn between many watchers', async () => {
    const watchers = Array.from({ length: 5000 }, () => joined(inScope()))
    hub.publish([anEvent(2)], 2)
    let called = -1
    await new Promise(resolve => setImmediate(resolve))
    setImmediate(() => {
      called = watchers.filter(({ calls }) => calls.length > 0).length
    })
    await hub.drained()
    expect(called).toBeGreaterThan(0)
    expect(called).toBeLessThan(5000)
    expect(watchers.every(({ calls }) => calls.length === 1)).toBe(true)
  })

  it('skips watchers that leave while a commit is handed out', async () => {
    const all: { readonly calls: Call[]; readonly watcher: Watcher }[] = []
    const first = joined(inScope())
    for (let index = 0; index < 10; index++) all.push(joined(inScope()))
    first.watcher.listener.events = () => {
      for (const { watcher } of all) hub.remove(watcher)
    }
    hub.publish([anEvent(2)], 2)
    await hub.drained()
    expect(all.every(({ calls }) => calls.length === 0)).toBe(true)
    expect(hub.size).toBe(1)
  })

  it('is ready for more until too many events wait', async () => {
    joined(inScope())
    let isReady = false
    const events = Array.from({ length: 20_001 }, (_, index) => anEvent(index + 2))
    hub.publish(events, 20_003)
    const ready = hub.ready().then(() => {
      isReady = true
    })
    await Promise.resolve()
    expect(isReady).toBe(false)
    await ready
    await hub.ready()
  })
})
