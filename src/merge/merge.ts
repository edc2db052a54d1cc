import type { Contribution, Merged } from '../contract.ts'
import { conflictsOf } from './conflicts.ts'
import { mergeFamilies } from './families.ts'
import { mergePorts, portText } from './ports.ts'
import { byteOrder, precedence } from './precedence.ts'

/**
 * What a service is in the ClusterSet, as a function of the exports that count and of nothing else: their order does not
 * matter, nor what was there before (KEP-1645, "Deriving a ServiceImport"). Undefined when no export counts.
 */
export function merge(exports: readonly Contribution[]): Merged | undefined {
  const contributions = [...exports].sort(precedence)
  const [oldest] = contributions
  if (oldest === undefined) return undefined
  const ports = mergePorts(contributions.map(c => c.service.ports))
  const { families, unreachable } = mergeFamilies(contributions.map(c => c.service.ipFamilies))
  const portsText = ports.map(portText).join(', ')
  return {
    type: oldest.service.type,
    ports,
    ipFamilies: families,
    sessionAffinity: oldest.service.sessionAffinity,
    sessionAffinityConfig: oldest.service.sessionAffinityConfig,
    internalTrafficPolicy: oldest.service.internalTrafficPolicy,
    trafficDistribution: oldest.service.trafficDistribution,
    labels: oldest.labels,
    annotations: oldest.annotations,
    consumers: consumersOf(contributions),
    clusters: contributions
      .map(({ cluster, taint, service }) => ({
        cluster,
        ...(taint === undefined ? {} : { taint }),
        ports: service.ports,
      }))
      .sort((a, b) => byteOrder(a.cluster, b.cluster)),
    conflicts: conflictsOf({ contributions, ports, portsText, families, unreachable }),
  }
}

/** Whoever may import one of the exports; undefined when one of them is for all. */
function consumersOf(contributions: readonly Contribution[]): readonly string[] | undefined {
  const lists = contributions.map(c => c.consumers)
  if (lists.includes(undefined)) return undefined
  return [...new Set(lists.flatMap(list => list ?? []))].sort(byteOrder)
}
