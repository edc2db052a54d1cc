import { describe, expect, it } from 'vitest'
import { Compaction } from '../../../../../apiservice/store/etcd/compaction.ts'
import { EtcdLayout } from '../../../../../apiservice/store/etcd/layout.ts'
import { isMade, load } from '../../../../../apiservice/store/etcd/loading.ts'
import { withDefaults } from '../../../../../apiservice/store/options.ts'
import { never } from '../../../../../src/kernel/abort.ts'
import { systemClock } from '../../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../../src/kernel/metrics.ts'
import { MemoryEtcd } from '../../../../support/memory-etcd.ts'

/** Two servers of one etcd. */
async function compactions() {
  const etcd = new MemoryEtcd()
  const settings = withDefaults({ clock: systemClock, log: silentLogger, metrics: noMetrics })
  const parts = { client: etcd, layout: new EtcdLayout('/a'), place: 'etcd://here/a', settings, shift: 0 }
  const { mark } = await load(parts, never, isMade)
  const put = [{ put: Buffer.from('/other'), value: Buffer.from('x') }]
  for (let count = 0; count < 20; count++) await etcd.transact({ conditions: [], operations: put })
  return { etcd, one: new Compaction(parts, mark), other: new Compaction(parts, mark) }
}

describe('the compaction of etcd', () => {
  it('goes on from where another server has come', async () => {
    const { etcd, one, other } = await compactions()
    await one.to(5, never)
    await other.to(9, never)
    await one.to(8, never)
    expect([one.floor, other.floor, etcd.state.compacted]).toEqual([9, 9, 9])
  })

  it('gives up when the floor of etcd is an older one than is known', async () => {
    const { etcd, one } = await compactions()
    const snapshot = etcd.state
    await one.to(5, never)
    etcd.state = snapshot
    let asked = 0
    etcd.before.transact = () => {
      if (asked++ > 10) throw new Error('is asked without end')
    }
    await expect(one.to(9, never)).rejects.toThrow('etcd went back')
    expect(etcd.state.compacted).toBe(0)
  })
})
