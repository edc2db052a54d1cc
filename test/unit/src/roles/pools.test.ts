import { describe, expect, it } from 'vitest'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { FollowedPools, followPools } from '../../../../src/roles/pools.ts'
import { manualClock } from '../../../support/manual-clock.ts'

it('the pools follow what is set while the hub runs, and stay when that is of no use', async () => {
  const clock = manualClock()
  const log = memoryLogger()
  const running = new AbortController()
  let read = (): readonly string[] => ['10.7.0.0/24', '10.8.0.0/24']
  const set: (readonly string[])[] = []
  const pools = { set: (cidrs: readonly string[]) => void set.push(cidrs) }
  followPools(() => read(), pools, { clock, log, metrics: noMetrics, signal: running.signal })
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

describe('pools that were set while no flow went on', () => {
  it('are those that the next flow begins with', () => {
    const pools = new FollowedPools(['10.7.0.0/24'])
    pools.set(['10.8.0.0/24'])
    expect(pools.cidrs).toEqual(['10.8.0.0/24'])
  })

  it('stay when others are of no use', () => {
    const pools = new FollowedPools(['10.7.0.0/24'])
    expect(() => pools.set(['10.8.0.0/24', '10.8.0.0/16'])).toThrow('overlaps')
    expect(pools.cidrs).toEqual(['10.7.0.0/24'])
  })

  it('are told to the flow that goes on, and to none that has ended', () => {
    const pools = new FollowedPools(['10.7.0.0/24'])
    const told: string[] = []
    const flow = (name: string) => ({
      setPools: (cidrs: readonly string[]) => void told.push(`${name} ${cidrs.join()}`),
    })
    const [first, second] = [new AbortController(), new AbortController()]
    pools.tell(flow('first'), first.signal)
    pools.set(['10.8.0.0/24'])
    first.abort()
    pools.set(['10.9.0.0/24'])
    pools.tell(flow('second'), second.signal)
    pools.set(['10.10.0.0/24'])
    expect(told).toEqual(['first 10.8.0.0/24', 'second 10.10.0.0/24'])
    expect(pools.cidrs).toEqual(['10.10.0.0/24'])
  })
})
