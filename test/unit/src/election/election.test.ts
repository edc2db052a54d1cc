import { describe, expect, it } from 'vitest'
import { LeaseKind } from '../../../../src/api/kinds/lease.ts'
import type { Cluster } from '../../../../src/cluster/cluster.ts'
import { resource } from '../../../../src/cluster/cluster.ts'
import { MemoryCluster } from '../../../../src/cluster/memory.ts'
import { runElection, type Term } from '../../../../src/election/election.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { type ManualClock, manualClock, settled } from '../../../support/manual-clock.ts'

const lease = { namespace: 'kube-system', name: 'isthmus-hub' }
const ofTerms = { namespace: 'kube-system', name: 'isthmus-hub-term' }
const leases = resource(LeaseKind)
const timing = { leaseMs: 15_000, renewDeadlineMs: 10_000, retryMs: 2_000 }
const shownAs = /^leader_election_master_status\{name="isthmus-hub"\} (\d)$/m

type Candidate = {
  /** The term that runs now. */
  readonly term: Term | undefined
  readonly terms: readonly string[]
  readonly clock: ManualClock
  isCutOff: boolean
  stop(): Promise<void>
  shown(): Promise<number>
}

/** A process with a clock of its own, which asks the cluster for the lease. */
function candidate(identity: string, shared: MemoryCluster, clock: ManualClock): Candidate {
  const stop = new AbortController()
  const metrics = prometheus()
  const terms: string[] = []
  let term: Term | undefined
  const self = {
    get term() {
      return term
    },
    terms,
    clock,
    isCutOff: false,
    stop: async () => {
      stop.abort()
      await ended
    },
    shown: async () => Number(shownAs.exec(await metrics.text())?.[1]),
  }
  const lead = (begun: Term): Promise<void> => {
    term = begun
    terms.push(begun.guard)
    return new Promise(resolve =>
      begun.signal.addEventListener('abort', () => {
        term = undefined
        resolve()
      }),
    )
  }
  const cluster = cutOffWhen(shared, () => self.isCutOff)
  const options = { cluster, lease, identity, timing, clock, timeOfDay: clock, log: silentLogger, metrics }
  const ended = runElection({ ...options, random: () => 0 }, lead, stop.signal)
  return self
}

function cutOffWhen(cluster: MemoryCluster, isCutOff: () => boolean): Cluster {
  const reached = <A extends unknown[], R>(call: (...args: A) => Promise<R>) => {
    return async (...args: A): Promise<R> => {
      if (isCutOff()) throw unavailable('cut off')
      return call(...args)
    }
  }
  return Object.assign(Object.create(cluster), {
    name: cluster.name,
    get: reached(cluster.get.bind(cluster)),
    create: reached(cluster.create.bind(cluster)),
    replace: reached(cluster.replace.bind(cluster)),
  })
}

function aCluster(clock: ManualClock): MemoryCluster {
  return new MemoryCluster({ name: 'hub', clock })
}

