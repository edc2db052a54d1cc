import type { ExportedService } from './api/kinds/exported-service.ts'
import type { Contribution } from './contract.ts'
import { fromTime } from './kernel/clock.ts'

/** What this cluster's own export counts for, as far as it is known here: what only the hub knows is left open. */
export function ownContribution(cluster: string, spec: ExportedService['spec']): Contribution {
  return {
    cluster,
    createdMs: sinceMs(spec.exportedAt),
    acceptedMs: 0,
    labels: spec.exportedLabels ?? {},
    annotations: spec.exportedAnnotations ?? {},
    consumers: spec.consumers,
    addresses: [],
    taint: undefined,
    unreachable: undefined,
    region: undefined,
    service: spec.definition,
  }
}

/** Later than all others while it is not known. */
export function sinceMs(since: string | undefined): number {
  const ms = fromTime(since ?? '')
  return Number.isNaN(ms) ? Number.MAX_SAFE_INTEGER : ms
}
