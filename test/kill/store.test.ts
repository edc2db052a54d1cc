import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { never, sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { seed } from '../support/seed.ts'
import { type Answered, answeredIn, expectAll, openAfterwards } from './answered.ts'

const writers = 32
const kills = Number(process.env.KILLS ?? 5)
/** After so many kills another store begins, or in a long run everything would be looked at again and again. */
const lifetime = 10
const program = join(import.meta.dirname, 'store-writer.ts')

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
  return answeredIn(Buffer.concat(chunks).toString())
}

async function killed(child: ChildProcess): Promise<void> {
  expect(child.exitCode).toBe(null)
  const closed = once(child, 'close')
  child.kill('SIGKILL')
  await closed
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
      let all = 0
      try {
        for (const [at, afterMs] of delays.entries()) {
          if (at % lifetime === 0 && at > 0) {
            await rm(directory, { recursive: true })
            everything.length = 0
            newest = 0
          }
          const answered = await writeAndKill(directory, afterMs)
          everything.push(...answered)
          all += answered.length
          const store = await openAfterwards(directory)
          const revisions = answered.map(entry => entry.revision)
          expect(Math.min(...revisions)).toBeGreaterThan(newest)
          expect(new Set(revisions).size).toBe(revisions.length)
          expect(store.revision()).toBeGreaterThanOrEqual(Math.max(...revisions))
          newest = store.revision()
          await expectAll(store, everything)
          await store.verify()
          await store.close()
        }
      } finally {
        await rm(parent, { recursive: true })
      }
      expect(all).toBeGreaterThan(kills * writers)
    },
    kills * 30_000,
  )
})
