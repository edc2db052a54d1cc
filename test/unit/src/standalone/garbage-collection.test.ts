import { expect, it } from 'vitest'
import type { KubeObject, OwnerReference } from '../../../../src/api/meta.ts'
import type { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { conflict, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { startGarbageCollection } from '../../../../src/standalone/garbage-collection.ts'
import type { FeedListener } from '../../../../src/standalone/object-feed.ts'
import {
  configMaps,
  feedOf,
  found,
  make,
  memoryCluster,
  namesLeft,
  ownerOf,
  quiet,
} from '../../../support/owned.ts'

type World = ReturnType<typeof memoryCluster>

async function collect({ cluster, clock }: World) {
  const log = memoryLogger()
  const stop = new AbortController()
  await startGarbageCollection({ cluster, objects: feedOf(cluster, clock), clock, log }, stop.signal)
  await quiet()
  return { log, stop }
}

async function drop(cluster: MemoryCluster, name: string): Promise<void> {
  await cluster.delete(configMaps, { namespace: 'shop', name }, { signal: never })
  await quiet()
}

const owners = (object: KubeObject | undefined): readonly string[] =>
  (object?.metadata.ownerReferences ?? []).map(reference => reference.name)

it('an object goes with its owner, and what it owned goes too', async () => {
  const world = memoryCluster()
  const { cluster } = world
  const a = await make(cluster, 'a')
  const b = await make(cluster, 'b', { ownerReferences: [ownerOf(a)] })
  await make(cluster, 'c', { ownerReferences: [ownerOf(b)] })
  await make(cluster, 'free')
  await collect(world)
  expect(await namesLeft(cluster)).toEqual(['a', 'b', 'c', 'free'])
  await drop(cluster, 'a')
  expect(await namesLeft(cluster)).toEqual(['free'])
})

it('what became garbage before the collector started is collected', async () => {
  const world = memoryCluster()
  const a = await make(world.cluster, 'a')
  await make(world.cluster, 'b', { ownerReferences: [ownerOf(a)] })
  await drop(world.cluster, 'a')
  await collect(world)
  expect(await namesLeft(world.cluster)).toEqual([])
})

it('an object that names an owner that never was is collected', async () => {
  const world = memoryCluster()
  await collect(world)
  const ghost: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'u-1' }
  await make(world.cluster, 'a', { ownerReferences: [ghost] })
  await quiet()
  expect(await namesLeft(world.cluster)).toEqual([])
})

it('an owner that was made anew under its name is another one', async () => {
  const world = memoryCluster()
  const { cluster } = world
  const a = await make(cluster, 'a')
  await collect(world)
  await make(cluster, 'b', { ownerReferences: [ownerOf(a)] })
  await cluster.delete(configMaps, { namespace: 'shop', name: 'a' }, { signal: never })
  await make(cluster, 'a')
  await quiet()
  expect(await namesLeft(cluster)).toEqual(['a'])
})

it('an object of a namespace may be owned by one of the cluster', async () => {
  const world = memoryCluster()
  const role = await make(world.cluster, '/role')
  await collect(world)
  await make(world.cluster, 'b', { ownerReferences: [ownerOf(role)] })
  await quiet()
  expect(await namesLeft(world.cluster)).toEqual(['b', 'role'])
})

it('an owner in another namespace is no owner', async () => {
  const world = memoryCluster()
  const a = await make(world.cluster, 'a', { namespace: 'ops' })
  await collect(world)
  await make(world.cluster, 'b', { ownerReferences: [ownerOf(a)] })
  await quiet()
  expect(await namesLeft(world.cluster)).toEqual(['a'])
})

it.each<[string, Partial<OwnerReference>]>([
  ['of a kind that is not served', { kind: 'Deployment', apiVersion: 'apps/v1', uid: 'u-1' }],
  ['of a kind of another group', { apiVersion: 'example.com/v1', uid: 'u-1' }],
])('an owner %s cannot be called gone', async (_, reference) => {
  const world = memoryCluster()
  const a = await make(world.cluster, 'a')
  await make(world.cluster, 'b', { ownerReferences: [ownerOf(a, reference)] })
  const { log } = await collect(world)
  expect(await namesLeft(world.cluster)).toEqual(['a', 'b'])
  expect(log.lines).toEqual([])
})

it('an object of the cluster cannot be owned by one of a namespace, and stays', async () => {
  const world = memoryCluster()
  const a = await make(world.cluster, 'a')
  await make(world.cluster, '/role', { ownerReferences: [ownerOf(a)] })
  await collect(world)
  await drop(world.cluster, 'a')
  expect(await namesLeft(world.cluster)).toEqual(['role'])
})

it('another version of a kind is the same owner', async () => {
  const world = memoryCluster()
  const role = await make(world.cluster, '/role')
  const older = ownerOf(role, { apiVersion: 'rbac.authorization.k8s.io/v1beta1' })
  await make(world.cluster, 'b', { ownerReferences: [older] })
  await collect(world)
  expect(await namesLeft(world.cluster)).toEqual(['b', 'role'])
})

it('an object with an owner left only loses the other one', async () => {
  const world = memoryCluster()
  const { cluster } = world
  const [a, b] = [await make(cluster, 'a'), await make(cluster, 'b')]
  await make(cluster, 'c', { ownerReferences: [ownerOf(a), ownerOf(b)] })
  await collect(world)
  await drop(cluster, 'a')
  expect(owners(await found(cluster, 'c'))).toEqual(['b'])
  await drop(cluster, 'b')
  expect(await namesLeft(cluster)).toEqual([])
})

it('an owner that wants it goes after the dependents that block it', async () => {
  const world = memoryCluster()
  const { cluster } = world
  const a = await make(cluster, 'a', { finalizers: ['foregroundDeletion'] })
  const block = ownerOf(a, { blockOwnerDeletion: true })
  await make(cluster, 'slow', { ownerReferences: [block], finalizers: ['example.com/slow'] })
  await make(cluster, 'quick', { ownerReferences: [block] })
  await make(cluster, 'loose', { ownerReferences: [ownerOf(a)], finalizers: ['example.com/loose'] })
  await collect(world)
  await drop(cluster, 'a')
  expect(await namesLeft(cluster)).toEqual(['a', 'loose', 'slow'])
  const slow = await found(cluster, 'slow')
  expect(slow?.metadata.deletionTimestamp).toBeDefined()
  await cluster.mergePatch(
    configMaps,
    { namespace: 'shop', name: 'slow' },
    { metadata: { finalizers: null } },
    { signal: never },
  )
  await quiet()
  expect(await namesLeft(cluster)).toEqual(['loose'])
})

it('an owner that waits goes when nothing blocks it any more', async () => {
  const world = memoryCluster()
  const { cluster } = world
  const a = await make(cluster, 'a', { finalizers: ['foregroundDeletion'] })
  const block = ownerOf(a, { blockOwnerDeletion: true })
  await make(cluster, 'slow', { ownerReferences: [block], finalizers: ['example.com/slow'] })
  await collect(world)
  await drop(cluster, 'a')
  const free = { metadata: { ownerReferences: [ownerOf(a, { blockOwnerDeletion: false })] } }
  await cluster.mergePatch(configMaps, { namespace: 'shop', name: 'slow' }, free, { signal: never })
  await quiet()
  expect(await namesLeft(cluster)).toEqual(['slow'])
})

it('an owner in deletion with a finalizer of somebody else keeps that finalizer', async () => {
  const world = memoryCluster()
  const { cluster } = world
  await make(cluster, 'a', { finalizers: ['example.com/mine', 'foregroundDeletion'] })
  await collect(world)
  await drop(cluster, 'a')
  expect((await found(cluster, 'a'))?.metadata.finalizers).toEqual(['example.com/mine'])
})

it('an owner that lets its dependents live takes itself from them first', async () => {
  const world = memoryCluster()
  const { cluster } = world
  const [a, other] = [await make(cluster, 'a', { finalizers: ['orphan'] }), await make(cluster, 'other')]
  await make(cluster, 'b', { ownerReferences: [ownerOf(a)] })
  await make(cluster, 'c', { ownerReferences: [ownerOf(other), ownerOf(a)] })
  await collect(world)
  await drop(cluster, 'a')
  expect(await namesLeft(cluster)).toEqual(['b', 'c', 'other'])
  expect([owners(await found(cluster, 'b')), owners(await found(cluster, 'c'))]).toEqual([[], ['other']])
})

it('objects that own each other go together when one is deleted first', async () => {
  const world = memoryCluster()
  const { cluster } = world
  const a = await make(cluster, 'a', { finalizers: ['foregroundDeletion'] })
  const b = await make(cluster, 'b', {
    ownerReferences: [ownerOf(a, { blockOwnerDeletion: true })],
    finalizers: ['foregroundDeletion'],
  })
  const back = { metadata: { ownerReferences: [ownerOf(b, { blockOwnerDeletion: true })] } }
  await cluster.mergePatch(configMaps, { namespace: 'shop', name: 'a' }, back, { signal: never })
  await collect(world)
  await drop(cluster, 'a')
  expect(await namesLeft(cluster)).toEqual([])
})

it('a refused write is tried again with what is there then', async () => {
  let refusals = 2
  const world = memoryCluster(({ verb, ref }) => {
    if (verb === 'delete' && ref?.name === 'b' && refusals-- > 0) {
      throw refusals === 1 ? conflict({ group: '', resource: 'configmaps' }, 'b') : unavailable('busy')
    }
  })
  const a = await make(world.cluster, 'a')
  await make(world.cluster, 'b', { ownerReferences: [ownerOf(a)] })
  const { log } = await collect(world)
  await drop(world.cluster, 'a')
  expect(await namesLeft(world.cluster)).toEqual(['b'])
  await world.clock.advance(60_000)
  await quiet()
  expect(await namesLeft(world.cluster)).toEqual([])
  expect(log.lines.filter(line => line.level === 'warn')).toHaveLength(2)
})

it('an owner that cannot be looked up is not called gone', async () => {
  const world = memoryCluster(({ verb }) => {
    if (verb === 'get') throw unavailable('busy')
  })
  const ghost: OwnerReference = { apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'u-1' }
  await make(world.cluster, 'a', { ownerReferences: [ghost] })
  await collect(world)
  expect(await namesLeft(world.cluster)).toEqual(['a'])
})

it('an owner that is gone is looked up once for all its dependents', async () => {
  const world = memoryCluster()
  const a = await make(world.cluster, 'a')
  for (let i = 0; i < 10; i++) await make(world.cluster, `b${i}`, { ownerReferences: [ownerOf(a)] })
  await collect(world)
  await drop(world.cluster, 'a')
  expect(await namesLeft(world.cluster)).toEqual([])
  // Four are worked on at once, and none of them knows yet what the others ask.
  expect(world.requests.filter(request => request === 'get configmaps a').length).toBeLessThanOrEqual(4)
})

it('nothing is collected after the end', async () => {
  const world = memoryCluster()
  const a = await make(world.cluster, 'a')
  await make(world.cluster, 'b', { ownerReferences: [ownerOf(a)] })
  const { stop } = await collect(world)
  stop.abort()
  await drop(world.cluster, 'a')
  expect(await namesLeft(world.cluster)).toEqual(['b'])
})

it('what went while nobody told of it is known to be gone from the next list', async () => {
  const { cluster, clock } = memoryCluster()
  const [a, b] = [await make(cluster, 'a'), await make(cluster, 'c')]
  const owned = await make(cluster, 'b', { ownerReferences: [ownerOf(a)] })
  const listeners: FeedListener[] = []
  const objects = async (_: unknown, listener: FeedListener) => {
    listeners.push(listener)
  }
  const stop = new AbortController()
  await startGarbageCollection({ cluster, objects, clock, log: memoryLogger() }, stop.signal)
  const seen = [a, b, owned].map(({ metadata }) => ({ resource: 'configmaps', metadata }))
  listeners[0]?.reset(seen)
  await drop(cluster, 'a')
  expect(await namesLeft(cluster)).toEqual(['b', 'c'])
  listeners[0]?.reset(seen.slice(1))
  await quiet()
  expect(await namesLeft(cluster)).toEqual(['c'])
  stop.abort()
})
