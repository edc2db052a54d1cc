import { describe, expect, it } from 'vitest'
import { electionOf } from '../../../../src/roles/election-settings.ts'

const asGiven = {
  leaderElect: 'auto',
  leaderElectLeaseDuration: 15_000,
  leaderElectRenewDeadline: 10_000,
  leaderElectRetryPeriod: 2_000,
} as const
const timing = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 }

describe('the settings of the election', () => {
  it('elect where the store is shared, unless told', () => {
    expect(electionOf(asGiven, true)).toEqual(timing)
    expect(electionOf(asGiven, false)).toBeUndefined()
    expect(electionOf({ ...asGiven, leaderElect: 'true' }, false)).toEqual(timing)
    expect(electionOf({ ...asGiven, leaderElect: 'false' }, true)).toBeUndefined()
  })

  it('take no times with which two could lead, or none', () => {
    expect(() => electionOf({ ...asGiven, leaderElectLeaseDuration: 10_000 }, true)).toThrow(
      '--leader-elect-lease-duration must be longer than --leader-elect-renew-deadline',
    )
    expect(() => electionOf({ ...asGiven, leaderElectRetryPeriod: 8_400 }, true)).toThrow(
      '--leader-elect-renew-deadline must be longer than 1.2 times --leader-elect-retry-period',
    )
  })
})
