// A writer that dies when one of its threads begins a call to the system: before and after each step of a write.
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../support/fleet.ts'
import { seed } from '../support/seed.ts'
import { answeredIn, expectAll, openAfterwards } from './answered.ts'
import { whyNoTrace } from './trace.ts'

const program = join(import.meta.dirname, 'store-writer.ts')
const why = whyNoTrace()
const deaths = Number(process.env.DEATHS ?? 10)
const [writers, rounds] = [16, 150]

const folder = temporaryFolder()
const directory = join(folder.path, 'store')
afterAll(() => folder.dispose())

type Death = { readonly call: string; readonly when: number }

/** Each thread counts its own calls. */
const aDeath: fc.Arbitrary<Death> = fc.oneof(
  fc.record({ call: fc.constant('write'), when: fc.integer({ min: 1, max: 400 }) }),
  fc.record({ call: fc.constant('fdatasync'), when: fc.integer({ min: 1, max: 60 }) }),
  fc.record({ call: fc.constantFrom('rename', 'unlink', 'fsync'), when: fc.integer({ min: 1, max: 3 }) }),
)

/** What the writer had reported when it died; it may end by itself before. */
function die({ call, when }: Death): ReturnType<typeof answeredIn> {
  const options = ['-f', '-o', '/dev/null', '-e', `trace=${call}`]
  const command = [process.execPath, program, directory, `${writers}`, `${rounds}`]
  const ran = spawnSync('strace', [...options, '-e', `inject=${call}:signal=KILL:when=${when}`, ...command], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  expect(ran.stderr).toBe('')
  return answeredIn(ran.stdout)
}

describe('a writer that dies at a call', () => {
  const reason = why === undefined ? '' : ` (skipped: ${why})`
  it.skipIf(why !== undefined)(
    `leaves every answered write, ${deaths} times (seed ${seed})${reason}`,
    async () => {
      const everything: ReturnType<typeof answeredIn>[number][] = []
      let newest = 0
      for (const [at, death] of fc.sample(aDeath, { numRuns: deaths, seed }).entries()) {
        // The beginning of a store is as mortal as the rest of its life.
        if (at % 3 === 0) {
          rmSync(directory, { recursive: true, force: true })
          everything.length = 0
          newest = 0
        }
        everything.push(...die(death))
        const store = await openAfterwards(directory)
        await expectAll(store, everything)
        await store.verify()
        expect(store.revision()).toBeGreaterThanOrEqual(newest)
        newest = store.revision()
        await store.close()
      }
    },
    deaths * 30_000,
  )
})
