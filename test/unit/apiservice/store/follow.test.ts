import { expect, it } from 'vitest'
import { followStore } from '../../../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../../../apiservice/store/memory-store.ts'
import type { Follower, Store, StoreListener } from '../../../../apiservice/store-contract.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger, silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const scope = { resources: ['things.example.com'], namespace: '' }
const keyOf = (name: string) => ({ resource: 'things.example.com', namespace: '', name })
const body = Buffer.from('"name":"x"}}')

async function world() {
  const clock = manualClock()
  const log = memoryLogger()
  const store = await openMemoryStore({ clock, log: silentLogger, metrics: noMetrics })
  const seen: string[] = []
  const follower: Follower = {
    reset: items => seen.push(`reset ${items.map(item => item.name).join()}`),
    events: batch => {
      for (const { type, object } of batch) seen.push(`${type} ${object.name}`)
    },
  }
  return { clock, log, store, seen, follower, stop: new AbortController() }
}

it('a follower gets everything and then every change until it stops', async () => {
  const { clock, log, store, seen, follower, stop } = await world()
  await store.create(keyOf('a'), body)
  await followStore(store, { clock, log })(scope, follower, stop.signal)
  expect(seen).toEqual(['reset a'])
  await store.create(keyOf('b'), body)
  const [a] = (await store.list(scope, { limit: 0 })).items
  await store.delete(keyOf('a'), a?.revision ?? 0)
  await settled()
  expect(seen).toEqual(['reset a', 'PUT b', 'DELETE a'])
  stop.abort()
  await store.create(keyOf('c'), body)
  await settled()
  expect(seen).toHaveLength(3)
  await store.close()
})

/** The store with its lists and watches in the test's hand. */
function withHands(store: Store, listeners: StoreListener[], failures: Error[]): Store {
  return {
    fault: () => undefined,
    snapshot: () => store.snapshot(),
    revision: () => store.revision(),
    oldest: () => store.oldest(),
    get: key => store.get(key),
    list: async (which, options) => {
      const failure = failures.shift()
      if (failure !== undefined) throw failure
      return store.list(which, options)
    },
    watch: (which, after, listener) => {
      listeners.push(listener)
      return store.watch(which, after, listener)
    },
    create: (key, bytes) => store.create(key, bytes),
    update: (key, expected, bytes) => store.update(key, expected, bytes),
    delete: (key, expected, bytes) => store.delete(key, expected, bytes),
    compact: revision => store.compact(revision),
    close: () => store.close(),
  }
}

it('a follower whose history is lost gets everything again, however often the list fails', async () => {
  const { clock, log, store, seen, follower, stop } = await world()
  const listeners: StoreListener[] = []
  const failures: Error[] = []
  await followStore(withHands(store, listeners, failures), { clock, log })(scope, follower, stop.signal)
  await store.create(keyOf('a'), body)
  await settled()
  failures.push(unavailable('busy'), unavailable('busy'))
  listeners[0]?.end('expired')
  await clock.advance(1999)
  expect(seen).toEqual(['reset ', 'PUT a'])
  await clock.advance(1)
  expect(seen).toEqual(['reset ', 'PUT a', 'reset a'])
  expect(log.lines.map(line => line.message)).toEqual(Array(2).fill('stored objects cannot be listed'))
  stop.abort()
  await store.close()
})

it('a follower of a closed store rests', async () => {
  const { clock, log, store, seen, follower, stop } = await world()
  await followStore(store, { clock, log })(scope, follower, stop.signal)
  await store.close()
  await clock.advance(60_000)
  expect(seen).toEqual(['reset '])
  expect(log.lines).toEqual([])
})

it('the first list that fails is an error of the caller', async () => {
  const { clock, log, store, follower, stop } = await world()
  const broken = withHands(store, [], [unavailable('busy')])
  await expect(followStore(broken, { clock, log })(scope, follower, stop.signal)).rejects.toMatchObject({
    code: 503,
  })
  await store.close()
})
