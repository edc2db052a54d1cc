/** One figure of a benchmark; `baseline` is what the ratio compares with, measured in the same run. */
export type Row = {
  readonly what: string
  readonly unit: string
  readonly value: number
  readonly baseline?: number
}

export interface Bench {
  readonly name: string
  run(): Promise<readonly Row[]>
}

/** `1 234.5`, with as many digits as mean something. */
function shown(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toFixed(1)
}

export function rowText(row: Row): string {
  const figure = `${row.what.padEnd(48)} ${shown(row.value).padStart(10)} ${row.unit.padEnd(6)}`
  if (row.baseline === undefined) return figure
  return `${figure} ${(row.value / row.baseline).toFixed(2)} of baseline ${shown(row.baseline)}`
}
