/** What a MemberCluster says of its member's heartbeats. Pure. */

import { hasLapsed, type MemberCluster, type memberClusterConditions } from '../api/kinds/member-cluster.ts'
import { type Condition, withCondition } from '../api/meta.ts'
import type { Verdict } from '../api/verdict.ts'
import { equalJson } from '../cluster/json.ts'
import type { Family } from '../ip/address.ts'
import { fromTime, toTime } from '../kernel/clock.ts'
import type { Hearing } from './hearing.ts'
import type { Networks } from './lease.ts'
import { apartness } from './overlap.ts'

/** The last beat of a member that this process has heard. */
export type Heard = {
  /** By the hub's clock, in milliseconds. */
  readonly atMs: number
  /** How far the member's clock is ahead, in milliseconds; undefined when it named no time. */
  readonly skewMs: number | undefined
  /** Without a beat for so long it is silent. */
  readonly silenceMs: number
  readonly families: readonly Family[]
  readonly networks: Networks | undefined
}

type Times = {
  readonly nowMs: number
  /** Since when this process listens: before that nobody was silent. */
  readonly sinceMs: number
  readonly hearing: Hearing
  /** The blocks of ClusterSetIPs. */
  readonly pools: readonly string[]
}

type Status = NonNullable<MemberCluster['status']>
type Available = Verdict<typeof memberClusterConditions, 'Available'>

/** Of a member that was not heard of since this process listens. */
const unheardSilenceMs = 40_000
/** While nothing else changes, the time of the last beat is written so often. */
const refreshMs = 30_000
/** Half a second to round, and a margin, so that jitter does not turn the number back and forth. */
const skewToleranceMs = 750

type Type = keyof typeof memberClusterConditions

/** The status as it should be; undefined when there is nothing to write. */
export function desiredStatus(
  member: MemberCluster,
  heard: Heard | undefined,
  times: Times,
): Status | undefined {
  const { status = {} } = member
  const said = verdict(member, heard, times)
  const networks = networksOf(status, heard)
  const available = withVerdict(status.conditions, 'Available', said, times.nowMs)
  const apart = networks && apartness(times.pools, networks)
  const conditions = withVerdict(available, 'AddressesApart', apart, times.nowMs)
  const families = familiesOf(status, heard)
  const skew = skewOf(status, heard)
  const isSame =
    conditions === status.conditions &&
    families === status.ipFamilies &&
    skew === status.clockSkewSeconds &&
    equalJson(networks?.services, status.serviceCIDRs) &&
    equalJson(networks?.pods, status.podCIDRs) &&
    !isStale(status, heard)
  if (isSame) return undefined
  return {
    ...status,
    ...(heard === undefined ? {} : { lastHeartbeatTime: toTime(heard.atMs) }),
    ...(families === undefined ? {} : { ipFamilies: families }),
    ...(skew === undefined ? {} : { clockSkewSeconds: skew }),
    ...(networks === undefined ? {} : { serviceCIDRs: networks.services, podCIDRs: networks.pods }),
    ...(conditions === undefined ? {} : { conditions }),
  }
}

/** As the member told last. */
function networksOf({ podCIDRs = [], serviceCIDRs }: Status, heard: Heard | undefined): Networks | undefined {
  return heard?.networks ?? (serviceCIDRs && { services: serviceCIDRs, pods: podCIDRs })
}

/** Undefined while it is not known yet: then what was said before stands. */
function verdict(
  { metadata, spec, status }: MemberCluster,
  heard: Heard | undefined,
  { hearing, nowMs, sinceMs }: Times,
): Available | undefined {
  if (!spec.accepted) {
    return { status: 'False', reason: 'NotAccepted', message: 'every request of the member is refused' }
  }
  const bornMs = fromTime(metadata.creationTimestamp ?? '')
  const fromMs = heard?.atMs ?? Math.max(sinceMs, Number.isNaN(bornMs) ? sinceMs : bornMs)
  const leaseMs = heard?.silenceMs ?? unheardSilenceMs
  const isSilent = nowMs - fromMs >= leaseMs
  if (!isSilent) return heard && { status: 'True', reason: 'Heartbeat', message: '' }
  const last = heard === undefined ? status?.lastHeartbeatTime : toTime(heard.atMs)
  if (last === undefined) {
    return { status: 'Unknown', reason: 'NeverHeard', message: 'the member has joined and sent no heartbeat' }
  }
  const message = `no heartbeat since ${last}`
  // A member that is known to be gone stays so until it is heard, whatever becomes of the hub meanwhile.
  if (hasLapsed(status) || hearing.hasLapsed(fromMs, leaseMs, nowMs)) {
    return { status: 'Unknown', reason: 'HeartbeatMissed', message }
  }
  return {
    status: 'Unknown',
    reason: 'NothingHeard',
    message: `${message}, nor of other members: the hub may be cut off, so the endpoints of the cluster stay`,
  }
}

function withVerdict(
  conditions: Status['conditions'],
  type: Type,
  said: Pick<Condition, 'status' | 'reason' | 'message'> | undefined,
  nowMs: number,
): Status['conditions'] {
  if (said === undefined) return conditions
  const condition = { type, ...said, lastTransitionTime: toTime(nowMs) }
  const before = conditions ?? []
  const after = withCondition(before, condition)
  return after === before ? conditions : after
}

function familiesOf({ ipFamilies }: Status, heard: Heard | undefined): Status['ipFamilies'] {
  if (heard === undefined || heard.families.length === 0) return ipFamilies
  return equalJson(ipFamilies, heard.families) ? ipFamilies : heard.families
}

function skewOf({ clockSkewSeconds }: Status, heard: Heard | undefined): Status['clockSkewSeconds'] {
  const skewMs = heard?.skewMs
  if (skewMs === undefined) return clockSkewSeconds
  const isNear =
    clockSkewSeconds !== undefined && Math.abs(skewMs - Number(clockSkewSeconds) * 1_000) <= skewToleranceMs
  // There is no -0 in JSON.
  return isNear ? clockSkewSeconds : Math.round(skewMs / 1_000) + 0
}

function isStale({ lastHeartbeatTime = '' }: Status, heard: Heard | undefined): boolean {
  if (heard === undefined) return false
  const writtenMs = fromTime(lastHeartbeatTime)
  return Number.isNaN(writtenMs) || heard.atMs - writtenMs >= refreshMs
}
