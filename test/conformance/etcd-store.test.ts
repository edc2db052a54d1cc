import { afterAll, beforeAll, describe } from 'vitest'
import { openEtcdStore } from '../../apiservice/store/etcd/open.ts'
import { type LogLine, memoryLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Etcd, withoutEtcd } from '../support/etcd.ts'
import { manualClock } from '../support/manual-clock.ts'
import { storeConformance } from './store.ts'

let etcd: Etcd
let places = 0

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'on a real etcd', () => {
  beforeAll(async () => {
    etcd = await Etcd.start()
  })
  afterAll(() => etcd.stop())

  storeConformance(
    'etcd',
    async () => {
      const logged: LogLine[] = []
      const clock = manualClock()
      const prefix = `/place-${places++}`
      return {
        logged,
        open: bounds =>
          openEtcdStore({
            clock,
            log: memoryLogger(logged),
            metrics: noMetrics,
            etcd: { servers: etcd.servers, prefix, tls: () => ({}), place: 'etcd' },
            ...bounds,
          }),
        advance: ms => clock.advance(ms),
        remove: async () => undefined,
      }
    },
    { reopens: true, bounds: true, largestBodyBytes: 1.5 * 1024 * 1024 - 2000 },
  )
})
