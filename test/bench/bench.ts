/** What a figure has to be: itself, or its ratio to the baseline. */
export type Must = {
  readonly ratioAtLeast?: number
  readonly ratioBelow?: number
  readonly valueBelow?: number
  readonly valueAtLeast?: number
}

/** One figure of a benchmark; `baseline` is what the ratio compares with, measured in the same run. */
export type Row = {
  readonly what: string
  readonly unit: string
  readonly value: number
  readonly baseline?: number
  /** The least and the greatest of what `value` is the median of. */
  readonly spread?: readonly [number, number]
  readonly must?: Must
}

export type RunOptions = {
  /** Shows that it runs and judges nothing. */
  readonly short: boolean
  /** Somebody fails when a figure is not what it has to be. */
  readonly gate: boolean
  /** Takes the figures as a Markdown table. */
  readonly table?: (markdown: string) => void
}

export interface Bench {
  readonly name: string
  readonly hasShortForm?: boolean
  run(options: RunOptions): Promise<readonly Row[]>
}

/** `1 234.5`, with as many digits as mean something. */
function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(value < 3 ? 2 : 1)
}

export function rowText(row: Row): string {
  const figure = `${row.what.padEnd(52)} ${shown(row.value).padStart(10)} ${row.unit.padEnd(6)}`
  const ratio =
    row.baseline === undefined
      ? ''
      : ` ${(row.value / row.baseline).toFixed(2)} of baseline ${shown(row.baseline)}`
  const spread = row.spread === undefined ? '' : ` (${row.spread.map(shown).join('–')})`
  return `${figure}${spread}${ratio}${failureOf(row) === undefined ? '' : `  MUST BE ${failureOf(row)}`}`
}

/** What the row had to be and is not; a figure that could not be measured is none. */
export function failureOf({ value, baseline = Number.NaN, must = {} }: Row): string | undefined {
  const ratio = value / baseline
  const { ratioAtLeast, ratioBelow, valueBelow, valueAtLeast } = must
  if (ratioAtLeast !== undefined && !(ratio >= ratioAtLeast)) return `at least ${ratioAtLeast} of baseline`
  if (ratioBelow !== undefined && !(ratio < ratioBelow)) return `below ${ratioBelow} of baseline`
  if (valueAtLeast !== undefined && !(value >= valueAtLeast)) return `at least ${valueAtLeast}`
  if (valueBelow !== undefined && !(value < valueBelow)) return `below ${valueBelow}`
  return undefined
}
