import { type Conflict, type ConflictReason, type Contribution, conflictReasons } from '../contract.ts'
import { mapText } from './exported-maps.ts'
import { isUnreachable } from './families.ts'
import { portsText, samePorts } from './ports.ts'
import type { Ranked, Resolution } from './resolution.ts'

/** One thing in which an export says something else than what is used. */
export type Difference = {
  readonly reason: ConflictReason
  /** As users know it from Service, ServiceExport and ServiceImport. */
  readonly field: string
  readonly used: string
  readonly own: string
}

/** One thing that the oldest export decides alone. */
type Property<C> = Pick<Difference, 'reason' | 'field'> & {
  /** Equal texts mean agreement; undefined is not known. */
  text(contribution: C): string | undefined
}

/** The labels and annotations of an export as texts, for comparison. */
export type MapTexts = { readonly labels: string | undefined; readonly annotations: string | undefined }

const propertiesOf = <C extends Ranked>(mapsOf: (contribution: C) => MapTexts): readonly Property<C>[] => [
  { reason: 'TypeConflict', field: 'type', text: c => c.service.type },
  {
    reason: 'SessionAffinityConflict',
    field: 'sessionAffinity',
    text: c => c.service.sessionAffinity ?? 'None',
  },
  {
    reason: 'SessionAffinityConfigConflict',
    field: 'sessionAffinityConfig.clientIP.timeoutSeconds',
    text: c => shownOrUnset(c.service.sessionAffinityConfig?.clientIP?.timeoutSeconds),
  },
  { reason: 'AnnotationsConflict', field: 'exportedAnnotations', text: c => mapsOf(c).annotations },
  { reason: 'LabelsConflict', field: 'exportedLabels', text: c => mapsOf(c).labels },
  {
    reason: 'InternalTrafficPolicyConflict',
    field: 'internalTrafficPolicy',
    // Absent means Cluster.
    text: c => c.service.internalTrafficPolicy ?? 'Cluster',
  },
  {
    reason: 'TrafficDistributionConflict',
    field: 'trafficDistribution',
    text: c => shownOrUnset(c.service.trafficDistribution),
  },
]

/**
 * In what each export differs from what is used, oldest first; of each reason at most one difference, and none in what is
 * not known of one of both.
 */
export function differencesOf<C extends Ranked>(
  { contributions, ports, families }: Resolution<C>,
  mapsOf: (contribution: C) => MapTexts,
): ReadonlyMap<C, readonly Difference[]> {
  const decided = propertiesOf(mapsOf).map(property => ({
    ...property,
    used: property.text(contributions[0]),
  }))
  const usedPorts = portsText(ports)
  const usedFamilies = families.join(',')
  const ofOne = (contribution: C): readonly Difference[] => {
    const { service } = contribution
    const found: Difference[] = []
    if (!samePorts(service.ports, ports)) {
      const own = portsText(service.ports)
      found.push({ reason: 'PortConflict', field: 'ports', used: usedPorts, own })
    }
    if (isUnreachable(service.ipFamilies, families)) {
      const own = service.ipFamilies.join(',')
      found.push({ reason: 'IPFamilyConflict', field: 'ipFamilies', used: usedFamilies, own })
    }
    for (const { reason, field, used, text } of decided) {
      const own = text(contribution)
      if (own !== undefined && used !== undefined && own !== used) found.push({ reason, field, used, own })
    }
    return found
  }
  return new Map(contributions.map(contribution => [contribution, ofOne(contribution)]))
}

/** Everything in which the exports disagree, in the order of `conflictReasons`. */
export function conflictsOf(resolution: Resolution<Contribution>): readonly Conflict[] {
  const { contributions } = resolution
  const all = [...differencesOf(resolution, textsOf).values()].flat()
  return conflictReasons.flatMap(reason => {
    const [first, ...more] = all.filter(difference => difference.reason === reason)
    if (first === undefined) return []
    const count = `${1 + more.length} of ${contributions.length} clusters differ`
    return [{ reason, message: `${first.field}: ${usedText(first, contributions[0].cluster)}; ${count}` }]
  })
}

function usedText({ reason, used }: Difference, oldest: string): string {
  if (reason !== 'PortConflict') return `using ${clipped(used)} of the oldest export (${oldest})`
  return `using ${clipped(used)}, where older exports come first (${oldest} is the oldest)`
}

function textsOf({ labels, annotations }: Contribution): MapTexts {
  return { labels: mapText(labels), annotations: mapText(annotations) }
}

function shownOrUnset(value: string | number | undefined): string {
  return value === undefined ? 'no value' : String(value)
}

/** A condition's message has room for 32768 characters; nine conflicts must fit. */
const maxShown = 256

function clipped(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}…`
}
