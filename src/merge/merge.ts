import type { Contributor } from '../api/kinds/cluster-set-service.ts'
import type { Contribution, Merged } from '../contract.ts'
import { type Family, familyOf } from '../ip/address.ts'
import { toTime } from '../kernel/clock.ts'
import { conflictsOf } from './conflicts.ts'
import { mapDigest } from './exported-maps.ts'
import { byteOrder, sinceMs } from './precedence.ts'
import { resolve } from './resolution.ts'

const families: readonly Family[] = ['IPv4', 'IPv6']

/**
 * What a service is in the ClusterSet, as a function of the exports that count and of nothing else: their order does not
 * matter, nor what was there before (KEP-1645, "Deriving a ServiceImport"). Undefined when no export counts.
 */
export function merge(exports: readonly Contribution[]): Merged | undefined {
  const resolution = resolve(exports)
  if (resolution === undefined) return undefined
  const { contributions, families: ipFamilies, ports } = resolution
  const [oldest] = contributions
  return {
    type: oldest.service.type,
    ports,
    ipFamilies,
    sessionAffinity: oldest.service.sessionAffinity,
    sessionAffinityConfig: oldest.service.sessionAffinityConfig,
    internalTrafficPolicy: oldest.service.internalTrafficPolicy,
    trafficDistribution: oldest.service.trafficDistribution,
    labels: oldest.labels,
    annotations: oldest.annotations,
    consumers: consumersOf(contributions),
    addresses: addressesOf(contributions),
    clusters: contributions.map(contributorOf).sort((a, b) => byteOrder(a.cluster, b.cluster)),
    conflicts: conflictsOf(resolution),
  }
}

function contributorOf(contribution: Contribution): Contributor {
  const { cluster, region, taint, unreachable, service, labels, annotations } = contribution
  const { ports, ...definition } = service
  const since = sinceMs(contribution)
  return {
    cluster,
    ...(taint === undefined ? {} : { taint }),
    ...(region === undefined ? {} : { region }),
    ...(unreachable === 'dropped' ? { unreachable: true } : {}),
    ...(unreachable === 'draining' ? { draining: true } : {}),
    ports,
    // The hub has not written down yet when it accepted the cluster.
    ...(since === Number.MAX_SAFE_INTEGER ? {} : { since: toTime(since) }),
    definition,
    labelsDigest: mapDigest(labels),
    annotationsDigest: mapDigest(annotations),
  }
}

/** Whoever may import one of the exports; undefined when one of them is for all. */
function consumersOf(contributions: readonly Contribution[]): readonly string[] | undefined {
  if (contributions.some(({ consumers }) => consumers === undefined)) return undefined
  const ids = contributions.flatMap(({ cluster, consumers = [] }) => [cluster, ...consumers])
  return [...new Set(ids)].sort(byteOrder)
}

/** Of each family what the oldest export that asks for one of it asks for. */
function addressesOf(oldestFirst: readonly Contribution[]): readonly string[] {
  const requested = oldestFirst.flatMap(contribution => contribution.addresses)
  return families
    .map(family => requested.find(address => familyOf(address) === family))
    .filter(address => address !== undefined)
}
