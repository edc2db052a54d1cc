import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MemoryCluster, type MemoryRequest } from '../../../../src/cluster/memory.ts'
import { type Lease, leases } from '../../../../src/heartbeat/lease.ts'
import { reportHeartbeats } from '../../../../src/heartbeat/report.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { toMicroTime } from '../../../../src/kernel/clock.ts'
import { forbidden, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { type ManualClock, manualClock, settled } from '../../../support/manual-clock.ts'

const ref = { namespace: 'member-east', name: 'heartbeat' }

describe('a member', () => {
  let clock: ManualClock
  let log: ReturnType<typeof memoryLogger>
  let hub: MemoryCluster
  let requests: MemoryRequest[]
  let answer: () => void | Promise<void>
  let random: number
  let running: AbortController

  beforeEach(() => {
    clock = manualClock()
    log = memoryLogger()
    requests = []
    answer = () => undefined
    random = 0.5
    running = new AbortController()
    hub = new MemoryCluster({
      name: 'hub',
      clock,
      intercept: request => {
        requests.push(request)
        return answer()
      },
    })
  })
  afterEach(() => running.abort())

  async function start(): Promise<void> {
    const report = {
      cluster: 'east',
      hub,
      hubNamespace: 'member-east',
      families: ['IPv4', 'IPv6'] as const,
      networks: () => ({ services: ['10.96.0.0/16'], pods: ['10.244.0.0/16'] }),
      trusts: () => ['abc', 'def'],
      intervalMs: 10_000,
      clock,
      log,
      random: () => random,
    }
    reportHeartbeats(report, running.signal).catch(() => undefined)
    await settled()
  }

  /** What was asked since this was called last. */
  const verbs = (): readonly string[] => requests.splice(0).map(request => request.verb)
  const renewed = async (): Promise<string | undefined> => (await hub.get(leases, ref, never)).spec?.renewTime
  const lines = (): readonly string[] => log.lines.map(({ level, message }) => `${level}: ${message}`)

  it('renews its Lease with the families of its cluster, each time with one request', async () => {
    await start()
    expect(verbs()).toEqual(['get', 'create'])
    expect(await hub.get(leases, ref, never)).toMatchObject({
      metadata: {
        annotations: {
          'hub.isthmus.dev/ip-families': 'IPv4,IPv6',
          'hub.isthmus.dev/service-cidrs': '10.96.0.0/16',
          'hub.isthmus.dev/pod-cidrs': '10.244.0.0/16',
          'hub.isthmus.dev/trusts': 'abc,def',
        },
      },
      spec: {
        holderIdentity: 'east',
        leaseDurationSeconds: 40,
        renewTime: '2026-01-02T03:04:05.000000Z',
      },
    })
    verbs()
    await clock.advance(30_000)
    expect(verbs()).toEqual(['replace', 'replace', 'replace'])
    expect(await renewed()).toBe('2026-01-02T03:04:35.000000Z')
    expect(lines()).toEqual([])
  })

  it('beats a little sooner or later than others', async () => {
    random = 0
    await start()
    verbs()
    await clock.advance(8_999)
    expect(verbs()).toEqual([])
    random = 0.999
    await clock.advance(1)
    expect(verbs()).toEqual(['replace'])
    await clock.advance(10_990)
    expect(verbs()).toEqual([])
    await clock.advance(10)
    expect(verbs()).toEqual(['replace'])
  })

  it('asks a hub that is away ever more rarely, and says once that it is lost and once that it is back', async () => {
    await start()
    answer = () => {
      throw unavailable('nobody listens')
    }
    verbs()
    await clock.advance(10_000)
    // Delays of 0.75, 1.5, 3, 6, 12 s, and 22.5 s from then on.
    await clock.advance(23_250)
    expect(verbs()).toHaveLength(6)
    await clock.advance(90_000)
    expect(verbs()).toHaveLength(4)
    expect(log.lines).toEqual([
      { level: 'info', message: 'the hub is lost', fields: { error: 'nobody listens' } },
    ])
    answer = () => undefined
    await clock.advance(22_500)
    expect(lines()).toEqual(['info: the hub is lost', 'info: the hub is back'])
    expect(await renewed()).toBe(toMicroTime(clock.now()))
    verbs()
    await clock.advance(10_000)
    expect(verbs()).toEqual(['replace'])
  })

  it('goes on when somebody changed or removed its Lease', async () => {
    await start()
    const there: Lease = await hub.get(leases, ref, never)
    const labels = { kept: 'yes' }
    await hub.replace(leases, { ...there, metadata: { ...there.metadata, labels } }, {}, never)
    await clock.advance(10_000)
    expect(await hub.get(leases, ref, never)).toMatchObject({
      metadata: { labels },
      spec: { renewTime: toMicroTime(clock.now()) },
    })
    await hub.delete(leases, ref, { signal: never })
    await clock.advance(10_000)
    expect(await renewed()).toBe(toMicroTime(clock.now()))
    expect(lines()).toEqual([])
  })

  it('does not wait for a hub that never answers', async () => {
    await start()
    hub.replace = (_resource, _object, _options, signal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    await clock.advance(20_000)
    expect(log.lines).toMatchObject([
      { message: 'the hub is lost', fields: { error: 'the hub has not answered for 10000 ms' } },
    ])
  })

  it('that was evicted says why, and goes on asking', async () => {
    answer = () => {
      throw forbidden(
        { group: leases.group, resource: leases.plural },
        'heartbeat',
        'cluster "east" is not accepted',
      )
    }
    await start()
    expect(log.lines).toMatchObject([
      { message: 'the hub is lost', fields: { error: expect.stringContaining('is not accepted') } },
    ])
    answer = () => undefined
    await clock.advance(1_000)
    expect(lines()).toEqual(['info: the hub is lost', 'info: the hub is back'])
  })
})
