import { describe, expect, it } from 'vitest'
import type { KubeObject } from '../../../../src/api/meta.ts'
import type { Resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { clusterConformance } from '../../../conformance/cluster.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const configMaps: Resource = {
  group: '',
  version: 'v1',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
}

function aConfigMap(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: 'shop', name }, data: {} }
}

clusterConformance('the in-process cluster', async () => {
  const cluster = new MemoryCluster({ name: 'memory', clock: manualClock() })
  return {
    cluster,
    compact: async () => cluster.compact(),
    endWatches: async () => cluster.endWatches(),
    bookmark: async () => cluster.bookmark(),
    close: async () => undefined,
  }
})

describe('the in-process cluster', () => {
  it('stamps objects by its clock', async () => {
    const cluster = new MemoryCluster({
      name: 'east',
      clock: manualClock(Date.parse('2026-05-06T07:08:09Z')),
    })
    const created = await cluster.create(configMaps, aConfigMap('a'), never)
    expect(created.metadata.creationTimestamp).toBe('2026-05-06T07:08:09Z')
  })

  it('shares objects that nobody can change', async () => {
    const cluster = new MemoryCluster({ name: 'east', clock: manualClock() })
    const created = await cluster.create(configMaps, aConfigMap('a'), never)
    expect(() => Object.assign(created.metadata, { name: 'b' })).toThrow(TypeError)
  })

  it('answers what the test wants it to fail with', async () => {
    const cluster = new MemoryCluster({
      name: 'east',
      clock: manualClock(),
      intercept(request) {
        if (request.verb === 'create') throw unavailable('down')
      },
    })
    await expect(cluster.create(configMaps, aConfigMap('a'), never)).rejects.toMatchObject({ code: 503 })
    expect((await cluster.list(configMaps, {}, never)).items).toEqual([])
  })

  it('forgets the oldest changes when more are made than it keeps', async () => {
    const cluster = new MemoryCluster({ name: 'east', clock: manualClock(), history: 2 })
    const { resourceVersion } = await cluster.list(configMaps, {}, never)
    for (const name of ['a', 'b', 'c']) await cluster.create(configMaps, aConfigMap(name), never)
    const events = cluster.watch(configMaps, { resourceVersion }, never)
    await expect(events[Symbol.asyncIterator]().next()).rejects.toMatchObject({ reason: 'Expired' })
  })

  it('sends a bookmark every minute', async () => {
    const clock = manualClock()
    const cluster = new MemoryCluster({ name: 'east', clock })
    const { resourceVersion } = await cluster.list(configMaps, {}, never)
    const events = cluster.watch(configMaps, { resourceVersion }, never)[Symbol.asyncIterator]()
    const first = events.next()
    await settled()
    await clock.advance(60_000)
    expect((await first).value).toEqual({ type: 'BOOKMARK', resourceVersion })
    const second = events.next()
    await settled()
    await clock.advance(60_000)
    expect((await second).value).toMatchObject({ type: 'BOOKMARK' })
  })
})
