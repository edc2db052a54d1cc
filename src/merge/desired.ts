import type { ClusterSetService, StoredAudience } from '../api/kinds/cluster-set-service.ts'
import type { ExportedService, exportedServiceConditions } from '../api/kinds/exported-service.ts'
import { type Condition, withCondition } from '../api/meta.ts'
import type { Verdict } from '../api/verdict.ts'
import type { Assigned, Conflict, Contribution, Member, Merged } from '../contract.ts'
import { fromTime } from '../kernel/clock.ts'
import type { Audience, Outcome } from './audiences.ts'
import { silenceOf } from './silence.ts'
import { type Taken, takenCondition } from './taken.ts'

/** Whether an export counts, and why not. Undefined: it does not, and there is nobody to tell. */
export type Standing =
  | {
      readonly counts: true
      readonly contribution: Contribution
      /** When the contribution is going to be another by itself. */
      readonly changesAtMs: number | undefined
    }
  | { readonly counts: false; readonly message: string }

export function standingOf(member: Member, exported: ExportedService, nowMs: number): Standing | undefined {
  if (!member.accepted || exported.metadata.deletionTimestamp !== undefined) return undefined
  const { namespace, exportedAt, exportedLabels, exportedAnnotations, addresses, consumers, definition } =
    exported.spec
  if (member.namespaces !== undefined && !member.namespaces.includes(namespace)) {
    const message = `the hub does not let cluster ${member.cluster} take part in namespace ${namespace}`
    return { counts: false, message }
  }
  const createdMs = fromTime(exportedAt)
  const silence = silenceOf(member.silentSinceMs, exported.spec.whenUnreachable, nowMs)
  const contribution = {
    cluster: member.cluster,
    createdMs: Number.isNaN(createdMs) ? fromTime(exported.metadata.creationTimestamp ?? '') : createdMs,
    acceptedMs: member.acceptedMs,
    labels: exportedLabels ?? {},
    annotations: exportedAnnotations ?? {},
    consumers,
    addresses: addresses ?? [],
    taint: member.taint,
    unreachable: silence.endpoints,
    region: member.region,
    service: definition,
  }
  return { counts: true, contribution, changesAtMs: silence.changesAtMs }
}

type Identity = { readonly namespace: string; readonly service: string }

/** Gives a merge its addresses; asked again, the same ones. */
export type Assign = (merged: Pick<Merged, 'type' | 'ipFamilies'>) => Assigned

/** The ClusterSetService of a merge, on top of what is there. */
export function desiredService(
  identity: Identity,
  { all, audiences }: Outcome,
  assign: Assign,
  current: ClusterSetService | undefined,
): ClusterSetService {
  const { consumers } = all
  const own = assign(all)
  const spec = importedSpec(all, own)
  const stored = audiences?.map(audience => storedAudience(audience, assign(audience.merged)))
  // The last to be asked for, so that who waits for addresses waits for all of them.
  const assigned =
    audiences === undefined ? own : assign(everythingWanted([all, ...audiences.map(({ merged }) => merged)]))
  return {
    apiVersion: 'hub.isthmus.dev/v1alpha1',
    kind: 'ClusterSetService',
    metadata: current?.metadata ?? { name: `${identity.namespace}.${identity.service}` },
    spec: {
      ...identity,
      ...(consumers === undefined ? {} : { consumers }),
      ...spec,
    },
    status: {
      clusters: all.clusters,
      addresses: assigned.addresses,
      ...(assigned.problem === undefined ? {} : { problem: assigned.problem }),
      ...(stored === undefined ? {} : { audiences: stored }),
    },
  }
}

function importedSpec(merged: Merged, assigned: Assigned): StoredAudience['spec'] {
  const {
    addresses: _requested,
    clusters: _clusters,
    conflicts: _conflicts,
    consumers: _consumers,
    labels,
    annotations,
    ipFamilies,
    ...spec
  } = merged
  const hasAddress = merged.type === 'ClusterSetIP'
  return {
    ...defined(spec),
    ips: hasAddress ? assigned.ips : [],
    ipFamilies: hasAddress ? assigned.ipFamilies : ipFamilies,
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  }
}

function storedAudience({ consumers, merged }: Audience, assigned: Assigned): StoredAudience {
  return {
    ...(consumers === undefined ? {} : { consumers }),
    clusters: merged.clusters.map(({ cluster }) => cluster),
    spec: importedSpec(merged, assigned),
    ...(assigned.problem === undefined ? {} : { problem: assigned.problem }),
  }
}

