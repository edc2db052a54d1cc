/**
 * Stage `heartbeat`, on the hub. Owns what the status of a MemberCluster says of its member's heartbeats.
 * Promises: all times are of the hub's clock; a member that falls silent, or is back, is told of in its condition and in an
 * Event; a MemberCluster is written when something changed and otherwise once in three beats, so that its watchers have
 * rest.
 * Refuses: beats of earlier times. After a start of the hub a member is silent only when the hub has listened for long
 * enough, and its lease has lapsed only when others were heard meanwhile.
 */
import { conditionOf, type MemberCluster, MemberClusterKind } from '../api/kinds/member-cluster.ts'
import type { Condition } from '../api/meta.ts'
import { type Change, type Informer, resource } from '../cluster/cluster.ts'
import type { EventRecorder } from '../cluster/event-recorder.ts'
import type { Writer } from '../cluster/writer.ts'
import { type Clock, fromTime } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { desiredStatus, type Heard } from './desired.ts'
import { Hearing } from './hearing.ts'
import { type Lease, readLease } from './lease.ts'

type ObserveOptions = {
  readonly memberClusters: Informer<MemberCluster>
  /** The blocks of ClusterSetIPs. */
  pools(): readonly string[]
  /** To the hub. */
  readonly writer: Writer
  readonly events: EventRecorder
  readonly clock: Clock
  readonly log: Logger
}

/** A member's last beat, and how far its clock was ahead at this and some earlier ones. */
type Known = Heard & { readonly offsetsMs: readonly number[] }

const memberClusters = resource(MemberClusterKind)
/** What Events say of conditions without a message. */
const goodNews: Readonly<Record<string, string>> = {
  Heartbeat: 'the member sends heartbeats',
  NoOverlap: 'no pool of ClusterSetIPs overlaps addresses of the cluster any more',
}
/** A beat that was long under way makes the member's clock look late: of so many beats the fastest counts. */
const offsetsKept = 4

/** Keys are ids of clusters. */
export class MemberObserver {
  readonly #options: ObserveOptions
  readonly #sinceMs: number
  readonly #known = new Map<string, Known>()
  readonly #hearing = new Hearing()

  constructor(options: ObserveOptions) {
    this.#options = options
    this.#sinceMs = options.clock.now()
  }

  /** Takes note of a beat and answers whose it is; undefined when the change is none. */
  hear({ before, after }: Change<Lease>): string | undefined {
    const reading = after && readLease(after)
    if (after === undefined || reading === undefined || !this.#isNew(before, after)) return undefined
    const { cluster, families, networks, silenceMs, timeMs } = reading
    const atMs = this.#options.clock.now()
    const earlier = this.#known.get(cluster)?.offsetsMs ?? []
    const offsetsMs = Number.isNaN(timeMs) ? [] : [...earlier, timeMs - atMs].slice(-offsetsKept)
    const skewMs = offsetsMs.length === 0 ? undefined : Math.max(...offsetsMs)
    this.#hearing.beat(atMs, silenceMs)
    this.#known.set(cluster, { atMs, silenceMs, families, networks, skewMs, offsetsMs })
    return cluster
  }

  /** For when there is no such member any more. */
  forget(id: string): void {
    this.#known.delete(id)
  }

  /** Those that should have been heard of and were not. */
  silent(): readonly string[] {
    const { clock } = this.#options
    const ids = this.#options.memberClusters.list().map(({ metadata }) => metadata.name)
    return ids.filter(id => {
      const known = this.#known.get(id)
      return known === undefined || clock.now() - known.atMs >= known.silenceMs
    })
  }

  async reconcile(id: string, signal: AbortSignal): Promise<void> {
    const { clock, pools, writer } = this.#options
    const member = this.#options.memberClusters.get({ name: id })
    if (member === undefined) return
    const times = { nowMs: clock.now(), sinceMs: this.#sinceMs, hearing: this.#hearing, pools: pools() }
    const status = desiredStatus(member, this.#known.get(id), times)
    if (status === undefined) return
    const written = await writer.replace(
      memberClusters,
      { ...member, status },
      { subresource: 'status' },
      signal,
    )
    if (written === undefined) return
    for (const told of changesOf(member.status, status)) await this.#tell(written, told, signal)
  }

  async #tell(member: MemberCluster, { type, status, reason, message }: Condition, signal: AbortSignal) {
    const { events, log } = this.#options
    const isBad = type === 'Available' ? status === 'Unknown' : status === 'False'
    const line = { member: member.metadata.name, reason }
    if (type === 'Available') log.info('availability of a member changed', { ...line, available: status })
    else
      log[isBad ? 'warn' : 'info'](`addresses of a member ${isBad ? 'clash' : 'clash no more'}`, {
        ...line,
        message,
      })
    const text = message || goodNews[reason] || reason
    await events.record(member, { type: isBad ? 'Warning' : 'Normal', reason, message: text }, signal)
  }

  /** What the Leases were when the hub started is of an earlier time; when they were created is told by the hub. */
  #isNew(before: Lease | undefined, after: Lease): boolean {
    if (before !== undefined) return before.spec?.renewTime !== after.spec?.renewTime
    const startedMs = Math.floor(this.#sinceMs / 1_000) * 1_000
    return fromTime(after.metadata.creationTimestamp ?? '') >= startedMs
  }
}

/**
 * Conditions that say something else now. That nothing overlaps is no news, unless something did; what overlaps besides is,
 * while since when nothing was heard is none.
 */
function changesOf(before: MemberCluster['status'], after: MemberCluster['status']): readonly Condition[] {
  return (['Available', 'AddressesApart'] as const).flatMap(type => {
    const [old, now] = [conditionOf(before, type), conditionOf(after, type)]
    const isSame = now?.status === old?.status && now?.reason === old?.reason
    if (now === undefined || (isSame && (type === 'Available' || now.message === old?.message))) return []
    return type === 'AddressesApart' && old === undefined && now.status === 'True' ? [] : [now]
  })
}
