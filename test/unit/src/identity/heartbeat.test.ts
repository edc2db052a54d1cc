import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { kinds } from '../../../../src/api/kinds/index.ts'
import { type MemberCluster, MemberClusterKind } from '../../../../src/api/kinds/member-cluster.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { observeHeartbeats, sendHeartbeats } from '../../../../src/identity/heartbeat.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { type ManualClock, manualClock, settled } from '../../../support/manual-clock.ts'

const members = resource(MemberClusterKind)
const startMs = Date.parse('2026-01-02T03:04:05Z')

describe('heartbeats', () => {
  const log = memoryLogger()
  let hubClock: ManualClock
  let memberClock: ManualClock
  let hub: MemoryCluster
  let stopMember: AbortController
  let stopHub: AbortController
  beforeEach(async () => {
    hubClock = manualClock(startMs)
    memberClock = manualClock(startMs + 7_000)
    stopMember = new AbortController()
    stopHub = new AbortController()
    hub = new MemoryCluster({ name: 'hub', clock: hubClock, kinds })
    const object: MemberCluster = {
      apiVersion: members.apiVersion,
      kind: members.kind,
      metadata: { name: 'east' },
      spec: { accepted: true, credentialGeneration: 1 },
    }
    const created = await hub.create(members, object, never)
    const status = { namespace: 'member-east' }
    await hub.replace(members, { ...created, status }, { subresource: 'status' }, never)
  })
  afterEach(() => {
    stopMember.abort()
    stopHub.abort()
  })

  async function startMember(): Promise<void> {
    const options = {
      hub,
      clusterId: 'east',
      namespace: 'member-east',
      families: ['IPv4', 'IPv6'] as const,
      clock: memberClock,
      log,
    }
    void sendHeartbeats(options, stopMember.signal)
    await settled()
  }

  async function startObserver(): Promise<void> {
    await observeHeartbeats({ hub, clock: hubClock, log }, stopHub.signal)
    await settled()
  }

  /** Time goes on for both. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 10_000) {
      await hubClock.advance(Math.min(left, 10_000))
      await memberClock.advance(Math.min(left, 10_000))
    }
  }

  async function status() {
    const { status: found } = await hub.get(members, { name: 'east' }, never)
    return found
  }

  it('are written down by the clock of the hub, with how far the member is off', async () => {
    await startObserver()
    await startMember()
    expect(await status()).toEqual({
      namespace: 'member-east',
      lastHeartbeatTime: '2026-01-02T03:04:05Z',
      ipFamilies: ['IPv4', 'IPv6'],
      clockSkewSeconds: 7,
      conditions: [
        {
          type: 'Available',
          status: 'True',
          reason: 'Heartbeat',
          message: '',
          lastTransitionTime: '2026-01-02T03:04:05Z',
        },
      ],
    })
    await pass(60_000)
    expect((await status())?.lastHeartbeatTime).toBe('2026-01-02T03:05:05Z')
    expect((await status())?.conditions?.[0]?.lastTransitionTime).toBe('2026-01-02T03:04:05Z')
  })

  it('that stay away make the member unavailable, until one comes again', async () => {
    await startObserver()
    await startMember()
    stopMember.abort()
    await pass(150_000)
    expect((await status())?.conditions).toMatchObject([
      { status: 'Unknown', reason: 'HeartbeatMissed', message: 'the member was not heard of for 90 s' },
    ])
    stopMember = new AbortController()
    await startMember()
    expect((await status())?.conditions).toMatchObject([{ status: 'True', reason: 'Heartbeat' }])
  })

  it('of before the hub started anew are not taken for new ones', async () => {
    await startObserver()
    await startMember()
    stopMember.abort()
    stopHub.abort()
    await pass(80_000)
    stopHub = new AbortController()
    await startObserver()
    expect((await status())?.lastHeartbeatTime).toBe('2026-01-02T03:04:05Z')
    await pass(60_000)
    expect((await status())?.conditions).toMatchObject([{ status: 'Unknown' }])
  })
})
