import { shown } from '../../src/kernel/field-error.ts'

/** In nanoseconds. */
const units: Readonly<Record<string, number>> = {
  ns: 1,
  us: 1e3,
  µs: 1e3,
  μs: 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3_600e9,
}
const nsPerMs = 1e6
/** What an int64 holds, and what that is of nanoseconds: 292 years. */
const longestNs = 2 ** 63

export type GoDuration = { readonly ms: number } | { readonly fault: string }

/** A duration as Go writes it (`34s`, `1m30s`, `1.5h`, `-2s`, `0`), or what Go's `time.ParseDuration` says of the text. */
export function parseGoDuration(text: string): GoDuration {
  const unsigned = text.replace(/^[+-]/, '')
  if (unsigned === '0') return { ms: 0 }
  const total = nanosecondsOf(unsigned)
  if (typeof total === 'string') return { fault: `time: ${total} ${shown(text)}` }
  return { ms: (text.startsWith('-') ? -total : total) / nsPerMs }
}

/** Or what is wrong. */
function nanosecondsOf(text: string): number | string {
  const part = /(\d+(?:\.\d*)?|\.\d+)([^\d.]*)/y
  let total = 0
  do {
    const [, digits, unit = ''] = part.exec(text) ?? []
    if (digits === undefined) return 'invalid duration'
    if (unit === '') return 'missing unit in duration'
    const length = units[unit]
    if (length === undefined) return `unknown unit ${shown(unit)} in duration`
    total += Number(digits) * length
  } while (part.lastIndex < text.length)
  return total < longestNs ? total : 'invalid duration'
}
