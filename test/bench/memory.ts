import { readFileSync } from 'node:fs'

/** MB (10^6) of proportional set size. */
export function pssMegabytes(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')
  return (Number(/^Pss:\s+(\d+) kB/m.exec(text)?.[1]) * 1024) / 1_000_000
}
