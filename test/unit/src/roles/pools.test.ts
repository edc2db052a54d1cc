import { expect, it } from 'vitest'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { followPools } from '../../../../src/roles/pools.ts'
import { manualClock } from '../../../support/manual-clock.ts'

it('the pools follow what is set while the hub runs, and stay when that is of no use', async () => {
  const clock = manualClock()
  const log = memoryLogger()
  const running = new AbortController()
  let read = (): readonly string[] => ['10.7.0.0/24', '10.8.0.0/24']
  const set: (readonly string[])[] = []
  const flow = { setPools: (cidrs: readonly string[]) => void set.push(cidrs) }
  followPools(() => read(), flow, { clock, log, metrics: noMetrics, signal: running.signal })
  expect(set).toEqual([])
  await clock.advance(5_000)
  expect(set).toEqual([])
  await clock.advance(5_000)
  expect(set).toEqual([['10.7.0.0/24', '10.8.0.0/24']])
  read = () => {
    throw new Error('the file has gone')
  }
  await clock.advance(20_000)
  expect(set).toHaveLength(1)
  expect(log.lines).toMatchObject([
    {
      level: 'error',
      message: 'the pools of ClusterSetIPs stay as they are',
      fields: { error: 'the file has gone' },
    },
  ])
  read = () => ['10.112.0.0/16']
  await clock.advance(5_000)
  read = () => ['10.9.0.0/24']
  await clock.advance(5_000)
  expect(set).toHaveLength(1)
  await clock.advance(5_000)
  expect(set.at(-1)).toEqual(['10.9.0.0/24'])
  running.abort()
  await clock.advance(60_000)
  expect(set).toHaveLength(2)
})
