/** The words of a forecast. They go into a header, from clusters that are not trusted with it. */
import type { Contribution } from '../contract.ts'
import { toTime } from '../kernel/clock.ts'
import { sinceMs } from './precedence.ts'

type Dispute = {
  readonly field: string
  readonly used: string
  /** What the first of the losers has instead. */
  readonly own: string
  readonly losers: string
  readonly winner: Contribution
  /** The export of this cluster. */
  readonly after: Contribution
}

export function disputeText({ field, used, own, losers, winner, after }: Dispute): string {
  const winning = clustersText([winner], after)
  const sinceText = isDated(winner) ? `, and that of ${winning} counts since ${toTime(sinceMs(winner))}` : ''
  return `${field}: ${shown(used)} of ${winning} is used, not ${shown(own)} of ${losers}: the older export wins${sinceText}`
}

/** `this cluster`, `cluster east`, `cluster east and 2 more`. */
export function clustersText([first, ...more]: readonly Contribution[], after: Contribution): string {
  const named = first === after ? 'this cluster' : `cluster ${first?.cluster ?? ''}`
  return more.length === 0 ? named : `${named} and ${more.length} more`
}

function isDated(contribution: Contribution): boolean {
  return sinceMs(contribution) < Number.MAX_SAFE_INTEGER
}

const maxShown = 100

export function shown(text: string): string {
  const printable = text.replace(/\p{Cc}/gu, '?')
  return printable.length <= maxShown ? printable : `${printable.slice(0, maxShown)}…`
}
