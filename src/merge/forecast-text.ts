/** The words of a forecast. They go into a header, from clusters that are not trusted with it. */
import { toTime } from '../kernel/clock.ts'
import { sinceMs } from './precedence.ts'
import type { Ranked } from './resolution.ts'

export type Dispute = {
  readonly field: string
  /** Undefined when it is not known. */
  readonly used: string | undefined
  /** What the losers have instead; undefined when it is not known, or not the same for all. */
  readonly own: string | undefined
  readonly losers: readonly Ranked[]
  readonly winner: Ranked
  /** The export of this cluster. */
  readonly after: Ranked
}

export function disputeText({ field, used, own, losers, winner, after }: Dispute): string {
  const winning = clustersText([winner], after)
  const sinceText = isDated(winner) ? `, and that of ${winning} counts since ${toTime(sinceMs(winner))}` : ''
  const using = `${valueText(used, [winner])} of ${winning} is used`
  return `${field}: ${using}, not ${valueText(own, losers)} of ${clustersText(losers, after)}: the older export wins${sinceText}`
}

function valueText(value: string | undefined, { length }: readonly Ranked[]): string {
  if (value !== undefined) return shown(value)
  return length === 1 ? 'the value' : 'the values'
}

/** `this cluster`, `cluster east`, `cluster east and 2 more`. */
export function clustersText([first, ...more]: readonly Ranked[], after: Ranked): string {
  const named = first === after ? 'this cluster' : `cluster ${first?.cluster ?? ''}`
  return more.length === 0 ? named : `${named} and ${more.length} more`
}

function isDated(contribution: Ranked): boolean {
  return sinceMs(contribution) < Number.MAX_SAFE_INTEGER
}

const maxShown = 100

export function shown(text: string): string {
  const printable = text.replace(/\p{Cc}/gu, '?')
  return printable.length <= maxShown ? printable : `${printable.slice(0, maxShown)}…`
}
