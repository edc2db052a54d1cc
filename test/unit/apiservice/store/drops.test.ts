import { expect, it } from 'vitest'
import { openRevisionStore } from '../../../../apiservice/store/revision-store.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { turn } from '../../../../src/kernel/turn.ts'
import { aBody, aKey, created, inScope } from '../../../conformance/store/harness.ts'
import { CheckedStore } from '../../../support/checked-store.ts'
import { FaultyDisk } from '../../../support/faulty-log.ts'
import { manualClock } from '../../../support/manual-clock.ts'

it('a log never begins earlier again when what a failed batch was to drop is gone', async () => {
  const disk = new FaultyDisk()
  const clock = manualClock()
  const open = async (): Promise<CheckedStore> =>
    new CheckedStore(await openRevisionStore(disk.open, { clock, log: silentLogger, metrics: noMetrics }))
  const store = await open()
  for (let index = 0; index < 4; index++) {
    await Promise.all(Array.from({ length: 200 }, (_, at) => created(store, aKey(`a/n${index}-${at}`))))
  }
  const gone = (await store.list(inScope(), { limit: 0 })).items
  await Promise.all(gone.map(object => store.delete(object, object.revision)))
  const floors: number[] = []
  let hasFailed = false
  disk.admit = async ({ append, start }) => {
    if (start !== undefined) floors.push(start.floor)
    if (hasFailed || append.length < 200) return undefined
    hasFailed = true
    return 'after'
  }
  const compacted = store.compact(store.revision())
  const burst = Array.from({ length: 256 }, (_, at) => store.create(aKey(`b/n${at}`), aBody('x')))
  const settled = await Promise.all([Promise.allSettled(burst), clock.advance(1000)])
  await compacted
  expect(hasFailed).toBe(true)
  expect(settled[0].some(({ status }) => status === 'rejected')).toBe(true)
  expect(floors).toEqual(floors.toSorted((a, b) => a - b))
  await store.close()
  const reopened = await open()
  expect((await reopened.list(inScope(), { limit: 0 })).items).toHaveLength(256)
  await reopened.verify()
  await reopened.close()
})

it('what a full history forgets is dropped with the writes, and without them once for each housekeeping', async () => {
  const disk = new FaultyDisk()
  const clock = manualClock()
  const options = { clock, log: silentLogger, metrics: noMetrics, historyEvents: 10 }
  const store = await openRevisionStore(disk.open, options)
  for (let index = 0; index < 60; index++) {
    await created(store, aKey(`a/n${index}`))
    if (index % 20 === 19) await clock.advance(5_000)
    for (let turns = 0; turns < 5; turns++) await turn()
  }
  const withoutWrites = disk.batches.filter(({ append }) => append.length === 0)
  expect(withoutWrites.length).toBeGreaterThan(0)
  expect(withoutWrites.length).toBeLessThanOrEqual(3)
  expect(disk.batches.findLast(({ start }) => start !== undefined)?.start?.floor).toBe(store.oldest())
  await store.close()
})
