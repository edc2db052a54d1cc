// Files of a store that were cut off, overwritten or lost: it is opened with every answered write, or refused.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import { StoreOpenError } from '../../apiservice/store/open-error.ts'
import type { Store } from '../../apiservice/store-contract.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { aKey, created, deleted, inScope, updated } from '../conformance/store/harness.ts'
import { eventually } from '../support/eventually.ts'
import { temporaryFolder } from '../support/fleet.ts'
import { manualClock } from '../support/manual-clock.ts'
import { seed } from '../support/seed.ts'

const rounds = Number(process.env.DAMAGES ?? 25)
const folder = temporaryFolder()
const sound = join(folder.path, 'sound')
/** As a killed process leaves it. */
const killed = join(folder.path, 'killed')
const damaged = join(folder.path, 'damaged')
let everything: unknown

function open(directory: string): Promise<Store> {
  return openLevelStore({ directory, clock: manualClock(), log: silentLogger, metrics: noMetrics })
}

async function contents(store: Store): Promise<unknown> {
  const { items, revision } = await store.list(inScope(), { limit: 0 })
  return { revision, items: items.map(item => [item.name, item.revision, item.body.toString()]) }
}

/** Objects with and without a history, deletions, records in tables and in the write-ahead log. */
async function fill(): Promise<void> {
  let store = await open(sound)
  const revisions = await Promise.all(
    Array.from({ length: 1500 }, (_, index) =>
      created(store, aKey(`shop/n${index}`), `${index}`.repeat(100)),
    ),
  )
  await store.compact(revisions[700] ?? 0)
  await store.close()
  store = await open(sound)
  for (let index = 0; index < 60; index++) {
    const revision = await updated(store, aKey(`shop/n${index}`), revisions[index] ?? 0, 'y'.repeat(2000))
    if (index % 3 === 0) await deleted(store, aKey(`shop/n${index}`), revision)
  }
  everything = await contents(store)
  await eventually(() => expect(Number(readFileSync(join(sound, 'REVISION'), 'utf8'))).toBe(store.revision()))
  cpSync(sound, killed, { recursive: true })
  await store.close()
}

beforeAll(fill, 120_000)
afterAll(() => folder.dispose())

const kindsOfFiles = ['CURRENT', 'MANIFEST-\\d+', '\\d+\\.log', '\\d+\\.ldb', 'REVISION'] as const

type Damage = {
  readonly do: 'remove' | 'empty' | 'cut' | 'flip' | 'zero' | 'fill' | 'append'
  /** Where, as a share of the file. */
  readonly at: number
  readonly length: number
}

const aDamage: fc.Arbitrary<Damage> = fc.record({
  do: fc.constantFrom('remove', 'empty', 'cut', 'flip', 'zero', 'fill', 'append'),
  at: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  length: fc.integer({ min: 1, max: 300 }),
})

function inflict(file: string, damage: Damage): void {
  const bytes = readFileSync(file)
  const from = Math.floor(bytes.length * damage.at)
  if (damage.do === 'remove') rmSync(file)
  else writeFileSync(file, harmed(bytes, from, damage))
}

function harmed(bytes: Buffer, from: number, { do: what, length }: Damage): Buffer {
  if (what === 'append') return Buffer.concat([bytes, Buffer.alloc(length, 0x55)])
  if (what === 'empty' || what === 'cut') return bytes.subarray(0, what === 'cut' ? from : 0)
  if (what === 'flip') bytes.writeUInt8((bytes[from] ?? 0) ^ (1 << (length % 8)), from)
  else bytes.fill(what === 'zero' ? 0 : 0x55, from, Math.min(from + length, bytes.length))
  return bytes
}

/** Opened with everything, or refused with one sentence: the result says which. */
async function outcome(): Promise<'opened' | 'refused'> {
  let store: Store
  try {
    store = await open(damaged)
  } catch (thrown) {
    if (!(thrown instanceof StoreOpenError)) throw thrown
    expect(['corrupt', 'foreign', 'newer']).toContain(thrown.problem)
    expect(thrown.message).toMatch(/^the [^\n]*[^.]$/)
    return 'refused'
  }
  try {
    expect(await contents(store)).toEqual(everything)
  } finally {
    await store.close()
  }
  return 'opened'
}

describe.each([
  ['a store that was closed', sound],
  ['one whose process was killed', killed],
])('damage to %s', (_, whole) => {
  it.each(kindsOfFiles)(
    `in a file %s is found, or does no harm, ${rounds} times (seed ${seed})`,
    async kind => {
      const name = readdirSync(whole).find(file => new RegExp(`^${kind}$`).test(file)) ?? ''
      expect(name).not.toBe('')
      const outcomes: string[] = []
      for (const damage of fc.sample(aDamage, { numRuns: rounds, seed })) {
        rmSync(damaged, { recursive: true, force: true })
        cpSync(whole, damaged, { recursive: true })
        inflict(join(damaged, name), damage)
        try {
          outcomes.push(await outcome())
        } catch (thrown) {
          throw new Error(`${name}, ${JSON.stringify(damage)}`, { cause: thrown })
        }
      }
      expect(outcomes).toContain('refused')
    },
    rounds * 10_000,
  )
})
