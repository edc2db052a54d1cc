/** How long the main thread of a server computes without a pause. Runs inside that server. */

export type Load = {
  /** The longest time of computing between two turns of a timer, in ms of CPU: other processes do not count. */
  readonly longestMs: number
  /** What the main thread computed since the last report. */
  readonly totalMs: number
}

const intervalMs = 1
/** The first of them are slow: V8 has not compiled anything. */
const measures = 15
/** What `measure` takes on that machine: the one of the table in README. */
const measureMs = 20
const yardstick = JSON.stringify(
  Object.fromEntries(
    Array.from({ length: 10_000 }, (_, at) => [`name-${at}`, [`third-${at}`, `second-${at}`, `first-${at}`]]),
  ),
)

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

/**
 * How many times longer than on the machine that the limits are meant for this thread computes the same thing at this moment;
 * 1 when it is quicker. Machines of CI are slower by half for minutes.
 */
export function slowness(): number {
  const took = Array.from({ length: measures }, () => {
    const before = usedMs()
    measure()
    return usedMs() - before
  })
  lastMs = usedMs()
  return Math.max(1, Math.min(...took) / measureMs)
}

/** What answering consists of: texts read, objects walked through, texts written. */
function measure(): void {
  const object = JSON.parse(yardstick) as Record<string, readonly string[]>
  const entries = Object.entries(object).map(
    ([name, words]) => [name.toUpperCase(), words.toSorted()] as const,
  )
  JSON.stringify(Object.fromEntries(entries))
}

/** Since the last report. */
export function report(): Load {
  look()
  const load = { longestMs, totalMs: lastMs - startMs }
  longestMs = 0
  startMs = lastMs
  return load
}
