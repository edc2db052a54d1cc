import { expect, it } from 'vitest'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { followNetworks } from '../../../../src/roles/networks.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

it('the blocks of a cluster are those of the settings until it is asked, and others are told once', async () => {
  const clock = manualClock()
  const stop = new AbortController()
  let there = { services: ['10.96.0.0/16'], pods: ['10.244.0.0/16'] }
  const context = { clock, log: memoryLogger(), metrics: noMetrics, signal: stop.signal }
  const settings = { serviceCidrs: ['10.96.0.0/16'], podCidrs: undefined }
  const followed = followNetworks({ networks: () => Promise.resolve(there) }, settings, context)
  let told = 0
  followed.onNetworks(() => {
    told += 1
  })
  expect(followed.networks()).toEqual({ services: ['10.96.0.0/16'], pods: [] })
  await settled()
  expect([followed.networks(), told]).toEqual([there, 1])
  await clock.advance(600_000)
  expect(told).toBe(1)
  there = { ...there, services: ['10.7.0.0/16'] }
  await clock.advance(600_000)
  expect([followed.networks(), told]).toEqual([there, 2])
  stop.abort()
})
