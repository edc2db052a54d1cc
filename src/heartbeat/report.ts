/**
 * Stage `heartbeat`, in a member. Owns the member's Lease on the hub.
 * Promises: a beat every interval while the hub can be reached, and one line in the log when it is lost and when it is
 * back. A hub that is away is asked again with growing delays, and a beat is never waited for longer than an interval.
 */
import type { Cluster } from '../cluster/cluster.ts'
import type { Family } from '../ip/address.ts'
import { errorText, sleep, within } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { isReason, unavailable } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { heartbeatName, type Lease, leaseOf, leases, type Networks } from './lease.ts'

type ReportOptions = {
  /** The id of this cluster. */
  readonly cluster: string
  readonly hub: Cluster
  /** The namespace of the hub in which this member writes. */
  readonly hubNamespace: string
  /** The families that Services of this cluster can have. */
  readonly families: readonly Family[]
  /** The blocks of addresses that this cluster uses by itself, as they are known by now. */
  networks(): Networks
  /** The authorities of the hub that this cluster trusts, by name. */
  trusts(): readonly string[]
  readonly intervalMs: number
  readonly clock: Clock
  readonly log: Logger
  /** In [0, 1): spreads the beats of many members. */
  readonly random?: () => number
}

const firstRetryMs = 1_000
const maxRetryMs = 30_000

/** Beats until the signal aborts. */
export async function reportHeartbeats(options: ReportOptions, signal: AbortSignal): Promise<void> {
  const reporter = new Reporter(options)
  for (;;) {
    const delayMs = await reporter.beat(signal)
    await sleep(options.clock, delayMs, signal)
  }
}

class Reporter {
  readonly #options: ReportOptions
  readonly #random: () => number
  /** As the hub answered last; undefined when it has to be asked. */
  #lease: Lease | undefined
  #failures = 0

  constructor(options: ReportOptions) {
    this.#options = options
    this.#random = options.random ?? Math.random
  }

  /** One beat; answers when the next one is due. */
  async beat(signal: AbortSignal): Promise<number> {
    const { intervalMs, log } = this.#options
    try {
      await this.#renew(signal)
    } catch (thrown) {
      signal.throwIfAborted()
      if (this.#failures === 0) log.info('the hub is lost', { error: errorText(thrown) })
      const delayMs = Math.min(firstRetryMs * 2 ** Math.min(this.#failures, 16), maxRetryMs)
      this.#failures += 1
      return delayMs * (0.5 + this.#random() / 2)
    }
    if (this.#failures > 0) log.info('the hub is back', { failures: this.#failures })
    this.#failures = 0
    return intervalMs * (0.9 + this.#random() / 5)
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, intervalMs } = this.#options
    const late = (): Error => unavailable(`the hub has not answered for ${intervalMs} ms`)
    await within(clock, intervalMs, late, inner => this.#write(AbortSignal.any([signal, inner])))
  }

  /** One request as a rule: over the Lease that the hub answered last. */
  async #write(signal: AbortSignal): Promise<void> {
    const { hub } = this.#options
    const known = this.#lease
    // When it fails nobody knows what the hub holds.
    this.#lease = undefined
    try {
      const there = known ?? (await this.#find(signal))
      const wanted = this.#wanted(there)
      this.#lease =
        there === undefined
          ? await hub.create(leases, wanted, signal)
          : await hub.replace(leases, wanted, {}, signal)
    } catch (thrown) {
      // Somebody has changed or removed it meanwhile: once more, over what is there now.
      if (known === undefined || !isReason(thrown, 'Conflict', 'NotFound')) throw thrown
      await this.#write(signal)
    }
  }

  async #find(signal: AbortSignal): Promise<Lease | undefined> {
    const { hub, hubNamespace } = this.#options
    try {
      return await hub.get(leases, { namespace: hubNamespace, name: heartbeatName }, signal)
    } catch (thrown) {
      if (isReason(thrown, 'NotFound')) return undefined
      throw thrown
    }
  }

  #wanted(there: Lease | undefined): Lease {
    const { clock, cluster, families, hubNamespace, intervalMs, networks, trusts } = this.#options
    const timeMs = clock.now()
    const known = { families, networks: networks(), trusts: trusts() }
    const beat = { cluster, namespace: hubNamespace, ...known, intervalMs, timeMs }
    return leaseOf(beat, there)
  }
}
