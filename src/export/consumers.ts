import { clusterIdProblem } from '../api/cluster-id.ts'
import { maxConsumers } from '../api/kinds/exported-service.ts'
import { byText } from '../api/order.ts'
import { wellKnown } from '../api/well-known.ts'

export type ChosenConsumers = {
  /** Ids of clusters in order; undefined when the export is for all. */
  readonly ids: readonly string[] | undefined
  /** What of the annotation is none. */
  readonly problem: string | undefined
}

const field = `metadata.annotations[${wellKnown.consumers}]`
const maxShown = 70

/** The clusters that an export is for besides its own. What cannot be read is nobody: a slip lets no more clusters in. */
export function chosenConsumers(annotations: Readonly<Record<string, string>> | undefined): ChosenConsumers {
  const text = annotations?.[wellKnown.consumers]
  if (text === undefined) return { ids: undefined, problem: undefined }
  const parts = text.split(',').map(part => part.trim())
  const named = [...new Set(parts.filter(part => part !== ''))]
  const good = named.filter(id => clusterIdProblem(id) === undefined)
  if (good.length > maxConsumers) {
    return {
      ids: [],
      problem: `${field}: may not be more than ${maxConsumers} clusters: none of them may import`,
    }
  }
  const bad = named.find(id => clusterIdProblem(id) !== undefined)
  return { ids: good.sort(byText), problem: bad === undefined ? undefined : badText(bad) }
}

function badText(id: string): string {
  const shown = id.length > maxShown ? `${id.slice(0, maxShown)}…` : id
  return `${field}: ${JSON.stringify(shown)} is no cluster id: ids with commas between them, or no annotation for all clusters`
}
