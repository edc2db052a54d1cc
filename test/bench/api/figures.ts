import { median } from '../quantile.ts'
import type { Case } from './cases.ts'
import type { TargetName } from './targets.ts'

/** What one load came to on each server that is there, round by round. */
export type Figures = { readonly of: Case; readonly perSecond: ReadonlyMap<TargetName, readonly number[]> }

/** The servers that a ratio compares, and which of the floors is its. */
export const comparisons = [
  { ours: 'ours', other: 'crds', floor: 'crds' },
  { ours: 'ours', other: 'bare', floor: 'bare' },
  { ours: 'ours aggregated', other: 'bare aggregated', floor: 'aggregated' },
  { ours: 'ours aggregated', other: 'crds', floor: undefined },
] as const

export type Comparison = (typeof comparisons)[number]

export type Ratio = { readonly median: number; readonly least: number; readonly most: number }

/** Each round with itself: what slowed the machine down slowed both. Undefined when a server is not there. */
export function ratioOf({ perSecond }: Figures, { ours, other }: Comparison): Ratio | undefined {
  const measured = perSecond.get(ours)
  const others = perSecond.get(other)
  if (measured === undefined || others === undefined) return undefined
  const ratios = measured.map((value, round) => value / (others[round] ?? Number.NaN))
  return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) }
}

export function floorOf({ of }: Figures, { floor }: Comparison): number | undefined {
  return floor === undefined ? undefined : of.floors[floor]
}

/** Whether some ratio is below what it has to be. */
export function isBelow(figures: Figures): boolean {
  return comparisons.some(comparison => {
    const ratio = ratioOf(figures, comparison)
    const floor = floorOf(figures, comparison)
    return ratio !== undefined && floor !== undefined && !(ratio.median >= floor)
  })
}
