import { type Conflict, type ConflictReason, type Contribution, conflictReasons } from '../contract.ts'
import { samePorts } from './ports.ts'

/** What the winner says about one property and how to tell whether another export says the same. */
type Property = {
  readonly reason: ConflictReason
  /** As users know it from Service, ServiceExport and ServiceImport. */
  readonly field: string
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

export type Resolution = {
  /** Oldest first. */
  readonly contributions: readonly Contribution[]
  readonly ports: Contribution['service']['ports']
  readonly portsText: string
  readonly families: readonly string[]
  /** Indices of the contributions that cannot be reached by these families. */
  readonly unreachable: readonly number[]
}

/** Everything in which the exports disagree, in the order of `conflictReasons`. */
export function conflictsOf(resolution: Resolution): readonly Conflict[] {
  const found = [
    portConflict(resolution),
    familyConflict(resolution),
    ...properties.map(property => propertyConflict(property, resolution.contributions)),
  ].filter(conflict => conflict !== undefined)
  return conflictReasons.flatMap(reason => found.filter(conflict => conflict.reason === reason))
}

function portConflict({ contributions, ports, portsText }: Resolution): Conflict | undefined {
  const differing = contributions.filter(c => !samePorts(c.service.ports, ports)).length
  if (differing === 0) return undefined
  const oldest = contributions[0]?.cluster ?? ''
  const used = `using ${clipped(portsText)}, where older exports come first (${oldest} is the oldest)`
  return { reason: 'PortConflict', message: `ports: ${used}; ${countText(differing, contributions.length)}` }
}

function familyConflict({ contributions, families, unreachable }: Resolution): Conflict | undefined {
  if (unreachable.length === 0) return undefined
  const used = usingText(families.join(','), contributions[0]?.cluster ?? '')
  const message = `ipFamilies: ${used}; ${countText(unreachable.length, contributions.length)}`
  return { reason: 'IPFamilyConflict', message }
}

function propertyConflict(property: Property, contributions: readonly Contribution[]): Conflict | undefined {
  const [oldest, ...others] = contributions
  if (oldest === undefined) return undefined
  const value = property.text(oldest)
  const differing = others.filter(other => property.text(other) !== value).length
  if (differing === 0) return undefined
  const count = countText(differing, contributions.length)
  return {
    reason: property.reason,
    message: `${property.field}: ${usingText(value, oldest.cluster)}; ${count}`,
  }
}

function usingText(value: string, cluster: string): string {
  return `using ${clipped(value)} of the oldest export (${cluster})`
}

function countText(differing: number, all: number): string {
  return `${differing} of ${all} clusters differ`
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
