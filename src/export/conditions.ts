import { type ExportedService, exportedServiceConditions } from '../api/kinds/exported-service.ts'
import type { serviceExportConditions } from '../api/kinds/service-export.ts'
import { type Condition, withCondition } from '../api/meta.ts'
import type { Verdict } from '../api/verdict.ts'
import type { Collected } from './collect.ts'

/** Why the hub has not what was sent last. */
export type PushFailure = {
  /** The hub answered and will not have it; else it could not be reached. */
  readonly refused: boolean
  readonly message: string
}

/** How far an export has come on the hub. */
export type HubAnswer =
  /** The hub was not reached yet, or has nothing of this export; `failure` says why, when something failed. */
  | { readonly state: 'absent'; readonly failure: PushFailure | undefined }
  /** What the hub holds; `current` when it is what was collected last. */
  | { readonly state: 'held'; readonly exported: ExportedService; readonly current: boolean }

export type ConditionInput = {
  readonly conditions: readonly Condition[]
  /** Generation of the ServiceExport. */
  readonly generation: number
  readonly collected: Collected
  readonly hub: HubAnswer
  /** RFC 3339. */
  readonly time: string
}

type Said = Pick<Condition, 'status' | 'reason' | 'message'>
type Valid = Verdict<typeof serviceExportConditions, 'Valid'>
type Ready = Verdict<typeof serviceExportConditions, 'Ready'>

/**
 * The conditions of a ServiceExport (KEP-1645). `Valid` is known here and said at once; `Ready` and `Conflict` are the
 * hub's and stay what they were while the hub has not answered to what was sent last.
 */
export function desiredConditions(input: ConditionInput): readonly Condition[] {
  const { collected, generation, time } = input
  const valid = set(input.conditions, 'Valid', validity(collected), { generation, time })
  if (!collected.valid) {
    const reason = collected.reason === 'NoService' ? 'Pending' : 'Failed'
    const kept = valid.filter(({ type }) => type === 'Valid' || type === 'Ready')
    const ready: Ready = { status: 'False', reason, message: collected.message }
    return set(kept, 'Ready', ready, { generation, time })
  }
  const { hub } = input
  if (hub.state === 'absent') return withoutHub(valid, hub.failure, { generation, time })
  const answered = hub.current && hub.exported.status?.observedGeneration === hub.exported.metadata.generation
  return answered ? withAnswer(valid, hub.exported, time) : withoutHub(valid, undefined, { generation, time })
}

function validity(collected: Collected): Valid {
  if (!collected.valid) return { status: 'False', reason: collected.reason, message: collected.message }
  return { status: 'True', reason: 'Valid', message: droppedText(collected.dropped) }
}

const maxDroppedShown = 5

function droppedText(dropped: readonly string[]): string {
  if (dropped.length === 0) return ''
  const more = dropped.length - maxDroppedShown
  const shown = dropped.slice(0, maxDroppedShown).join('; ')
  return `not exported: ${shown}${more > 0 ? `; and ${more} more` : ''}`
}

type Stamp = { readonly generation: number | bigint; readonly time: string }

/** An export that was distributed stays so while the hub is away: the other clusters still have it. */
function withoutHub(
  conditions: readonly Condition[],
  failure: PushFailure | undefined,
  stamp: Stamp,
): readonly Condition[] {
  const ready = conditions.find(condition => condition.type === 'Ready')
  if (ready?.status === 'True' && failure?.refused !== true) return conditions
  const failed = (message: string): Ready => ({ status: 'False', reason: 'Failed', message })
  if (failure !== undefined) return set(conditions, 'Ready', failed(failure.message), stamp)
  // What the hub said of an earlier version is more than that it has not answered to this one.
  if (ready?.reason === 'Failed') return conditions
  const pending: Ready = { status: 'False', reason: 'Pending', message: 'waiting for the hub' }
  return set(conditions, 'Ready', pending, stamp)
}

function withAnswer(
  conditions: readonly Condition[],
  exported: ExportedService,
  time: string,
): readonly Condition[] {
  const stamp = { generation: exported.spec.exportGeneration, time }
  let result = conditions
  for (const type of Object.keys(exportedServiceConditions)) {
    const said = exported.status?.conditions?.find(condition => condition.type === type)
    result = said === undefined ? result.filter(c => c.type !== type) : set(result, type, said, stamp)
  }
  return result
}

function set(
  conditions: readonly Condition[],
  type: string,
  { status, reason, message }: Said,
  { generation, time }: Stamp,
): readonly Condition[] {
  const observed = { observedGeneration: generation, lastTransitionTime: time }
  return withCondition(conditions, { type, status, reason, message, ...observed })
}
