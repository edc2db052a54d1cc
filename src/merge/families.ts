import type { Family } from '../ip/address.ts'

export type MergedFamilies = {
  readonly families: readonly Family[]
  /** Indices of the exports that share no family with the result: nobody could reach them. */
  readonly unreachable: readonly number[]
}

/**
 * The families by which every backend can be reached: the oldest export's, narrowed by each next one. An export with
 * which nothing would be left is skipped, and told.
 */
export function mergeFamilies(oldestFirst: readonly (readonly Family[])[]): MergedFamilies {
  let families: readonly Family[] = []
  const unreachable: number[] = []
  for (const [index, own] of oldestFirst.entries()) {
    const distinct = [...new Set(own)]
    // A Service of an API server that sets no families says nothing about them.
    if (distinct.length === 0) continue
    const common = families.length === 0 ? distinct : families.filter(family => distinct.includes(family))
    if (common.length === 0) unreachable.push(index)
    else families = common
  }
  return { families, unreachable }
}
