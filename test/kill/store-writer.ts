/**
 * Writes to the store in a directory until it is killed or each writer has done its rounds, and reports every answered
 * write as a line: `created|updated|deleted <writer> <round> <revision>`. Arguments: directory, writers, rounds.
 */
import { writeSync } from 'node:fs'
import { openLevelStore } from '../../apiservice/store/level-store.ts'
import type { ObjectKey, Revision, Store, WriteResult } from '../../apiservice/store-contract.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { bodyOfRound, counterKey, itemKey, roundOf } from './written.ts'

const [directory = '', writers = '1', rounds = '1'] = process.argv.slice(2)

// A short history, so that kills also hit drops.
const store = await openLevelStore({
  directory,
  clock: systemClock,
  log: silentLogger,
  metrics: noMetrics,
  historyEvents: 500,
})

function report(what: string, writer: number, round: number, result: WriteResult): Revision {
  if (result.done) writeSync(1, `${what} ${writer} ${round} ${result.object.revision}\n`)
  return result.done ? result.object.revision : 0
}

function put(key: ObjectKey, expected: Revision, body: Buffer): Promise<WriteResult> {
  return expected === 0 ? store.create(key, body) : store.update(key, expected, body)
}

async function write(into: Store, writer: number): Promise<void> {
  const counter = await into.get(counterKey(writer))
  let expected = counter?.revision ?? 0
  const first = counter === undefined ? 1 : roundOf(counter.body) + 1
  for (let round = first; round < first + Number(rounds); round++) {
    const body = bodyOfRound(writer, round)
    const item = report('created', writer, round, await into.create(itemKey(writer, round), body))
    expected = report('updated', writer, round, await put(counterKey(writer), expected, body))
    if (round % 3 === 0 && item !== 0) {
      report('deleted', writer, round, await into.delete(itemKey(writer, round), item))
    }
  }
}

await Promise.all(Array.from({ length: Number(writers) }, (_, writer) => write(store, writer)))
await store.close()
