import { afterAll, beforeAll, describe } from 'vitest'
import { restoreInto } from '../../apiservice/store/etcd/offline.ts'
import { openEtcdStore } from '../../apiservice/store/etcd/open.ts'
import { type LogLine, memoryLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { Etcd, withoutEtcd } from '../support/etcd.ts'
import { manualClock } from '../support/manual-clock.ts'
import type { StoreManifest, StorePlace } from './store/harness.ts'
import { storeConformance } from './store.ts'

let etcd: Etcd
let places = 0

const manifest: StoreManifest = {
  reopens: true,
  bounds: true,
  largestBodyBytes: 1.5 * 1024 * 1024 - 2000,
}

/** What is done below a prefix before the first store is opened there. */
type First = (access: Parameters<typeof restoreInto>[0]) => Promise<unknown>

async function place(first: First): Promise<StorePlace> {
  const logged: LogLine[] = []
  const clock = manualClock()
  const prefix = `/place-${places++}`
  const settings = { servers: etcd.servers, prefix, tls: () => ({}), place: 'etcd' }
  const access = { clock, log: memoryLogger(logged), metrics: noMetrics, etcd: settings }
  await first(access)
  return {
    logged,
    open: bounds => openEtcdStore({ ...access, ...bounds }),
    advance: ms => clock.advance(ms),
    remove: async () => undefined,
  }
}

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'on a real etcd', () => {
  beforeAll(async () => {
    etcd = await Etcd.start()
  })
  afterAll(() => etcd.stop())

  storeConformance('etcd', () => place(async () => undefined), manifest)

  storeConformance(
    'etcd with a store that was brought there from elsewhere',
    () =>
      place(access => restoreInto(access, { revision: 1_000_000_000, at: access.clock.now(), entries: [] })),
    manifest,
  )
})
