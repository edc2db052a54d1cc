import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import { MemoryDisk, openMemoryStore } from '../../apiservice/store/memory-store.ts'
import { type LogLine, memoryLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { manualClock } from '../support/manual-clock.ts'
import { storeConformance } from './store.ts'

storeConformance(
  'LevelDB',
  async () => {
    const parent = await mkdtemp(join(tmpdir(), 'isthmus-store-'))
    const logged: LogLine[] = []
    const clock = manualClock()
    const fixed = { directory: join(parent, 'store'), clock, log: memoryLogger(logged), metrics: noMetrics }
    return {
      logged,
      open: bounds => openLevelStore({ ...fixed, ...bounds }),
      advance: ms => clock.advance(ms),
      remove: () => rm(parent, { recursive: true }),
    }
  },
  { reopens: true, bounds: true, largestBodyBytes: 3 * 1024 * 1024 },
)

storeConformance(
  'memory',
  async () => {
    const logged: LogLine[] = []
    const clock = manualClock()
    const fixed = { disk: new MemoryDisk(), clock, log: memoryLogger(logged), metrics: noMetrics }
    return {
      logged,
      open: bounds => openMemoryStore({ ...fixed, ...bounds }),
      advance: ms => clock.advance(ms),
      remove: async () => undefined,
    }
  },
  { reopens: true, bounds: true, largestBodyBytes: 3 * 1024 * 1024 },
)
