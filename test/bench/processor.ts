import { readFileSync } from 'node:fs'

/** Seconds of processor time that these processes have taken. Linux counts in hundredths. */
export function processorSeconds(pids: readonly (number | undefined)[]): number {
  const ticks = pids.map(pid => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((sum, each) => sum + each, 0) / 100
}
