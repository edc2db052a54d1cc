import { type ConflictReason, type Contribution, conflictReasons } from '../contract.ts'
import { type Difference, differencesOf, type MapTexts } from './conflicts.ts'
import { mapDigest, mapText } from './exported-maps.ts'
import { type Dispute, disputeText } from './forecast-text.ts'
import { portForecast } from './port-forecast.ts'
import { type Ranked, resolve } from './resolution.ts'

/** An export of which it is known at most whether its labels and annotations equal others: it has digests of them. */
export type Foreseen = Ranked & MapTexts

/** One export that is about to be written. */
export type Write = {
  /** What the other clusters export. */
  readonly others: readonly Foreseen[]
  /** Labels and annotations that clusters export, as far as they are known. */
  readonly maps: readonly Contribution['labels'][]
  /** What this cluster exports so far. */
  readonly before: Contribution | undefined
  readonly after: Contribution
}

/** One export that differs from what is used. */
type Differing = { readonly cluster: Foreseen; readonly difference: Difference }

/**
 * What comes of a write, in sentences: where the export loses against those of other clusters, and what conflicts it
 * brings upon them. None when all agree, or when it wins as it did before.
 */
export function forecast({ others, maps, before, after }: Write): readonly string[] {
  const own = foreseenOf(after)
  const resolution = resolve([...others, own])
  if (resolution === undefined || others.length === 0) return []
  const differences = differencesOf(resolution, each => each)
  const earlier = earlierDifferences(before === undefined ? others : [...others, foreseenOf(before)])
  const ownMaps = [before, after].flatMap(each => (each === undefined ? [] : [each.labels, each.annotations]))
  const texts = textsOf([{}, ...maps, ...ownMaps])
  return conflictReasons.flatMap(reason => {
    const all = differing(differences, reason)
    const losing = all.filter(({ cluster }) => cluster === own)
    const told = losing.length > 0 ? losing : without(all, earlier, reason)
    const [first] = told
    if (first === undefined) return []
    if (reason === 'PortConflict') return portForecast(resolution, own)
    const losers = told.map(({ cluster }) => cluster)
    const values = valuesOf(first, told, texts)
    return [disputeText({ ...values, losers, winner: resolution.contributions[0], after: own })]
  })
}

export function foreseenOf({ labels, annotations, ...rest }: Contribution): Foreseen {
  return { ...rest, labels: mapDigest(labels), annotations: mapDigest(annotations) }
}

type Differences = ReadonlyMap<Foreseen, readonly Difference[]>

function earlierDifferences(exports: readonly Foreseen[]): Differences {
  const resolution = resolve(exports)
  return resolution === undefined ? new Map() : differencesOf(resolution, each => each)
}

function differing(differences: Differences, reason: ConflictReason): readonly Differing[] {
  return [...differences].flatMap(([cluster, own]) => {
    const difference = own.find(each => each.reason === reason)
    return difference === undefined ? [] : [{ cluster, difference }]
  })
}

/** Without the exports that differed before the write as well. */
function without(
  all: readonly Differing[],
  earlier: Differences,
  reason: ConflictReason,
): readonly Differing[] {
  return all.filter(({ cluster }) => earlier.get(cluster)?.some(each => each.reason === reason) !== true)
}

/** By digest. */
function textsOf(maps: Write['maps']): ReadonlyMap<string, string> {
  return new Map(maps.map(map => [mapDigest(map), mapText(map)]))
}

/** In words, as far as they are known. */
function valuesOf(
  { difference }: Differing,
  told: readonly Differing[],
  texts: ReadonlyMap<string, string>,
): Pick<Dispute, 'field' | 'used' | 'own'> {
  const { field, reason, used, own } = difference
  const isMap = reason === 'LabelsConflict' || reason === 'AnnotationsConflict'
  const textOf = (value: string): string | undefined => (isMap ? texts.get(value) : value)
  const isShared = told.every(each => each.difference.own === own)
  return { field, used: textOf(used), own: isShared ? textOf(own) : undefined }
}
