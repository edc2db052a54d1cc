import { describe, expect, it } from 'vitest'
import { EtcdStore } from '../../../../../apiservice/store/etcd/etcd-store.ts'
import { EtcdLayout } from '../../../../../apiservice/store/etcd/layout.ts'
import { isMade, load } from '../../../../../apiservice/store/etcd/loading.ts'
import { ShiftedEtcd } from '../../../../../apiservice/store/etcd/shifted.ts'
import { withDefaults } from '../../../../../apiservice/store/options.ts'
import { never } from '../../../../../src/kernel/abort.ts'
import { systemClock } from '../../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../../src/kernel/metrics.ts'
import { aBody, aKey, created, inScope, updated } from '../../../../conformance/store/harness.ts'
import { MemoryEtcd } from '../../../../support/memory-etcd.ts'

const shift = 1_000_000
const layout = new EtcdLayout('/a')

/** A store as a restore leaves it, and the parts of a server that does not know of its shift. */
async function restored() {
  const client = new MemoryEtcd()
  const settings = withDefaults({ clock: systemClock, log: silentLogger, metrics: noMetrics })
  const parts = { client, layout, place: 'etcd://here', settings, shift: 0 }
  await isMade(parts, never)
  const value = Buffer.from(JSON.stringify({ format: 2, schema: 1, shift }))
  await client.transact({ conditions: [], operations: [{ put: layout.format, value }] })
  return parts
}

describe('an etcd whose revisions are shifted', () => {
  it('takes no revision from before for one of its own', async () => {
    const unshifted = await restored()
    const parts = { ...unshifted, client: new ShiftedEtcd(unshifted.client, shift), shift }
    const store = new EtcdStore(parts, await load(parts, never, isMade))
    try {
      await store.opened(10_000)
      const web = aKey('shop/web')
      // 0 in etcd, which says of a key that it is not there.
      for (const revision of [shift, shift - 1, 7]) {
        expect(await store.update(web, revision, aBody('x'))).toEqual({ done: false, current: undefined })
        const guard = { key: web, revision }
        expect(await store.create(aKey('shop/b'), aBody('x'), guard)).toMatchObject({ isGuarded: true })
        await expect(store.list(inScope(), { revision, limit: 0 })).rejects.toMatchObject({ code: 410 })
      }
      const first = await created(store, web)
      expect(first).toBeGreaterThan(shift)
      expect(await updated(store, web, first, 'second')).toBe(first + 1)
    } finally {
      await store.close()
    }
  })

  it('is not read by a server that took it for another one', async () => {
    const parts = await restored()
    await expect(load(parts, never, isMade)).rejects.toThrow(
      'the store in etcd://here is another one by now: start the server again',
    )
  })
})
