/** How long the main thread of a server computes without a pause. Runs inside that server. */

export type Load = {
  /** The longest time of computing between two turns of a timer, in ms of CPU: other processes do not count. */
  readonly longestMs: number
  /** What the main thread computed since the last report. */
  readonly totalMs: number
}

const intervalMs = 1

let longestMs = 0
let startMs = usedMs()
let lastMs = startMs

setInterval(look, intervalMs).unref()

function usedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function look(): void {
  const nowMs = usedMs()
  longestMs = Math.max(longestMs, nowMs - lastMs)
  lastMs = nowMs
}

/** Since the last report. */
export function report(): Load {
  look()
  const load = { longestMs, totalMs: lastMs - startMs }
  longestMs = 0
  startMs = lastMs
  return load
}