describe('an election', () => {
  it('lets one of two lead, who writes down that its term begins', async () => {
    const clock = manualClock()
    const cluster = aCluster(clock)
    const [a, b] = [candidate('a', cluster, clock), candidate('b', cluster, clock)]
    await clock.advance(60_000)
    expect([a.terms.length, b.terms.length]).toEqual([1, 0])
    expect([await a.shown(), await b.shown()]).toEqual([1, 0])
    const { spec } = await cluster.get(leases, lease, never)
    expect(spec).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 0 })
    const term = await cluster.get(leases, ofTerms, never)
    expect(a.terms).toEqual([
      `leases.coordination.k8s.io/kube-system/isthmus-hub-term@${term.metadata.resourceVersion}`,
    ])
    await Promise.all([a.stop(), b.stop()])
  })

  it('gives the lease back on a stop, so that another follows at its next try', async () => {
    const clock = manualClock()
    const cluster = aCluster(clock)
    const [a, b] = [candidate('a', cluster, clock), candidate('b', cluster, clock)]
    await clock.advance(5_000)
    await a.stop()
    expect((await cluster.get(leases, lease, never)).spec?.holderIdentity).toBe('')
    expect(await a.shown()).toBe(0)
    await clock.advance(timing.retryMs)
    expect(b.term).toBeDefined()
    expect((await cluster.get(leases, lease, never)).spec?.leaseTransitions).toBe(1)
    await b.stop()
  })

  it('stops a leader that cannot renew before another may begin', async () => {
    const clock = manualClock()
    const cluster = aCluster(clock)
    const [a, b] = [candidate('a', cluster, clock), candidate('b', cluster, clock)]
    await clock.advance(20_000)
    const first = a.term
    a.isCutOff = true
    // The last renewal was at most one retry ago.
    for (let waited = 0; waited < 30_000 && b.term === undefined; waited += 100) {
      await clock.advance(100)
      if (waited >= timing.renewDeadlineMs) expect(first?.signal.aborted).toBe(true)
      expect(a.term === undefined || b.term === undefined).toBe(true)
    }
    expect(b.term).toBeDefined()
    a.isCutOff = false
    await clock.advance(30_000)
    expect([a.terms.length, b.terms.length]).toEqual([1, 1])
    await Promise.all([a.stop(), b.stop()])
  })

  it('goes by its own clock, not by the times that others wrote', async () => {
    const [early, late] = [manualClock(), manualClock(Date.parse('2031-01-01T00:00:00Z'))]
    const cluster = aCluster(early)
    const a = candidate('a', cluster, early)
    await settled()
    const b = candidate('b', cluster, late)
    for (let second = 0; second < 40; second++) {
      await early.advance(1_000)
      await late.advance(1_000)
    }
    expect([a.terms.length, b.terms.length]).toEqual([1, 0])
    await Promise.all([a.stop(), b.stop()])
  })

  it('waits for the whole duration since it saw the record itself', async () => {
    const clock = manualClock()
    const cluster = aCluster(clock)
    const a = candidate('a', cluster, clock)
    await settled()
    a.isCutOff = true
    // Whoever comes now knows nothing of when the record was written.
    const b = candidate('b', cluster, clock)
    await clock.advance(timing.leaseMs - 1_000)
    expect(b.terms).toEqual([])
    await clock.advance(timing.retryMs)
    expect(b.terms.length).toBe(1)
    await Promise.all([a.stop(), b.stop()])
  })

  it('knows that a term is over after it stood still, before any timer tells', async () => {
    const clocks = [manualClock(), manualClock()] as const
    const cluster = aCluster(clocks[0])
    const a = candidate('a', cluster, clocks[0])
    await settled()
    const first = a.term
    expect(() => first?.check()).not.toThrow()
    // It stands still: its timers do not run, its clock goes on.
    Object.assign(clocks[0], { now: () => Date.parse('2026-01-02T03:04:05Z') + 60_000 })
    expect(() => first?.check()).toThrow('the lease was not renewed in time')
    expect(first?.signal.aborted).toBe(true)
    await a.stop()
  })

  it('begins another term when it was told that its own is over', async () => {
    const clock = manualClock()
    const cluster = aCluster(clock)
    const a = candidate('a', cluster, clock)
    await settled()
    a.term?.end('another term has begun')
    await clock.advance(timing.retryMs)
    expect(a.terms.length).toBe(2)
    expect(new Set(a.terms).size).toBe(2)
    await a.stop()
  })

  it('does not begin a term on a server that is away', async () => {
    const clock = manualClock()
    const a = candidate('a', aCluster(clock), clock)
    a.isCutOff = true
    await clock.advance(30_000)
    expect(a.terms).toEqual([])
    a.isCutOff = false
    await clock.advance(timing.retryMs)
    expect(a.terms.length).toBe(1)
    await a.stop()
  })
})
