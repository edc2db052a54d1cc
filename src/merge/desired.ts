import type { ClusterSetService } from '../api/kinds/cluster-set-service.ts'
import type { ExportedService, exportedServiceConditions } from '../api/kinds/exported-service.ts'
import { type Condition, withCondition } from '../api/meta.ts'
import type { Verdict } from '../api/verdict.ts'
import type { Assigned, Contribution, Member, Merged } from '../contract.ts'
import { fromTime } from '../kernel/clock.ts'

/** Whether an export counts, and why not. Undefined: it does not, and there is nobody to tell. */
export type Standing =
  | { readonly counts: true; readonly contribution: Contribution }
  | { readonly counts: false; readonly message: string }

export function standingOf(member: Member, exported: ExportedService): Standing | undefined {
  if (!member.accepted || exported.metadata.deletionTimestamp !== undefined) return undefined
  const { namespace, exportedAt, exportedLabels, exportedAnnotations, addresses, consumers, definition } =
    exported.spec
  if (member.namespaces !== undefined && !member.namespaces.includes(namespace)) {
    const message = `the hub does not let cluster ${member.cluster} take part in namespace ${namespace}`
    return { counts: false, message }
  }
  const createdMs = fromTime(exportedAt)
  const contribution = {
    cluster: member.cluster,
    createdMs: Number.isNaN(createdMs) ? fromTime(exported.metadata.creationTimestamp ?? '') : createdMs,
    acceptedMs: member.acceptedMs,
    labels: exportedLabels ?? {},
    annotations: exportedAnnotations ?? {},
    consumers,
    addresses: addresses ?? [],
    taint: member.taint,
    unreachable: member.unreachable,
    service: definition,
  }
  return { counts: true, contribution }
}

/** The ClusterSetService of a merge, on top of what is there. */
export function desiredService(
  identity: { readonly namespace: string; readonly service: string },
  merged: Merged,
  assigned: Assigned,
  current: ClusterSetService | undefined,
): ClusterSetService {
  const {
    addresses: _requested,
    clusters,
    conflicts: _conflicts,
    labels,
    annotations,
    ipFamilies,
    ...spec
  } = merged
  const hasAddress = merged.type === 'ClusterSetIP'
  return {
    apiVersion: 'hub.isthmus.dev/v1alpha1',
    kind: 'ClusterSetService',
    metadata: current?.metadata ?? { name: `${identity.namespace}.${identity.service}` },
    spec: {
      ...identity,
      ...defined(spec),
      ips: hasAddress ? assigned.ips : [],
      ipFamilies: hasAddress ? assigned.ipFamilies : ipFamilies,
      ...(Object.keys(labels).length === 0 ? {} : { labels }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    status: {
      clusters,
      addresses: assigned.addresses,
      ...(assigned.problem === undefined ? {} : { problem: assigned.problem }),
    },
  }
}

/** `current` without exports: members no longer see it, its addresses stay its own. */
export function releasedService(current: ClusterSetService, time: string): ClusterSetService {
  return {
    ...current,
    spec: { ...current.spec, ips: [] },
    status: { clusters: [], addresses: current.status.addresses, releasedAt: time },
  }
}

/** What the hub says about one export: `outcome` is the merge that it is part of. */
export function desiredConditions(
  exported: ExportedService,
  standing: Standing,
  outcome: { readonly merged: Merged; readonly service: ClusterSetService } | undefined,
  time: string,
): readonly Condition[] {
  const current = exported.status?.conditions ?? []
  const stamp = { lastTransitionTime: time, observedGeneration: exported.metadata.generation ?? 0 }
  if (!standing.counts || outcome === undefined) {
    const kept = current.filter(condition => condition.type !== 'Conflict')
    return withCondition(kept, { type: 'Ready', ...unmerged(standing), ...stamp })
  }
  const ready = withCondition(current, { type: 'Ready', ...readiness(outcome.service), ...stamp })
  return withCondition(ready, { type: 'Conflict', ...conflictOf(outcome.merged), ...stamp })
}

type Ready = Verdict<typeof exportedServiceConditions, 'Ready'>

function unmerged(standing: Standing): Ready {
  return standing.counts
    ? { status: 'False', reason: 'Pending', message: 'not merged yet' }
    : { status: 'False', reason: 'Failed', message: standing.message }
}

function readiness({ spec, status }: ClusterSetService): Ready {
  const { problem } = status
  const lacksAddress = spec.type === 'ClusterSetIP' && spec.ips.length === 0
  if (problem !== undefined && lacksAddress) {
    return { status: 'False', reason: 'Failed', message: problem.message }
  }
  return { status: 'True', reason: 'Exported', message: problem?.message ?? '' }
}

/** KEP-1645: on all exports of the service, the winner's included; reasons joined by commas in canonical order. */
function conflictOf({ conflicts }: Merged): Pick<Condition, 'status' | 'reason' | 'message'> {
  const none: Verdict<typeof exportedServiceConditions, 'Conflict'> = {
    status: 'False',
    reason: 'NoConflicts',
    message: '',
  }
  if (conflicts.length === 0) return none
  return {
    status: 'True',
    reason: conflicts.map(conflict => conflict.reason).join(','),
    message: conflicts.map(conflict => conflict.message).join('; '),
  }
}

type Defined<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> }

/** The fields that have a value: what is written to an API server has no undefined ones. */
function defined<T extends object>(fields: T): Defined<T> {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined)
  // Only fields whose value is undefined are left out, and those are optional where this is used.
  return Object.fromEntries(present) as Defined<T>
}
