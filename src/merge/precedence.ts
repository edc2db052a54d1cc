import type { Contribution } from '../contract.ts'

type Dated = Pick<Contribution, 'cluster' | 'createdMs' | 'acceptedMs'>

/**
 * Who wins a conflict, for sorting: the export with the oldest creationTimestamp (KEP-1645), counted no older than the
 * first time that the hub accepted its cluster, so that a forged or wrong clock cannot win over clusters that were there
 * before; ties by cluster id, bytewise.
 */
export function precedence(a: Dated, b: Dated): number {
  const age = sinceMs(a) - sinceMs(b)
  if (age !== 0) return age
  return byteOrder(a.cluster, b.cluster)
}

/** The order of ids and names: they are ASCII, so UTF-16 units are bytes. */
export function byteOrder(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** From when on an export counts, in milliseconds. */
export function sinceMs(dated: Pick<Dated, 'createdMs' | 'acceptedMs'>): number {
  return Math.max(dated.createdMs, dated.acceptedMs)
}
