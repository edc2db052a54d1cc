import type { Family } from '../ip/address.ts'

/**
 * The families by which every backend can be reached: the oldest export's, narrowed by each next one. An export with
 * which nothing would be left is skipped.
 */
export function mergeFamilies(oldestFirst: readonly (readonly Family[])[]): readonly Family[] {
  let families: readonly Family[] = []
  for (const own of oldestFirst) {
    const distinct = [...new Set(own)]
    // A Service of an API server that sets no families says nothing about them.
    if (distinct.length === 0) continue
    const common = families.length === 0 ? distinct : families.filter(family => distinct.includes(family))
    if (common.length > 0) families = common
  }
  return families
}

/** Whether an export with its own families has none of those that are used: then nobody reaches its endpoints. */
export function isUnreachable(own: readonly Family[], used: readonly Family[]): boolean {
  return own.length > 0 && !own.some(family => used.includes(family))
}
