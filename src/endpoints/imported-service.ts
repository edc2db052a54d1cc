import type { ClusterSetService } from '../api/kinds/cluster-set-service.ts'
import { toExportedPort } from '../api/kinds/exported-service.ts'
import type { ServiceImport } from '../api/kinds/service-import.ts'
import { equalJson } from '../cluster/json.ts'
import type { Family } from '../ip/address.ts'
import type { ImportedService } from './desired.ts'

/** What the hub says of a service, narrowed to the families that this cluster can use. */
export function fromService(
  { spec, status }: ClusterSetService,
  families: readonly Family[],
): ImportedService {
  return {
    type: spec.type,
    ports: spec.ports,
    ipFamilies: spec.ipFamilies.filter(family => families.includes(family)),
    trafficDistribution: spec.trafficDistribution,
    clusters: status.clusters,
  }
}

/** Whether slices of the service are the same with both. */
export function sameForSlices(a: ClusterSetService | undefined, b: ClusterSetService | undefined): boolean {
  return equalJson(a && relevant(a), b && relevant(b))
}

function relevant({ spec, status }: ClusterSetService): unknown {
  const { ipFamilies, ports, trafficDistribution, type } = spec
  const clusters = status.clusters.map(({ cluster, taint, unreachable, draining, region, ports: own }) => ({
    cluster,
    taint,
    unreachable,
    draining,
    region,
    ports: own,
  }))
  return { ipFamilies, ports, trafficDistribution, type, clusters }
}

/** The same from the ServiceImport that was made of it. */
export function fromImport({ spec, status }: ServiceImport, families: readonly Family[]): ImportedService {
  return {
    type: spec?.type ?? 'ClusterSetIP',
    ports: (spec?.ports ?? []).map(toExportedPort),
    ipFamilies: families.filter(family => spec?.ipFamilies?.includes(family)),
    trafficDistribution: spec?.trafficDistribution,
    clusters: status?.clusters ?? [],
  }
}
