/** When memory that nothing needs goes back to the system: when there is little else to do. */
import type { Clock } from '../kernel/clock.ts'

/** What a process can do about the memory that it has taken. */
export type ProcessMemory = {
  /** The share of the time since it was last asked in which there was something to do. */
  busyShare(): number
  /** Lets the collector look for what can be given up, step by step beside other work. */
  collect(isWanted: boolean): void
  /** Gives back what is free between things that are in use. Takes milliseconds. */
  trim(): void
}

const stepMs = 1000
/** More is work. */
const busy = 0.2
/** More is work beside the collector, which itself has some. */
const busyBeside = 0.5
/** So many steps without work are quiet. */
const quietSteps = 10
/** As many more the collector is given before what is free goes back, again and again since it may begin late. */
const trimEvery = 5
/** Then there is nothing left to look for. */
const lastTrim = quietSteps + 12 * trimEvery

/** Looks every second until the signal aborts. A process that is never quiet keeps what it has. */
export function returnMemory(memory: ProcessMemory, clock: Clock, signal: AbortSignal): void {
  const look = (quietFor: number): void => {
    if (signal.aborted) return
    const after = step(memory, quietFor)
    clock.after(stepMs, () => look(after))
  }
  clock.after(stepMs, () => look(0))
}

/** `quietFor` so many steps before; answers for how many now. */
function step(memory: ProcessMemory, quietFor: number): number {
  const isQuiet = quietFor >= quietSteps
  const isWork = memory.busyShare() > (isQuiet && quietFor < lastTrim ? busyBeside : busy)
  if (isWork && isQuiet) memory.collect(false)
  const now = isWork ? 0 : quietFor + 1
  if (now === quietSteps) memory.collect(true)
  if (now > quietSteps && now <= lastTrim && (now - quietSteps) % trimEvery === 0) memory.trim()
  return now
}
