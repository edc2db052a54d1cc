import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { EventKind } from '../../../../src/api/kinds/event.ts'
import { kinds } from '../../../../src/api/kinds/index.ts'
import type { MemberCluster } from '../../../../src/api/kinds/member-cluster.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster, type MemoryRequest } from '../../../../src/cluster/memory.ts'
import { leaseOf, leases, type Networks } from '../../../../src/heartbeat/lease.ts'
import { type HubFlow, startHubFlow } from '../../../../src/hub-flow.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import type { Metrics } from '../../../../src/kernel/metrics.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { type ManualClock, manualClock, settled } from '../../../support/manual-clock.ts'
import { memberClusters, textOf } from '../../../support/memory-fleet.ts'

describe('the hub', () => {
  let clock: ManualClock
  let log: ReturnType<typeof memoryLogger>
  let hub: MemoryCluster
  let metrics: Metrics
  let writes: MemoryRequest[]
  let flow: HubFlow
  let running: AbortController

  beforeEach(async () => {
    clock = manualClock()
    log = memoryLogger()
    writes = []
    const intercept = (request: MemoryRequest): void => {
      if (!['get', 'list', 'watch'].includes(request.verb)) writes.push(request)
    }
    hub = new MemoryCluster({ name: 'hub', clock, kinds, intercept })
    await start()
    await join('east')
  })
  afterEach(() => running.abort())

  async function start(): Promise<void> {
    running = new AbortController()
    metrics = prometheus()
    const options = { hub, clusterSetCidrs: ['10.7.0.0/24'], quarantineMs: 0, clock, log, metrics }
    flow = startHubFlow(options, running.signal)
    await flow.started
    await settled()
  }

  async function join(name: string): Promise<void> {
    const { apiVersion, kind } = memberClusters
    const spec = { accepted: true, credentialGeneration: 1 }
    await hub.create(memberClusters, { apiVersion, kind, metadata: { name }, spec }, never)
    await settled()
  }

  const member = (name = 'east'): Promise<MemberCluster> => hub.get(memberClusters, { name }, never)
  const available = async (name = 'east') => textOf((await member(name)).status?.conditions).Available
  const events = async () => {
    const { items } = await hub.list(resource(EventKind), {}, never)
    return items.toSorted((a, b) => ((a.reason ?? '') < (b.reason ?? '') ? -1 : 1))
  }

  async function accept(accepted: boolean): Promise<void> {
    const there = await member()
    await hub.replace(memberClusters, { ...there, spec: { ...there.spec, accepted } }, {}, never)
    await settled()
  }

  type BeatOptions = {
    readonly cluster?: string
    readonly aheadMs?: number
    readonly intervalMs?: number
    readonly namespace?: string
    readonly networks?: Networks
  }

  /** The member's clock is ahead by so much. */
  async function beat({
    cluster = 'east',
    aheadMs = 0,
    intervalMs = 10_000,
    namespace = `member-${cluster}`,
    networks = { services: [], pods: [] },
  }: BeatOptions = {}) {
    const { items } = await hub.list(leases, { namespace }, never)
    const families = ['IPv6', 'IPv4'] as const
    const said = {
      cluster,
      namespace,
      families,
      networks,
      trusts: [],
      intervalMs,
      timeMs: clock.now() + aheadMs,
    }
    const lease = leaseOf(said, items[0])
    await (items[0] === undefined ? hub.create(leases, lease, never) : hub.replace(leases, lease, {}, never))
    await settled()
  }

  /** Beats every 10 s, the first one in 10 s. */
  async function beats(count: number, options: BeatOptions = {}): Promise<void> {
    for (let n = 0; n < count; n += 1) {
      await clock.advance(10_000)
      await beat(options)
    }
  }

  async function membersMetric(): Promise<readonly string[]> {
    const text = await metrics.text()
    return text.split('\n').filter(line => line.startsWith('isthmus_hub_members{'))
  }

  it('writes down what a first heartbeat tells', async () => {
    await beat({ aheadMs: 6_900 })
    expect((await member()).status).toEqual({
      lastHeartbeatTime: '2026-01-02T03:04:05Z',
      ipFamilies: ['IPv6', 'IPv4'],
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
  })

  it('says which pools overlap addresses that a cluster uses by itself, and when they do no more', async () => {
    const apart = async () => textOf((await member()).status?.conditions).AddressesApart
    await beat({ networks: { services: ['10.96.0.0/16'], pods: ['10.244.0.0/16'] } })
    expect(await apart()).toBe('True/NoOverlap')
    expect((await events()).map(({ reason }) => reason)).toEqual(['Heartbeat'])
    await clock.advance(10_000)
    await beat({ networks: { services: ['10.96.0.0/16'], pods: ['10.0.0.0/13', '10.7.0.128/25'] } })
    expect((await member()).status).toMatchObject({
      serviceCIDRs: ['10.96.0.0/16'],
      podCIDRs: ['10.0.0.0/13', '10.7.0.128/25'],
    })
    const [, condition] = (await member()).status?.conditions ?? []
    expect(condition).toMatchObject({ type: 'AddressesApart', status: 'False', reason: 'Overlap' })
    expect(condition?.message).toBe(
      'pools of ClusterSetIPs overlap addresses that the cluster uses by itself: 10.7.0.0/24 and 10.0.0.0/13 of its pods, 10.7.0.0/24 and 10.7.0.128/25 of its pods',
    )
    expect((await events()).map(({ reason }) => reason)).toEqual(['Heartbeat', 'Overlap'])
    // Another block is known later: that is told as well, once.
    await clock.advance(10_000)
    const more = { services: ['10.96.0.0/16', '10.7.0.0/26'], pods: ['10.0.0.0/13', '10.7.0.128/25'] }
    await beat({ networks: more })
    await clock.advance(10_000)
    await beat({ networks: more })
    const overlaps = (await events()).filter(({ reason }) => reason === 'Overlap')
    expect(overlaps.map(({ message }) => message?.includes('10.7.0.0/26 of its Services')).sort()).toEqual([
      false,
      true,
    ])
    // A hub that is started anew knows it before the next beat.
    running.abort()
    await start()
    flow.setPools(['10.9.0.0/24'])
    await settled()
    expect(await apart()).toBe('True/NoOverlap')
    expect((await events()).map(({ reason }) => reason)).toEqual([
      'Heartbeat',
      'NoOverlap',
      'Overlap',
      'Overlap',
    ])
  })

  it('takes no blocks that are none, and no more than it can keep', async () => {
    const many = Array.from({ length: 100 }, (_, n) => `10.${n}.0.0/16`)
    await beat({ networks: { services: ['10.0.0.1/8', 'x', '10.96.0.0/16'], pods: many } })
    expect((await member()).status?.serviceCIDRs).toEqual(['10.96.0.0/16'])
    expect((await member()).status?.podCIDRs).toHaveLength(64)
  })

  it('says in a condition, an Event and a metric when a member falls silent and when it is back', async () => {
    await beat()
    await beats(3)
    await clock.advance(39_999)
    expect(await available()).toBe('True/Heartbeat')
    // It is looked for silent members every 5 s.
    await clock.advance(5_001)
    expect((await member()).status).toMatchObject({
      lastHeartbeatTime: '2026-01-02T03:04:35Z',
      conditions: [
        {
          status: 'Unknown',
          reason: 'NothingHeard',
          message: expect.stringMatching(/^no heartbeat since 2026-01-02T03:04:35Z, nor of other members/),
        },
      ],
    })
    expect(await membersMetric()).toEqual([
      'isthmus_hub_members{state="available"} 0',
      'isthmus_hub_members{state="unknown"} 1',
      'isthmus_hub_members{state="not_accepted"} 0',
    ])
    await clock.advance(3_600_000)
    await beat()
    expect(await available()).toBe('True/Heartbeat')
    expect((await membersMetric())[0]).toBe('isthmus_hub_members{state="available"} 1')
    expect(await events()).toMatchObject([
      {
        type: 'Normal',
        reason: 'Heartbeat',
        message: 'the member sends heartbeats',
        involvedObject: { kind: 'MemberCluster', name: 'east', namespace: '' },
        source: { component: 'isthmus-hub' },
        count: 2,
      },
      { type: 'Warning', reason: 'NothingHeard', count: 1 },
    ])
    const told = log.lines.filter(line => line.message === 'availability of a member changed')
    expect(told.map(({ fields }) => fields.available)).toEqual(['True', 'Unknown', 'True'])
  })

  it('writes once in three heartbeats, and nothing but that', async () => {
    await beat()
    writes.length = 0
    await beats(30)
    const others = writes.filter(write => write.resource.plural !== 'leases')
    expect(others).toHaveLength(10)
    for (const write of others) {
      expect(write).toMatchObject({ resource: { plural: 'memberclusters' }, subresource: 'status' })
    }
  })

  it('waits as long as the member asked it to', async () => {
    await beat({ intervalMs: 60_000 })
    await clock.advance(239_000)
    expect(await available()).toBe('True/Heartbeat')
    await clock.advance(6_000)
    expect(await available()).toBe('Unknown/NothingHeard')
  })

  it('that starts anew takes nobody for silent before it has listened, nor an old heartbeat for a new one', async () => {
    await beat()
    await beats(1, { aheadMs: 3_000 })
    running.abort()
    await clock.advance(600_000)
    await start()
    expect((await member()).status).toMatchObject({
      clockSkewSeconds: 3,
      lastHeartbeatTime: '2026-01-02T03:04:15Z',
      conditions: [{ status: 'True' }],
    })
    await clock.advance(39_000)
    expect(await available()).toBe('True/Heartbeat')
    await clock.advance(6_000)
    expect(await available()).toBe('Unknown/NothingHeard')
  })

  it('takes a member for gone only while others are heard, and until it is heard again', async () => {
    await join('west')
    await beat()
    await beat({ cluster: 'west' })
    await beats(3, { cluster: 'west' })
    expect(await available('east')).toBe('True/Heartbeat')
    await beats(2, { cluster: 'west' })
    expect([await available('east'), await available('west')]).toEqual([
      'Unknown/HeartbeatMissed',
      'True/Heartbeat',
    ])
    running.abort()
    await start()
    await clock.advance(3_600_000)
    expect([await available('east'), await available('west')]).toEqual([
      'Unknown/HeartbeatMissed',
      'Unknown/NothingHeard',
    ])
    await beat()
    expect(await available('east')).toBe('True/Heartbeat')
  })

  it('that was cut off itself takes nobody for gone before it has listened for a whole lease again', async () => {
    await join('west')
    await beat()
    await clock.advance(9_000)
    await beat({ cluster: 'west' })
    await clock.advance(600_000)
    expect([await available('east'), await available('west')]).toEqual([
      'Unknown/NothingHeard',
      'Unknown/NothingHeard',
    ])
    await beat({ cluster: 'west' })
    await beats(3, { cluster: 'west' })
    expect(await available('east')).toBe('Unknown/NothingHeard')
    await beats(2, { cluster: 'west' })
    expect(await available('east')).toBe('Unknown/HeartbeatMissed')
  })

  it('says when a member was never heard of', async () => {
    await clock.advance(3_600_000)
    await join('west')
    await clock.advance(35_000)
    expect([await available('east'), await available('west')]).toEqual(['Unknown/NeverHeard', undefined])
    await clock.advance(10_000)
    expect(await available('west')).toBe('Unknown/NeverHeard')
  })

  it('says at once when a member is not accepted, and believes it again when it was heard of', async () => {
    await beat()
    await accept(false)
    expect(await available()).toBe('False/NotAccepted')
    expect(await membersMetric()).toContain('isthmus_hub_members{state="not_accepted"} 1')
    await clock.advance(600_000)
    expect(await available()).toBe('False/NotAccepted')
    await accept(true)
    expect(await available()).toBe('Unknown/NothingHeard')
    await beat()
    expect(await available()).toBe('True/Heartbeat')
  })

  it('believes no member that speaks for another', async () => {
    await join('west')
    await beat({ namespace: 'member-west' })
    expect([await available('east'), await available('west')]).toEqual([undefined, undefined])
  })

  it('forgets a member that is removed', async () => {
    await beat()
    await hub.delete(memberClusters, { name: 'east' }, { signal: never })
    await settled()
    expect(await membersMetric()).toContain('isthmus_hub_members{state="available"} 0')
    await join('east')
    await clock.advance(10_000)
    expect(await available()).toBeUndefined()
  })

  it('measures the skew of a clock by whole seconds, whatever the network does', async () => {
    const skew = async () => (await member()).status?.clockSkewSeconds
    await beat({ aheadMs: 2_450 })
    const seen = [await skew()]
    for (const aheadMs of [2_550, 2_440, 2_600, -9_000, 2_500, 2_700, 2_400, -30_000, 2_300]) {
      await beats(1, { aheadMs })
      seen.push(await skew())
    }
    expect(new Set(seen)).toEqual(new Set([2]))
    await beats(1, { aheadMs: 3_400 })
    expect(await skew()).toBe(3)
    // Of four beats the fastest counts: a clock that is set back is believed after as many.
    await beats(3, { aheadMs: -200 })
    expect(await skew()).toBe(3)
    await beats(1, { aheadMs: -200 })
    expect(Object.is(await skew(), 0)).toBe(true)
  })
})
