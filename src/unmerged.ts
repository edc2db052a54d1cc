/**
 * A service that this cluster exports and of which the hub has told nothing since it cannot be reached: what its import is
 * meanwhile, from this cluster's own export alone. The merge itself decides, as the hub will.
 */
import type { ClusterSetService } from './api/kinds/cluster-set-service.ts'
import type { ServiceImport } from './api/kinds/service-import.ts'
import { wellKnown } from './api/well-known.ts'
import type { Ref } from './cluster/cluster.ts'
import type { Collected } from './export/collect.ts'
import { desiredService } from './merge/desired.ts'
import { merge } from './merge/merge.ts'
import { ownContribution } from './own-contribution.ts'

export type UnmergedOptions = {
  /** The id of this cluster. */
  readonly cluster: string
  collected(service: Ref): Collected | undefined
  /** What became of the export on the hub, as far as it is known. */
  sent(service: Ref): 'unreached' | 'refused' | 'unknown'
}

const withoutHub = {
  reason: 'Pending',
  message: 'the hub, which gives out ClusterSetIPs, has not been reached since the service was exported',
} as const

/** Whether an import was made without the hub, which has not told of its service yet. */
export function isUnmerged({ metadata }: Pick<ServiceImport, 'metadata'>): boolean {
  return metadata.annotations?.[wellKnown.unmerged] !== undefined
}

/**
 * The service as far as this cluster knows it; undefined when nothing speaks for an import. One that is there stays until
 * the hub tells of the service, also while the hub is just learning of it: nothing comes, goes and comes again.
 */
export function unmergedService(
  service: Ref,
  current: ServiceImport | undefined,
  { cluster, collected, sent }: UnmergedOptions,
): ClusterSetService | undefined {
  if (current !== undefined && !isUnmerged(current)) return undefined
  const found = collected(service)
  if (found?.valid !== true) return undefined
  const state = sent(service)
  if (state === 'refused' || (current === undefined && state !== 'unreached')) return undefined
  const merged = merge([ownContribution(cluster, found.spec)])
  if (merged === undefined) return undefined
  const annotations = { ...merged.annotations, [wellKnown.unmerged]: 'true' }
  const problem = merged.type === 'ClusterSetIP' ? withoutHub : undefined
  const assigned = { ips: [], ipFamilies: merged.ipFamilies, addresses: [], problem }
  const identity = { namespace: service.namespace ?? '', service: service.name }
  return desiredService(
    identity,
    { all: { ...merged, annotations }, audiences: undefined },
    () => assigned,
    undefined,
  )
}
