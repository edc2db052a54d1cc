import { expect, it } from 'vitest'
import { followStore } from '../../../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../../../apiservice/store/memory-store.ts'
import type { Follow, Scope } from '../../../../apiservice/store-contract.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { encodeBody } from '../../../../src/codec/object-bytes.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger, silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { storedFeed } from '../../../../src/roles/stored-feed.ts'
import type { FeedListener } from '../../../../src/standalone/object-feed.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const uid = '7c8d1d0e-0a43-4b7c-9d2f-6f1f2f6d0001'
const key = (name: string, namespace = 'shop') => ({ resource: 'configmaps', namespace, name })

function body(metadata: object, rest: object = {}): Buffer {
  return encodeBody({ apiVersion: 'v1', kind: 'ConfigMap', metadata, ...rest } as KubeObject)
}

async function followed() {
  const base = { clock: manualClock(), log: silentLogger, metrics: noMetrics }
  const store = await openMemoryStore(base)
  const told: unknown[] = []
  const stop = new AbortController()
  const follow = () =>
    storedFeed(followStore(store, base), base)(
      ['configmaps'],
      {
        reset: objects => told.push(objects),
        put: object => told.push(object),
        removed: object => told.push({ removed: object }),
      },
      stop.signal,
    )
  return { store, told, follow, stop }
}

it('tells what there is and every change, with what owners and deletions need', async () => {
  const { store, told, follow, stop } = await followed()
  await store.create(key('plain'), body({ name: 'plain', namespace: 'shop', uid, labels: { app: 'a' } }))
  await store.create({ ...key('other'), resource: 'secrets' }, body({ name: 'other', uid }))
  await follow()
  const plain = { namespace: 'shop', name: 'plain', uid, resourceVersion: '2' }
  expect(told).toEqual([[{ resource: 'configmaps', metadata: plain }]])

  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'plain', uid }]
  const owned = { name: 'owned', namespace: 'shop', uid: 'u-2', ownerReferences, finalizers: ['a/b'] }
  await store.create(key('owned'), body({ ...owned, managedFields: [], labels: {}, annotations: {} }))
  await store.create(key('wide', ''), body({ name: 'wide', uid }))
  await settled()
  expect(told.slice(1)).toEqual([
    { resource: 'configmaps', metadata: { ...owned, resourceVersion: '4' } },
    { resource: 'configmaps', metadata: { name: 'wide', uid, resourceVersion: '5' } },
  ])

  await store.delete(key('plain'), 2)
  await settled()
  expect(told.at(-1)).toEqual({
    removed: { resource: 'configmaps', metadata: { ...plain, resourceVersion: '6' } },
  })
  stop.abort()
  await store.delete(key('owned'), 4)
  await settled()
  expect(told).toHaveLength(4)
})

it('tells of no change between two states in which owners and deletion are nothing', async () => {
  const { store, told, follow, stop } = await followed()
  const meta = { name: 'web', namespace: 'shop', uid }
  const owners = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'app', uid: 'u-2' }]
  await store.create(key('web'), body(meta))
  await store.create(key('db'), body({ ...meta, name: 'db', ownerReferences: owners }))
  await follow()
  told.length = 0
  const states: object[] = [
    { labels: { app: 'b' } },
    { finalizers: ['a/b'] },
    { ownerReferences: owners },
    { ownerReferences: owners, labels: { app: 'c' } },
    { labels: { app: 'd' } },
    { labels: { app: 'e' } },
    { finalizers: ['a/b'], deletionTimestamp: '2026-01-02T03:04:05Z' },
    { finalizers: ['a/b'] },
    {},
  ]
  let last = 2
  for (const state of states) {
    const updated = await store.update(key('web'), last, body({ ...meta, ...state }))
    last = store.revision()
    expect(updated).toMatchObject({ done: true, object: { revision: last } })
  }
  await settled()
  const at = (resourceVersion: number, more: object = {}) => ({
    resource: 'configmaps',
    metadata: { ...meta, resourceVersion: String(resourceVersion), ...more },
  })
  expect(told).toEqual([
    at(6, { ownerReferences: owners }),
    at(7, { ownerReferences: owners }),
    at(8),
    at(10, { finalizers: ['a/b'], deletionTimestamp: '2026-01-02T03:04:05Z' }),
    at(11),
  ])
  told.length = 0
  await store.delete(key('db'), 3)
  await store.create(key('db'), body({ ...meta, name: 'db' }))
  await store.update(key('db'), 14, body({ ...meta, name: 'db', labels: {} }))
  await settled()
  expect(told).toEqual([{ removed: at(13, { name: 'db', ownerReferences: owners }) }, at(14, { name: 'db' })])
  stop.abort()
})

it('takes the uid of the object itself, wherever it stands', async () => {
  const { store, told, follow, stop } = await followed()
  const other = '11111111-1111-1111-1111-111111111111'
  const labels = { uid: other }
  await store.create(key('late'), body({ name: 'late', namespace: 'shop', labels, uid }))
  await store.create(key('odd'), body({ name: '"uid":"', namespace: 'shop', uid: 'u-3' }, { data: labels }))
  await follow()
  stop.abort()
  expect(told).toMatchObject([[{ metadata: { name: 'late', uid } }, { metadata: { uid: 'u-3' } }]])
})

it('asks again when the store is away at first, until it answers or nobody waits', async () => {
  const clock = manualClock()
  const log = memoryLogger()
  const scopes: Scope[] = []
  const backMs = clock.now() + 6000
  const follow: Follow = async (scope, follower) => {
    scopes.push(scope)
    if (clock.now() < backMs) throw unavailable('no member of etcd answers')
    follower.reset([])
  }
  const told: unknown[] = []
  const listener: FeedListener = {
    reset: objects => told.push(objects),
    put: () => undefined,
    removed: () => undefined,
  }
  const feed = storedFeed(follow, { clock, log })
  const first = feed(['configmaps', 'secrets'], listener, never)
  const stop = new AbortController()
  const second = feed(['secrets'], listener, stop.signal)
  await settled()
  stop.abort()
  await expect(second).rejects.toBe(stop.signal.reason)
  await clock.advance(6000)
  await first
  expect(told).toEqual([[]])
  expect(scopes.at(-1)).toEqual({ resources: ['configmaps', 'secrets'], namespace: '' })
  expect(log.lines).toHaveLength(7)
  expect(log.lines.at(-1)).toMatchObject({
    level: 'warn',
    message: 'stored objects cannot be listed',
    fields: { resource: 'configmaps', error: 'no member of etcd answers' },
  })
})
