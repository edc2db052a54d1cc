const second = 1000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

type Step = {
  readonly below: number
  readonly unit: readonly [number, string]
  /** Shown behind the unit where it is not 0. */
  readonly rest?: readonly [number, string]
}

const seconds = [second, 's'] as const
const minutes = [minute, 'm'] as const
const hours = [hour, 'h'] as const
const days = [day, 'd'] as const
const years = [year, 'y'] as const

const steps: readonly Step[] = [
  { below: 2 * minute, unit: seconds },
  { below: 10 * minute, unit: minutes, rest: seconds },
  { below: 3 * hour, unit: minutes },
  { below: 8 * hour, unit: hours, rest: minutes },
  { below: 2 * day, unit: hours },
  { below: 8 * day, unit: days, rest: hours },
  { below: 2 * year, unit: days },
  { below: 8 * year, unit: years, rest: days },
]

const eldest: Step = { below: Infinity, unit: years }

/** How kubectl shows an age: two figures while it is young, one when it is old (apimachinery `HumanDuration`). */
export function humanDuration(ms: number): string {
  if (ms <= -2 * second) return '<invalid>'
  if (ms < 0) return '0s'
  const step = stepOf(ms)
  const [size, name] = step.unit
  const whole = `${Math.floor(ms / size)}${name}`
  if (step.rest === undefined) return whole
  const [restSize, restName] = step.rest
  const rest = Math.floor((ms % size) / restSize)
  return rest === 0 ? whole : `${whole}${rest}${restName}`
}

function stepOf(ms: number): Step {
  return steps.find(s => ms < s.below) ?? eldest
}

/** What tells the age of a time, in text: `ageOf` is never a part of a text. */
export type Ages = {
  ageOf(time: string | undefined): string
}

/** The time since something that need not have happened; prints nothing while it has not. */
export function timeSince(time: string | undefined, ages: Ages): string | null {
  return time === undefined ? null : ages.ageOf(time)
}

/** The age of what should have a time and has none. */
export const unknownAge = '<unknown>'

/** The age of a time, NaN when it is none. */
export function ageText(atMs: number, nowMs: number): string {
  return Number.isNaN(atMs) ? '<invalid>' : humanDuration(nowMs - atMs)
}

/** When the text of an age becomes another, counted from what it is now. */
export function ageChangesAt(atMs: number, nowMs: number): number {
  if (Number.isNaN(atMs)) return Number.POSITIVE_INFINITY
  const ms = nowMs - atMs
  const { unit, rest } = stepOf(ms)
  const [shown] = rest ?? unit
  return atMs + (Math.floor(ms / shown) + 1) * shown
}
