import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import type { Revision } from '../../apiservice/store-contract.ts'
import { never, sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { CheckedStore } from '../support/checked-store.ts'
import { seed } from '../support/seed.ts'
import { bodyOfRound, counterKey, itemKey, killResource, roundOf } from './written.ts'

const writers = 32
const kills = Number(process.env.KILLS ?? 5)
const program = join(import.meta.dirname, 'store-writer.ts')

type Answered = {
  readonly what: string
  readonly writer: number
  readonly round: number
  readonly revision: Revision
}

/** Lets 32 writers write for a while, kills their process, and answers what it had reported by then. */
async function writeAndKill(directory: string, afterMs: number): Promise<readonly Answered[]> {
  const child = spawn(process.execPath, [program, directory, `${writers}`, '1000000'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const chunks: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  try {
    await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    await sleep(systemClock, afterMs, never)
  } finally {
    await killed(child)
  }
  // The last line may be cut off.
  const lines = Buffer.concat(chunks).toString().split('\n').slice(0, -1)
  return lines.map(line => {
    const [what = '', writer, round, revision] = line.split(' ')
    return { what, writer: Number(writer), round: Number(round), revision: Number(revision) }
  })
}

async function killed(child: ChildProcess): Promise<void> {
  expect(child.exitCode).toBe(null)
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
}

/** Every answered write is there, unless the same writer may have gone on. */
async function expectAll(store: CheckedStore, answered: readonly Answered[]): Promise<void> {
  for (const { what, writer, round, revision } of answered) {
    const item = await store.get(itemKey(writer, round))
    if (what === 'deleted') expect(item).toBeUndefined()
    if (what === 'created' && (item !== undefined || round % 3 !== 0)) {
      expect(item?.revision).toBe(revision)
      expect(item?.body.equals(bodyOfRound(writer, round))).toBe(true)
    }
    if (what === 'updated') await expectCounter(store, writer, round, revision)
  }
}

async function expectCounter(
  store: CheckedStore,
  writer: number,
  round: number,
  revision: Revision,
): Promise<void> {
  const counter = await store.get(counterKey(writer))
  if (counter === undefined) throw new Error(`the counter of writer ${writer} is lost`)
  const reached = roundOf(counter.body)
  expect(reached).toBeGreaterThanOrEqual(round)
  expect(counter.body.equals(bodyOfRound(writer, reached))).toBe(true)
  if (reached === round) expect(counter.revision).toBe(revision)
}

describe('a store whose process is killed', () => {
  it(
    `has every answered write and goes on upwards, ${kills} times (seed ${seed})`,
    async () => {
      const delays = fc.sample(fc.integer({ min: 0, max: 350 }), { numRuns: kills, seed })
      const parent = await mkdtemp(join(tmpdir(), 'isthmus-kill-'))
      const directory = join(parent, 'store')
      const everything: Answered[] = []
      let newest = 0
      try {
        for (const afterMs of delays) {
          const answered = await writeAndKill(directory, afterMs)
          everything.push(...answered)
          const opened = await openLevelStore({
            directory,
            clock: systemClock,
            log: silentLogger,
            metrics: noMetrics,
          })
          const store = new CheckedStore(opened)
          const revisions = answered.map(entry => entry.revision)
          expect(Math.min(...revisions)).toBeGreaterThan(newest)
          expect(new Set(revisions).size).toBe(revisions.length)
          expect(store.revision()).toBeGreaterThanOrEqual(Math.max(...revisions))
          newest = store.revision()
          await expectAll(store, everything)
          await store.list({ resources: [killResource], namespace: '' }, { limit: 1 })
          await store.verify()
          await store.close()
        }
      } finally {
        await rm(parent, { recursive: true })
      }
      expect(everything.length).toBeGreaterThan(kills * writers)
    },
    kills * 30_000,
  )
})
