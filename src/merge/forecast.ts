import { type Contribution, conflictReasons } from '../contract.ts'
import { conflictsOf, differencesOf } from './conflicts.ts'
import { clustersText, disputeText } from './forecast-text.ts'
import { portForecast } from './port-forecast.ts'
import { type Resolution, resolve } from './resolution.ts'

/** One export that is about to be written. */
export type Write = {
  /** What the other clusters export. */
  readonly others: readonly Contribution[]
  /** What this cluster exports so far. */
  readonly before: Contribution | undefined
  readonly after: Contribution
}

/**
 * What comes of a write, in sentences: where the export loses against those of other clusters, and what conflicts it
 * brings upon them. None when all agree, or when it wins as it did before.
 */
export function forecast({ others, before, after }: Write): readonly string[] {
  const resolution = resolve([...others, after])
  if (resolution === undefined || others.length === 0) return []
  const known = reasonsOf(resolve(before === undefined ? others : [...others, before]))
  const differences = differencesOf(resolution)
  return conflictReasons.flatMap(reason => {
    const differing = resolution.contributions.flatMap(cluster => {
      const difference = differences.get(cluster)?.find(each => each.reason === reason)
      return difference === undefined ? [] : [{ cluster, difference }]
    })
    const losing = differing.filter(({ cluster }) => cluster === after)
    const told = losing.length === 0 && !known.has(reason) ? differing : losing
    const [first] = told
    if (first === undefined) return []
    if (reason === 'PortConflict') return portForecast(resolution, after)
    const losers = clustersText(
      told.map(({ cluster }) => cluster),
      after,
    )
    return [disputeText({ ...first.difference, losers, winner: resolution.contributions[0], after })]
  })
}

function reasonsOf(resolution: Resolution | undefined): ReadonlySet<string> {
  return new Set(resolution === undefined ? [] : conflictsOf(resolution).map(({ reason }) => reason))
}