/** A service has one address of a family, whoever imports it. */
function everythingWanted(all: readonly Merged[]): Pick<Merged, 'type' | 'ipFamilies'> {
  const addressed = all.filter(({ type }) => type === 'ClusterSetIP')
  if (addressed.length === 0) return { type: 'Headless', ipFamilies: [] }
  return { type: 'ClusterSetIP', ipFamilies: [...new Set(addressed.flatMap(({ ipFamilies }) => ipFamilies))] }
}

/** `current` without exports: members no longer see it, its addresses stay its own. */
export function releasedService(current: ClusterSetService, time: string): ClusterSetService {
  return {
    ...current,
    spec: { ...current.spec, ips: [] },
    status: { clusters: [], addresses: current.status.addresses, releasedAt: time },
  }
}

/** What there is to tell to one export. */
export type Told = {
  /** Whose export it is. */
  readonly cluster: string
  readonly conflicts: readonly Conflict[]
  readonly service: ClusterSetService
  readonly taken: Taken | undefined
}

/** What the hub says about one export: `outcome` is the merge that it is part of. */
export function desiredConditions(
  exported: ExportedService,
  standing: Standing,
  outcome: Told | undefined,
  time: string,
): readonly Condition[] {
  const current = exported.status?.conditions ?? []
  const stamp = { lastTransitionTime: time, observedGeneration: exported.metadata.generation ?? 0 }
  if (!standing.counts || outcome === undefined) {
    const kept = current.filter(({ type }) => type === 'Ready')
    return withCondition(kept, { type: 'Ready', ...unmerged(standing), ...stamp })
  }
  const ready = withCondition(current, {
    type: 'Ready',
    ...readiness(outcome, exported.spec.consumers),
    ...stamp,
  })
  const agreed = withCondition(ready, { type: 'Conflict', ...conflictOf(outcome.conflicts), ...stamp })
  const { taken } = outcome
  if (taken === undefined) return agreed.filter(({ type }) => type !== takenCondition)
  return withCondition(agreed, { type: takenCondition, ...taken, ...stamp })
}

type Ready = Verdict<typeof exportedServiceConditions, 'Ready'>

function unmerged(standing: Standing): Ready {
  return standing.counts
    ? { status: 'False', reason: 'Pending', message: 'not merged yet' }
    : { status: 'False', reason: 'Failed', message: standing.message }
}

/** An export is not ready while some of those for whom it is have no address; it says who, as far as it chose them itself. */
function readiness(
  { cluster, service: { spec, status } }: Told,
  chosen: readonly string[] | undefined,
): Ready {
  const onlyOne = { consumers: undefined, clusters: [cluster], spec, problem: status.problem }
  const audiences = status.audiences ?? [onlyOne]
  const reached = audiences.filter(({ clusters }) => clusters.includes(cluster))
  const problems = reached.flatMap(({ problem, ...audience }) => {
    if (problem === undefined) return []
    const lacksAddress = audience.spec.type === 'ClusterSetIP' && audience.spec.ips.length === 0
    const whom = reached.length === 1 ? '' : forWhom(audience.consumers, chosen && [cluster, ...chosen])
    return [{ lacksAddress, message: `${whom}${problem.message}` }]
  })
  const failed = problems.filter(({ lacksAddress }) => lacksAddress)
  if (failed.length > 0) return { status: 'False', reason: 'Failed', message: messageOf(failed) }
  return { status: 'True', reason: 'Exported', message: messageOf(problems) }
}

/** A condition's message has room for 32768 characters. */
const maxShown = 20

/** Whom another export was made for is not told. */
function forWhom(consumers: readonly string[] = [], own: readonly string[] = []): string {
  const known = consumers.filter(id => own.includes(id))
  if (known.length === 0) return 'for some clusters: '
  const more = known.length - maxShown
  return `for ${known.slice(0, maxShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}: `
}

function messageOf(problems: readonly { readonly message: string }[]): string {
  return [...new Set(problems.map(({ message }) => message))].slice(0, maxShown).join('; ')
}

/** KEP-1645: on all exports of the service, the winner's included; reasons joined by commas in canonical order. */
function conflictOf(conflicts: readonly Conflict[]): Pick<Condition, 'status' | 'reason' | 'message'> {
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
