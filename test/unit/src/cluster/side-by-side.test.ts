import { expect, it } from 'vitest'
import type { KubeObject } from '../../../../src/api/meta.ts'
import type { Resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { sideBySide } from '../../../../src/cluster/side-by-side.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const resourceOf = (group: string): Resource => ({
  group,
  version: 'v1',
  apiVersion: `${group}/v1`,
  kind: 'Thing',
  plural: 'things',
  namespaced: true,
})
const ours = resourceOf('ours')
const theirs = resourceOf('theirs')
const ref = { namespace: 'shop', name: 'web' }
const thing = ({ apiVersion }: Resource): KubeObject => ({ apiVersion, kind: 'Thing', metadata: ref })

it('each group is asked of its server', async () => {
  const clock = manualClock()
  const own = new MemoryCluster({ name: 'own', clock })
  const rest = new MemoryCluster({ name: 'rest', clock })
  const both = sideBySide({ name: 'both', own, groups: new Set(['ours']), rest })
  const names = async (cluster: MemoryCluster, of: Resource): Promise<number> =>
    (await cluster.list(of, {}, never)).items.length
  for (const of of [ours, theirs]) await both.create(of, thing(of), never)
  expect([await names(own, ours), await names(rest, ours)]).toEqual([1, 0])
  expect([await names(own, theirs), await names(rest, theirs)]).toEqual([0, 1])
  for (const of of [ours, theirs]) {
    const listed = await both.list(of, {}, never)
    expect(listed.items).toHaveLength(1)
    const there = await both.get(of, ref, never)
    await both.replace(of, { ...there, metadata: { ...there.metadata, labels: { a: 'b' } } }, {}, never)
    await both.mergePatch(of, ref, { metadata: { labels: { c: 'd' } } }, { signal: never })
    expect((await both.get(of, ref, never)).metadata.labels).toEqual({ a: 'b', c: 'd' })
    const selection = { resourceVersion: listed.resourceVersion }
    for await (const event of both.watch(of, selection, never)) {
      expect(event).toMatchObject({ type: 'MODIFIED', object: { apiVersion: of.apiVersion } })
      break
    }
    await both.delete(of, ref, { signal: never })
    await both.deleteCollection(of, { namespace: 'shop' }, never)
    await expect(both.get(of, ref, never)).rejects.toMatchObject({ code: 404 })
  }
})
