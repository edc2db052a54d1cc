/**
 * A heartbeat as it travels: a Lease in the member's namespace of the hub, which nobody but the hub itself watches. So a
 * member never writes what others read of it, and its beats disturb no watch of MemberClusters.
 */
import { memberNamespace } from '../api/cluster-id.ts'
import type { ObjectOf } from '../api/kind.ts'
import { LeaseKind } from '../api/kinds/lease.ts'
import { resource } from '../cluster/cluster.ts'
import type { Family } from '../ip/address.ts'
import { parseCidr } from '../ip/cidr.ts'
import { fromTime, toMicroTime } from '../kernel/clock.ts'

export type Lease = ObjectOf<typeof LeaseKind>

export const leases = resource(LeaseKind)
/** The name of the Lease in every member's namespace. */
export const heartbeatName = 'heartbeat'

const familiesAnnotation = 'hub.isthmus.dev/ip-families'
const trustsAnnotation = 'hub.isthmus.dev/trusts'
const servicesAnnotation = 'hub.isthmus.dev/service-cidrs'
const podsAnnotation = 'hub.isthmus.dev/pod-cidrs'
/** Of each of both, in one Lease. */
const maxBlocks = 64
/** So many beats may be lost before the member counts as silent. */
const beatsPerLease = 4
const maxSilenceMs = 3_600_000

/** Blocks of addresses that a cluster uses by itself, as far as it knows. */
export type Networks = {
  /** Of its Services. */
  readonly services: readonly string[]
  readonly pods: readonly string[]
}

type Beat = {
  readonly cluster: string
  /** The namespace of the hub in which the member writes. */
  readonly namespace: string
  readonly families: readonly Family[]
  readonly networks: Networks
  /** The authorities of the hub that the member trusts, by name. */
  readonly trusts: readonly string[]
  readonly intervalMs: number
  /** By the member's clock. */
  readonly timeMs: number
}

/** The Lease as it is to be written, over `there` if it is there. */
export function leaseOf(beat: Beat, there: Lease | undefined): Lease {
  const metadata = there?.metadata ?? { namespace: beat.namespace, name: heartbeatName }
  return {
    apiVersion: leases.apiVersion,
    kind: leases.kind,
    metadata: {
      ...metadata,
      annotations: {
        ...metadata.annotations,
        [familiesAnnotation]: beat.families.join(','),
        [servicesAnnotation]: beat.networks.services.slice(0, maxBlocks).join(','),
        [trustsAnnotation]: beat.trusts.join(','),
        [podsAnnotation]: beat.networks.pods.slice(0, maxBlocks).join(','),
      },
    },
    spec: {
      holderIdentity: beat.cluster,
      leaseDurationSeconds: Math.ceil((beatsPerLease * beat.intervalMs) / 1_000),
      renewTime: toMicroTime(beat.timeMs),
    },
  }
}

/** What a Lease says. */
type Reading = {
  readonly cluster: string
  /** NaN when it names no time. */
  readonly timeMs: number
  /** Without a beat for so long the member is silent. */
  readonly silenceMs: number
  readonly families: readonly Family[]
  /** Undefined when it tells of none. */
  readonly networks: Networks | undefined
}

/** Undefined for a Lease that is no heartbeat, or not of the member in whose namespace it is. */
export function readLease({ metadata, spec = {} }: Lease): Reading | undefined {
  const { holderIdentity: cluster, leaseDurationSeconds: seconds, renewTime = '' } = spec
  if (metadata.name !== heartbeatName || cluster === undefined || seconds === undefined) return undefined
  if (memberNamespace(cluster) !== metadata.namespace) return undefined
  const families = (metadata.annotations?.[familiesAnnotation] ?? '').split(',').filter(isFamily)
  return {
    cluster,
    timeMs: fromTime(renewTime),
    silenceMs: Math.min(seconds * 1_000, maxSilenceMs),
    families: [...new Set(families)],
    networks: networksOf(metadata.annotations ?? {}),
  }
}

function networksOf(annotations: Readonly<Record<string, string | undefined>>): Networks | undefined {
  const services = blocksOf(annotations[servicesAnnotation] ?? '')
  const pods = blocksOf(annotations[podsAnnotation] ?? '')
  return services.length + pods.length === 0 ? undefined : { services, pods }
}

function blocksOf(text: string): readonly string[] {
  const blocks = text.split(',', maxBlocks).map(parseCidr)
  return [...new Set(blocks.flatMap(block => (block === undefined ? [] : [block.text])))]
}

function isFamily(text: string): text is Family {
  return text === 'IPv4' || text === 'IPv6'
}
