/**
 * How the hub knows that a member is there. The member renews a Lease in its namespace of the hub; the hub writes down
 * when it saw that, by its own clock, and how far the member's clock is off. So no member can say when it was heard of.
 */

import type { ObjectOf } from '../api/kind.ts'
import { type LeaseKind as Kind, LeaseKind } from '../api/kinds/lease.ts'
import { type MemberCluster, MemberClusterKind } from '../api/kinds/member-cluster.ts'
import { type Condition, withCondition } from '../api/meta.ts'
import { type Change, type Cluster, type Informer, resource } from '../cluster/cluster.ts'
import { startInformer } from '../cluster/informer.ts'
import type { Family } from '../ip/address.ts'
import { background } from '../kernel/abort.ts'
import { type Clock, fromTime, toMicroTime, toTime } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import { every, WorkQueue } from '../kernel/work-queue.ts'

type Lease = ObjectOf<typeof Kind>

export type HeartbeatOptions = {
  readonly hub: Cluster
  readonly clusterId: string
  /** The namespace of the hub in which the member writes. */
  readonly namespace: string
  /** The families that Services of the cluster can have. */
  readonly families: readonly Family[]
  readonly clock: Clock
  readonly log: Logger
}

const leases = resource(LeaseKind)
const members = resource(MemberClusterKind)
const leaseName = 'heartbeat'
const familiesAnnotation = 'hub.isthmus.dev/ip-families'

const heartbeatMs = 30_000
/** A member that was not heard of for so long is no longer said to be available. */
const missedMs = 3 * heartbeatMs

/** Renews the member's lease until the signal aborts. */
export function sendHeartbeats(options: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  const { clock, log } = options
  const task = { name: 'heartbeat', intervalMs: heartbeatMs, clock, log }
  return every(task, inner => renewLease(options, inner), signal)
}

async function renewLease(options: HeartbeatOptions, signal: AbortSignal): Promise<void> {
  const { hub, clusterId, namespace, families, clock } = options
  const wanted: Lease = {
    apiVersion: leases.apiVersion,
    kind: leases.kind,
    metadata: { namespace, name: leaseName, annotations: { [familiesAnnotation]: families.join(',') } },
    spec: {
      holderIdentity: clusterId,
      leaseDurationSeconds: missedMs / 1000,
      renewTime: toMicroTime(clock.now()),
    },
  }
  try {
    const { metadata } = await hub.get(leases, { namespace, name: leaseName }, signal)
    const { annotations } = wanted.metadata
    const renewed = {
      ...wanted,
      metadata: { ...metadata, annotations: { ...metadata.annotations, ...annotations } },
    }
    await hub.replace(leases, renewed, {}, signal)
  } catch (thrown) {
    if (!isReason(thrown, 'NotFound')) throw thrown
    await hub.create(leases, wanted, signal)
  }
}

export type ObserverOptions = { readonly hub: Cluster; readonly clock: Clock; readonly log: Logger }

type Heard = { readonly atMs: number; readonly lease: Lease }

/** Keeps what MemberClusters say of heartbeats, until the signal aborts. Resolves when all members are known. */
export async function observeHeartbeats(options: ObserverOptions, signal: AbortSignal): Promise<void> {
  const { hub, clock, log } = options
  const known = startInformer(hub, members, { clock, log }, signal)
  const selection = { fieldSelector: `metadata.name=${leaseName}` }
  const renewed = startInformer(hub, leases, { ...selection, clock, log }, signal)
  await Promise.all([known.synced, renewed.synced])
  const observer = new Observer(options, known, signal)
  renewed.onChange(change => observer.onLease(change))
  const sweep = { name: 'missed heartbeats', intervalMs: heartbeatMs, clock, log }
  background(sweep.name, log, signal, () => every(sweep, async () => observer.sweep(), signal))
}

class Observer {
  readonly #options: ObserverOptions
  readonly #known: Informer<MemberCluster>
  readonly #queue: WorkQueue
  /** By cluster id: a heartbeat that is still to be written down. */
  readonly #heard = new Map<string, Heard>()

  constructor(options: ObserverOptions, known: Informer<MemberCluster>, signal: AbortSignal) {
    const { clock, log } = options
    this.#options = options
    this.#known = known
    this.#queue = new WorkQueue(
      { name: 'heartbeats', clock, log },
      (id, inner) => this.#write(id, inner),
      signal,
    )
  }

  onLease({ before, after }: Change<Lease>): void {
    if (after === undefined) return
    const member = this.#known.list().find(({ status }) => status?.namespace === after.metadata.namespace)
    if (member === undefined) return
    // What was there when the hub started is a heartbeat of an earlier time.
    const last = member.status?.lastHeartbeatTime
    if (before === undefined && last !== undefined && age(last, this.#options.clock) > heartbeatMs) return
    this.#heard.set(member.metadata.name, { atMs: this.#options.clock.now(), lease: after })
    this.#queue.add(member.metadata.name)
  }

  /** Looks for members that have fallen silent. */
  sweep(): void {
    for (const { metadata, status } of this.#known.list()) {
      const last = status?.lastHeartbeatTime
      if (last !== undefined && age(last, this.#options.clock) > missedMs) this.#queue.add(metadata.name)
    }
  }

  async #write(id: string, signal: AbortSignal): Promise<void> {
    const { hub } = this.#options
    const member = await hub.get(members, { name: id }, signal).catch((thrown: unknown) => {
      if (isReason(thrown, 'NotFound')) return undefined
      throw thrown
    })
    const heard = this.#heard.get(id)
    const status = member && this.#desired(member, heard)
    if (member !== undefined && status !== undefined) {
      await hub.replace(members, { ...member, status }, { subresource: 'status' }, signal)
    }
    if (this.#heard.get(id) === heard) this.#heard.delete(id)
  }

  /** Undefined when nothing is to be written. */
  #desired({ status = {} }: MemberCluster, heard: Heard | undefined): MemberCluster['status'] | undefined {
    const { clock } = this.#options
    if (heard !== undefined) {
      const { annotations } = heard.lease.metadata
      const families = (annotations?.[familiesAnnotation] ?? '').split(',').filter(isFamily)
      const skewMs = fromTime(heard.lease.spec?.renewTime ?? '') - heard.atMs
      return {
        ...status,
        lastHeartbeatTime: toTime(heard.atMs),
        ...(families.length === 0 ? {} : { ipFamilies: families }),
        ...(Number.isNaN(skewMs) ? {} : { clockSkewSeconds: skewSeconds(skewMs) }),
        conditions: withCondition(status.conditions ?? [], available('True', clock)),
      }
    }
    const { conditions = [], lastHeartbeatTime = '' } = status
    if (age(lastHeartbeatTime, clock) <= missedMs) return undefined
    const next = withCondition(conditions, available('Unknown', clock))
    return next === conditions ? undefined : { ...status, conditions: next }
  }
}

/** What may be the way of the message is no skew. */
function skewSeconds(skewMs: number): number {
  return Math.abs(skewMs) < 2_000 ? 0 : Math.round(skewMs / 1000)
}

function isFamily(text: string): text is Family {
  return text === 'IPv4' || text === 'IPv6'
}

function age(time: string, clock: Clock): number {
  return clock.now() - fromTime(time)
}

function available(status: 'True' | 'Unknown', clock: Clock): Condition {
  const heard = status === 'True'
  return {
    type: 'Available',
    status,
    reason: heard ? 'Heartbeat' : 'HeartbeatMissed',
    message: heard ? '' : `the member was not heard of for ${missedMs / 1000} s`,
    lastTransitionTime: toTime(clock.now()),
  }
}
