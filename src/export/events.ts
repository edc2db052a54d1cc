import type { Condition } from '../api/meta.ts'
import type { Occurrence } from '../cluster/event-recorder.ts'

/** What is worth an Event when the conditions of an export go from one state to another; one cause has one Event. */
export function occurrencesOf(
  before: readonly Condition[],
  after: readonly Condition[],
): readonly Occurrence[] {
  const invalid = after.find(({ type, status }) => type === 'Valid' && status === 'False')
  return after.flatMap(condition => {
    if (condition.type === 'Ready' && condition.message === invalid?.message) return []
    const old = before.find(c => c.type === condition.type)
    const changed = old?.status !== condition.status || old.reason !== condition.reason
    return changed ? (changes[condition.type]?.(condition, old) ?? []) : sameState(condition, old)
  })
}

type OnChange = (condition: Condition, old: Condition | undefined) => readonly Occurrence[]

const warning = (reason: string, message: string): readonly Occurrence[] => [
  { type: 'Warning', reason, message },
]
const normal = (reason: string, message: string): readonly Occurrence[] => [
  { type: 'Normal', reason, message },
]

const changes: Readonly<Record<string, OnChange>> = {
  Valid: (condition, old) => {
    if (condition.status !== 'True') return warning(condition.reason, condition.message)
    const partly = condition.message === '' ? [] : warning('NotExported', condition.message)
    return old === undefined ? partly : [...normal('Valid', 'the Service can be exported'), ...partly]
  },
  Ready: condition => {
    if (condition.status === 'True') return normal(condition.reason, 'exported to the ClusterSet')
    return condition.reason === 'Failed' ? warning('ExportFailed', condition.message) : []
  },
  Conflict: (condition, old) => {
    if (condition.status === 'True') return warning('Conflict', condition.message)
    return old === undefined ? [] : normal('NoConflicts', 'the exports of all clusters agree')
  },
}

function sameState(condition: Condition, old: Condition | undefined): readonly Occurrence[] {
  const partly = condition.type === 'Valid' && condition.status === 'True' && condition.message !== ''
  return partly && condition.message !== old?.message ? warning('NotExported', condition.message) : []
}
