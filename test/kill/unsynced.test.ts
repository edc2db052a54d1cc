// A loss of power, wherever it strikes: what was not synced is gone, wholly or in part.
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/fleet.ts'
import { seed } from '../support/seed.ts'
import { type Answered, answeredIn, expectAll, openAfterwards } from './answered.ts'
import { readTrace, whyNoTrace } from './trace.ts'
import { type Change, changesIn, type Kept, losePower } from './traced-disk.ts'

const program = join(import.meta.dirname, 'store-writer.ts')
const why = whyNoTrace()
const losses = Number(process.env.LOSSES ?? 40)
/** Enough for a second write-ahead log, so that tables are made and files removed beside the writes. */
const [writers, rounds] = [8, 300]

const folder = temporaryFolder()
const directory = join(folder.path, 'store')
const left = join(folder.path, 'left')
let changes: readonly Change[]

beforeAll(() => {
  if (why !== undefined) return
  const output = join(folder.path, 'trace')
  const calls = 'trace=openat,write,pwrite64,fdatasync,fsync,rename,unlink'
  const options = ['-f', '-y', '-xx', '-s', '10000000', '-o', output, '-e', calls]
  const command = [process.execPath, program, directory, `${writers}`, `${rounds}`]
  const ran = spawnSync('strace', [...options, ...command], { encoding: 'utf8', maxBuffer: 2 ** 28 })
  expect([ran.status, ran.stderr]).toEqual([0, ''])
  changes = changesIn(directory, readTrace(readFileSync(output, 'utf8')))
}, 240_000)
afterAll(() => folder.dispose())

/** What was answered before the loss; the directory holds what it has left. */
function lose(after: number, kept: Kept): readonly Answered[] {
  rmSync(left, { recursive: true, force: true })
  const lost = losePower(changes, after, kept)
  lost.leave(left)
  return answeredIn(`${lost.answers.join('\n')}\n`)
}

async function expectNothingLost(after: number, kept: Kept): Promise<void> {
  const answered = lose(after, kept)
  const store = await openAfterwards(left)
  try {
    await expectAll(store, answered)
    await store.verify()
  } finally {
    await store.close()
  }
}

/** All, nothing, or something between. */
const aShare = fc.oneof(fc.constantFrom(0, 1), fc.double({ min: 0, max: 1, noNaN: true }))

describe('a loss of power', () => {
  const reason = why === undefined ? '' : ` (skipped: ${why})`

  it.skipIf(why !== undefined)(`is tried on a store that made and removed files${reason}`, () => {
    const named = changes.flatMap(change => ('file' in change ? [`${change.what} ${change.file}`] : []))
    for (const ending of [
      'create .*ldb',
      'remove .*log',
      'rename .*dbtmp',
      'sync .*MANIFEST-\\d+',
      'overwrite .*REVISION',
    ]) {
      expect(named.some(name => new RegExp(`^${ending}$`).test(name))).toBe(true)
    }
    expect(changes.filter(change => change.what === 'answer').length).toBeGreaterThan(writers * rounds)
  })

  it.skipIf(why !== undefined)(
    `leaves every answered write, ${losses} times (seed ${seed})${reason}`,
    async () => {
      const aLoss = fc.record({
        after: fc.integer({
          min: changes.findIndex(change => change.what === 'answer'),
          max: changes.length,
        }),
        kept: fc.record({ names: aShare, bytes: aShare }),
      })
      for (const { after, kept } of fc.sample(aLoss, { numRuns: losses, seed })) {
        await expectNothingLost(after, kept)
      }
    },
    losses * 10_000,
  )

  it.skipIf(why !== undefined)(`is noticed here when a sync had not done what it says${reason}`, async () => {
    const isLogSync = (change: Change): boolean => change.what === 'sync' && change.file.endsWith('.log')
    const after = changes.findLastIndex(change => change.what === 'answer') + 1
    const [real, kept] = [changes, { names: 1, bytes: 0 }]
    await expectNothingLost(after, kept)
    const last = real.findLastIndex(isLogSync)
    changes = real.filter((change, at) => at < last - 40 || !isLogSync(change))
    const gone = real.length - changes.length
    await expect(expectNothingLost(after - gone, kept)).rejects.toThrow()
    changes = real
  })
})
