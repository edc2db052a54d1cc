/** What a writer has reported, and that it is all there. */
import { expect } from 'vitest'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import type { Revision } from '../../apiservice/store-contract.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { CheckedStore } from '../support/checked-store.ts'
import { bodyOfRound, counterKey, itemKey, killResource, roundOf } from './written.ts'

export type Answered = {
  readonly what: string
  readonly writer: number
  readonly round: number
  readonly revision: Revision
}

/** Reads the lines of `store-writer.ts`; the last one may be cut off. */
export function answeredIn(output: string): readonly Answered[] {
  return output
    .split('\n')
    .slice(0, -1)
    .map(line => {
      const [what = '', writer, round, revision] = line.split(' ')
      return { what, writer: Number(writer), round: Number(round), revision: Number(revision) }
    })
}

/** `verify` of the store looks at everything that was written. */
export async function openAfterwards(directory: string): Promise<CheckedStore> {
  const opened = await openLevelStore({
    directory,
    clock: systemClock,
    log: silentLogger,
    metrics: noMetrics,
  })
  const store = new CheckedStore(opened)
  await store.list({ resources: [killResource], namespace: '' }, { limit: 1 })
  return store
}

/** Every answered write is there, unless the same writer may have gone on. */
export async function expectAll(store: CheckedStore, answered: readonly Answered[]): Promise<void> {
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
