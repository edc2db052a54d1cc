/** What a figure has to be: itself, or its ratio to the baseline. */
export type Must = {
  readonly ratioAtLeast?: number
  readonly ratioBelow?: number
  readonly valueBelow?: number
}

/** One figure of a benchmark; `baseline` is what the ratio compares with, measured in the same run. */
export type Row = {
  readonly what: string
  readonly unit: string
  readonly value: number
  readonly baseline?: number
  readonly must?: Must
}

export interface Bench {
  readonly name: string
  run(): Promise<readonly Row[]>
}

/** `1 234.5`, with as many digits as mean something. */
function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value < 1 ? 2 : 1)
}

export function rowText(row: Row): string {
  const figure = `${row.what.padEnd(52)} ${shown(row.value).padStart(10)} ${row.unit.padEnd(6)}`
  const ratio =
    row.baseline === undefined
      ? ''
      : ` ${(row.value / row.baseline).toFixed(2)} of baseline ${shown(row.baseline)}`
  return `${figure}${ratio}${failureOf(row) === undefined ? '' : `  MUST BE ${failureOf(row)}`}`
}

/** What the row had to be and is not; a figure that could not be measured is none. */
export function failureOf({ value, baseline = Number.NaN, must = {} }: Row): string | undefined {
  const ratio = value / baseline
  const { ratioAtLeast, ratioBelow, valueBelow } = must
  if (ratioAtLeast !== undefined && !(ratio >= ratioAtLeast)) return `at least ${ratioAtLeast} of baseline`
  if (ratioBelow !== undefined && !(ratio < ratioBelow)) return `below ${ratioBelow} of baseline`
  if (valueBelow !== undefined && !(value < valueBelow)) return `below ${valueBelow}`
  return undefined
}
