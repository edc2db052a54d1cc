/**
 * Of several processes that serve the same, one leads: it runs what must not run twice. A leader that cannot renew its
 * lease in time stops before others may follow it, by its own steady clock; what it had sent before is refused once the
 * next term has begun, whatever the clocks say (`beginTerm`).
 */

import { formatGuard } from '../api/write-guard.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { errorText, sleep, within } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { leadershipGauge } from './instruments.ts'
import { beginTerm, LeaseLock, type LeaseName, leases } from './lease-lock.ts'

export type ElectionTiming = {
  /** For so long others wait for a leader that is not heard of. */
  readonly leaseMs: number
  /** For so long a leader tries to renew before it stops; less than `leaseMs`. */
  readonly renewDeadlineMs: number
  /** Between two tries. */
  readonly retryMs: number
}

export type ElectionOptions = {
  /** The API server of this process: who cannot write there does not lead. */
  readonly cluster: Cluster
  readonly lease: LeaseName
  /** Of this run of this process alone. */
  readonly identity: string
  readonly timing: ElectionTiming
  /** Goes on evenly. */
  readonly clock: Clock
  readonly timeOfDay: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** In [0, 1): spreads the tries of candidates. */
  readonly random?: () => number
}

/** What the leader is given: its writes have to name the guard, and to be sent only while the term is not over. */
export interface Term {
  readonly guard: string
  /** Aborts when the term is over. */
  readonly signal: AbortSignal
  /** Throws when the term is over, also when no timer has told of it yet: the process may have stood still. */
  check(): void
  /** Ends it before its time. */
  end(why: string): void
}

const jitter = 1.2

/** Runs `lead` in each term of this process, until the signal aborts; then the lease is given back. */
export async function runElection(
  options: ElectionOptions,
  lead: (term: Term) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const election = new Election(options, lead)
  await election.run(signal)
}

class Election {
  readonly #options: ElectionOptions
  readonly #lead: (term: Term) => Promise<void>
  readonly #lock: LeaseLock
  readonly #show: (isLeading: boolean) => void
  #toldHolder = ''

  constructor(options: ElectionOptions, lead: (term: Term) => Promise<void>) {
    this.#options = options
    this.#lead = lead
    this.#lock = new LeaseLock({ ...options, leaseMs: options.timing.leaseMs })
    this.#show = leadershipGauge(options.lease.name, options.metrics)
  }

  async run(signal: AbortSignal): Promise<void> {
    this.#show(false)
    while (!signal.aborted) {
      const sentAtMs = await this.#try(signal)
      this.#tellHolder()
      if (sentAtMs !== undefined) await this.#serve(sentAtMs, signal)
      await this.#pause(jitter * (this.#options.random ?? Math.random)(), signal)
    }
  }

  /** One try, which may take as long as a leader would try. */
  async #try(signal: AbortSignal): Promise<number | undefined> {
    const { clock, lease, log, timing } = this.#options
    try {
      return await within(clock, timing.renewDeadlineMs, noAnswer, inner =>
        this.#lock.acquireOrRenew(AbortSignal.any([signal, inner])),
      )
    } catch (thrown) {
      if (!signal.aborted)
        log.warn('the lease cannot be had', { lease: lease.name, error: errorText(thrown) })
      return undefined
    }
  }

  async #serve(sentAtMs: number, signal: AbortSignal): Promise<void> {
    const { clock, identity, log, timing } = this.#options
    const tenure = new Tenure(clock, timing.renewDeadlineMs, signal)
    tenure.renewed(sentAtMs)
    try {
      const guard = await this.#begin(tenure)
      if (guard === undefined) return
      tenure.guard = guard
      log.info('this process leads', { identity, guard })
      this.#show(true)
      await Promise.all([this.#work(tenure), this.#renew(tenure)])
      log.info('this process leads no more', { identity, why: errorText(tenure.signal.reason) })
    } catch (thrown) {
      if (!signal.aborted) log.warn('a term could not begin', { error: errorText(thrown) })
    } finally {
      this.#show(false)
      tenure.end('it is done')
      await this.#release()
    }
  }

  async #begin(tenure: Tenure): Promise<string | undefined> {
    const { lease } = this.#options
    const ofTerms = { namespace: lease.namespace, name: `${lease.name}-term` }
    const version = await beginTerm({ ...this.#options, lease: ofTerms }, tenure.signal)
    return version && formatGuard({ group: leases.group, resource: leases.plural }, ofTerms, version)
  }

  async #work(tenure: Tenure): Promise<void> {
    try {
      await this.#lead(tenure)
      tenure.end('its work has ended')
    } catch (thrown) {
      tenure.end(errorText(thrown))
    }
  }

  async #renew(tenure: Tenure): Promise<void> {
    while (!tenure.signal.aborted) {
      await this.#pause(0, tenure.signal)
      if (tenure.signal.aborted) return
      const sentAtMs = await this.#try(tenure.signal)
      if (sentAtMs !== undefined) tenure.renewed(sentAtMs)
      else if (this.#lock.holder !== this.#options.identity) tenure.end('another process has the lease')
    }
  }

  /** So that others need not wait, also when it is the last thing that the process does. */
  async #release(): Promise<void> {
    const { clock, log, timing } = this.#options
    try {
      await within(clock, timing.retryMs, noAnswer, signal => this.#lock.release(signal))
    } catch (thrown) {
      // Another may have it by now, for whom it is not to be given back.
      if (!isReason(thrown, 'Conflict'))
        log.warn('the lease was not given back', { error: errorText(thrown) })
    }
  }

  /** So many retry periods more than one; ends early when the signal aborts. */
  async #pause(more: number, signal: AbortSignal): Promise<void> {
    const { clock, timing } = this.#options
    await sleep(clock, timing.retryMs * (1 + more), signal).catch(() => undefined)
  }

  #tellHolder(): void {
    const { holder } = this.#lock
    if (holder === this.#toldHolder || holder === '') return
    this.#toldHolder = holder
    this.#options.log.info('the leader is', { identity: holder })
  }
}

/** A term, and until when it lasts unless it is renewed. */
class Tenure implements Term {
  guard = ''
  readonly signal: AbortSignal
  readonly #clock: Clock
  readonly #lastsMs: number
  readonly #over = new AbortController()
  #untilMs = Number.NEGATIVE_INFINITY
  #cancel: () => void = () => undefined

  constructor(clock: Clock, lastsMs: number, stop: AbortSignal) {
    this.#clock = clock
    this.#lastsMs = lastsMs
    this.signal = AbortSignal.any([stop, this.#over.signal])
    this.signal.addEventListener('abort', () => this.#cancel(), { once: true })
  }

  renewed(sentAtMs: number): void {
    if (this.signal.aborted) return
    this.#cancel()
    this.#untilMs = sentAtMs + this.#lastsMs
    this.#cancel = this.#clock.after(Math.max(0, this.#untilMs - this.#clock.now()), () => this.#expire())
  }

  check(): void {
    if (this.#clock.now() >= this.#untilMs) this.#expire()
    this.signal.throwIfAborted()
  }

  end(why: string): void {
    this.#over.abort(new Error(why))
  }

  #expire(): void {
    this.end('the lease was not renewed in time')
  }
}

function noAnswer(): Error {
  return new Error('no answer in time')
}
