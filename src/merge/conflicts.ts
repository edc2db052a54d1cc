import { type Conflict, type ConflictReason, type Contribution, conflictReasons } from '../contract.ts'
import { isUnreachable } from './families.ts'
import { portsText, samePorts } from './ports.ts'
import type { Resolution } from './resolution.ts'

/** One thing in which an export says something else than what is used. */
export type Difference = {
  readonly reason: ConflictReason
  /** As users know it from Service, ServiceExport and ServiceImport. */
  readonly field: string
  readonly used: string
  readonly own: string
}

/** One thing that the oldest export decides alone. */
type Property = Pick<Difference, 'reason' | 'field'> & {
  /** Equal texts mean agreement. */
  text(contribution: Contribution): string
}

const properties: readonly Property[] = [
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
  { reason: 'AnnotationsConflict', field: 'exportedAnnotations', text: c => mapText(c.annotations) },
  { reason: 'LabelsConflict', field: 'exportedLabels', text: c => mapText(c.labels) },
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

/** In what each export differs from what is used, oldest first; of each reason at most one difference. */
export function differencesOf({
  contributions,
  ports,
  families,
}: Resolution): ReadonlyMap<Contribution, readonly Difference[]> {
  const decided = properties.map(property => ({ ...property, used: property.text(contributions[0]) }))
  const usedPorts = portsText(ports)
  const usedFamilies = families.join(',')
  const ofOne = (contribution: Contribution): readonly Difference[] => {
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
      if (own !== used) found.push({ reason, field, used, own })
    }
    return found
  }
  return new Map(contributions.map(contribution => [contribution, ofOne(contribution)]))
}

/** Everything in which the exports disagree, in the order of `conflictReasons`. */
export function conflictsOf(resolution: Resolution): readonly Conflict[] {
  const { contributions } = resolution
  const all = [...differencesOf(resolution).values()].flat()
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

function mapText(map: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(Object.fromEntries(sorted))
}

function shownOrUnset(value: string | number | undefined): string {
  return value === undefined ? 'no value' : String(value)
}

/** A condition's message has room for 32768 characters; nine conflicts must fit. */
const maxShown = 256

function clipped(text: string): string {
  return text.length <= maxShown ? text : `${text.slice(0, maxShown)}…`
}
