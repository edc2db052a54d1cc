/** A Lease as candidates take, renew and give it back, as client-go does it (`tools/leaderelection`). */
import type { ObjectOf } from '../api/kind.ts'
import { LeaseKind } from '../api/kinds/lease.ts'
import { type Cluster, resource } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'
import { type Clock, toMicroTime } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'

export type Lease = ObjectOf<typeof LeaseKind>
export type LeaseName = { readonly namespace: string; readonly name: string }

export const leases = resource(LeaseKind)

export type LockOptions = {
  readonly cluster: Cluster
  readonly lease: LeaseName
  readonly identity: string
  readonly leaseMs: number
  /** Goes on evenly: what is decided by. */
  readonly clock: Clock
  /** For the times that are written, which nobody goes by. */
  readonly timeOfDay: Clock
}

/**
 * The times in the Lease are those of other machines: a lease counts as held for its duration since this candidate itself
 * has seen the record change, by its own clock. So clocks may be apart, as long as they go at nearly one pace.
 */
export class LeaseLock {
  readonly #options: LockOptions
  #observed: Lease | undefined
  #observedAtMs = Number.NEGATIVE_INFINITY

  constructor(options: LockOptions) {
    this.#options = options
  }

  /** Who holds it, as far as is known; empty for nobody. */
  get holder(): string {
    return this.#observed?.spec?.holderIdentity ?? ''
  }

  /**
   * Takes the lease when nobody has it, or renews it. Answers when the request was sent that did it, from which on it is
   * held; undefined when another has it. Throws what the server says.
   */
  async acquireOrRenew(signal: AbortSignal): Promise<number | undefined> {
    const known = this.#observed
    if (known !== undefined && this.holder === this.#options.identity) {
      const sentAtMs = await this.#write(known, signal)
      if (sentAtMs !== undefined) return sentAtMs
    }
    const found = await find(this.#options, signal)
    this.#observe(found)
    return this.#isHeldByAnother() ? undefined : this.#write(found, signal)
  }

  /** Others need not wait until it runs out. */
  async release(signal: AbortSignal): Promise<void> {
    const { cluster, identity, timeOfDay } = this.#options
    const observed = this.#observed
    if (observed === undefined || this.holder !== identity) return
    const time = toMicroTime(timeOfDay.now())
    const spec = {
      ...observed.spec,
      holderIdentity: '',
      leaseDurationSeconds: 1,
      renewTime: time,
      acquireTime: time,
    }
    this.#observe(await cluster.replace(leases, { ...observed, spec }, {}, signal))
  }

  #observe(found: Lease | undefined): void {
    if (found === undefined || !equalJson(found.spec, this.#observed?.spec)) {
      this.#observedAtMs = this.#options.clock.now()
    }
    this.#observed = found
  }

  #isHeldByAnother(): boolean {
    const { clock, identity } = this.#options
    if (this.holder === '' || this.holder === identity) return false
    const heldMs = (this.#observed?.spec?.leaseDurationSeconds ?? 0) * 1_000
    return clock.now() - this.#observedAtMs < heldMs
  }

  /** Over exactly what was found: of several candidates one succeeds. */
  async #write(found: Lease | undefined, signal: AbortSignal): Promise<number | undefined> {
    const { clock, timeOfDay } = this.#options
    const sentAtMs = clock.now()
    const wanted = this.#wanted(found, toMicroTime(timeOfDay.now()))
    try {
      this.#observe(await put(this.#options, found, wanted, signal))
      return sentAtMs
    } catch (thrown) {
      if (isReason(thrown, 'Conflict', 'AlreadyExists', 'NotFound')) return undefined
      throw thrown
    }
  }

  #wanted(found: Lease | undefined, time: string): NonNullable<Lease['spec']> {
    const { identity, leaseMs } = this.#options
    const { spec } = found ?? {}
    const isMine = spec?.holderIdentity === identity
    const transitions = spec?.leaseTransitions ?? 0
    return {
      ...spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(leaseMs / 1_000),
      renewTime: time,
      acquireTime: (isMine ? spec.acquireTime : undefined) ?? time,
      leaseTransitions: isMine || found === undefined ? transitions : transitions + 1,
    }
  }
}

const header = { apiVersion: leases.apiVersion, kind: leases.kind }

type Place = Pick<LockOptions, 'cluster' | 'lease'>

async function find({ cluster, lease }: Place, signal: AbortSignal): Promise<Lease | undefined> {
  try {
    return await cluster.get(leases, lease, signal)
  } catch (thrown) {
    if (isReason(thrown, 'NotFound')) return undefined
    throw thrown
  }
}

/** Over exactly what was found. */
function put(
  { cluster, lease }: Place,
  found: Lease | undefined,
  spec: NonNullable<Lease['spec']>,
  signal: AbortSignal,
): Promise<Lease> {
  if (found === undefined) return cluster.create(leases, { ...header, metadata: lease, spec }, signal)
  return cluster.replace(leases, { ...found, spec }, {}, signal)
}

/**
 * Writes down that a term begins and answers the revision of that: from then on no write of an earlier term is carried
 * out, since those depend on the revision that was there before. Undefined when somebody else began one meanwhile.
 */
export async function beginTerm(
  { identity, timeOfDay, ...place }: Place & Pick<LockOptions, 'identity' | 'timeOfDay'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const time = toMicroTime(timeOfDay.now())
  try {
    const found = await find(place, signal)
    const leaseTransitions = (found?.spec?.leaseTransitions ?? 0) + 1
    const spec = { holderIdentity: identity, acquireTime: time, renewTime: time, leaseTransitions }
    return (await put(place, found, spec, signal)).metadata.resourceVersion
  } catch (thrown) {
    if (isReason(thrown, 'Conflict', 'AlreadyExists')) return undefined
    throw thrown
  }
}
