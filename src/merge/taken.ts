import type { exportedServiceConditions } from '../api/kinds/exported-service.ts'
import type { Verdict } from '../api/verdict.ts'

/** On exports for chosen clusters: whether these have imported it. */
export const takenCondition = 'isthmus.dev/Imported'
export type Taken = Verdict<typeof exportedServiceConditions, typeof takenCondition>

/** Which of the chosen clusters have the import; undefined when the export is for all. */
export function takenBy(consumers: readonly string[], importers: ReadonlySet<string>): Taken {
  const [has, lacks] = [true, false].map(is => consumers.filter(id => importers.has(id) === is))
  const parts = [partOf('imported by', has), partOf('not imported by', lacks)].filter(part => part !== '')
  const message = parts.length === 0 ? 'for no other cluster' : parts.join('; ')
  return lacks === undefined || lacks.length === 0
    ? { status: 'True', reason: 'Imported', message }
    : { status: 'False', reason: 'NotImported', message }
}

/** A condition's message has room for 32768 characters. */
const maxShown = 100

function partOf(verb: string, ids: readonly string[] = []): string {
  if (ids.length === 0) return ''
  const more = ids.length - maxShown
  return `${verb} ${ids.slice(0, maxShown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
