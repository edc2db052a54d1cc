const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
}

/** A duration as Go writes it (`34s`, `1m30s`, `1.5h`, `-2s`, `0`) in milliseconds, or undefined when it is none. */
export function parseGoDuration(text: string): number | undefined {
  const sign = text.startsWith('-') ? -1 : 1
  const unsigned = /^[+-]/.test(text) ? text.slice(1) : text
  if (unsigned === '0') return 0
  if (unsigned === '' || unsigned.length > 64) return undefined
  const part = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/y
  let total = 0
  while (part.lastIndex < unsigned.length) {
    const match = part.exec(unsigned)
    if (match === null) return undefined
    total += Number(match[1]) * (unitMs[match[2] ?? ''] ?? Number.NaN)
  }
  return sign * total
}
