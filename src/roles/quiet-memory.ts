/** When memory that nothing needs goes back to the system: when there is little else to do. */
import type { Clock } from '../kernel/clock.ts'

/** What a process can do about the memory that it has taken. */
export type ProcessMemory = {
  /** The share of the time since it was last asked in which there was something to do. */
  busyShare(): number
  /** Lets the collector look for what can be given up, step by step beside other work, which is slower meanwhile. */
  collect(isWanted: boolean): void
  /** Whether the collector has looked for what can be given up since it was let. */
  hasCollected(): boolean
  /** Gives back what is free between things that are in use. Takes milliseconds. */
  trim(): void
}

const lookMs = 1000
/** While the collector is let: work that comes is not to be slow for longer. */
const closeLookMs = 250
/** More is work. */
const busy = 0.2
/** More is work beside the collector, which itself has some: its last step may fill a look. */
const busyBeside = 0.5
const quietEnoughMs = 20_000
/** So long the collector is given before what is free goes back, again and again since it may begin late. */
const trimEveryMs = 5000
/** Behind the last there is nothing left to look for. */
const trimsMs = Array.from({ length: 12 }, (_, index) => quietEnoughMs + (index + 1) * trimEveryMs)
/** Other threads of the process have collectors of their own, of which nobody hears. */
const firstEndMs = quietEnoughMs + 5_000
/** A collector that has found no reason by then will find none. */
const lastEndMs = quietEnoughMs + 15_000

type Quiet = { readonly forMs: number; readonly isCollecting: boolean; readonly wasBusy: boolean }

const noQuiet: Quiet = { forMs: 0, isCollecting: false, wasBusy: false }

/** Looks every second or oftener until the signal aborts. A process that is never quiet keeps what it has. */
export function returnMemory(memory: ProcessMemory, clock: Clock, signal: AbortSignal): void {
  const lookAfter = (delayMs: number, before: Quiet): void => {
    clock.after(delayMs, () => {
      if (signal.aborted) return
      const now = look(memory, before, delayMs)
      lookAfter(now.isCollecting ? closeLookMs : lookMs, now)
    })
  }
  lookAfter(lookMs, noQuiet)
}

function look(memory: ProcessMemory, before: Quiet, passedMs: number): Quiet {
  const isBusy = memory.busyShare() > (before.isCollecting ? busyBeside : busy)
  const isWork = isBusy && (before.wasBusy || !before.isCollecting)
  const forMs = before.forMs + passedMs
  const isOver = before.isCollecting && (isWork || isCollected(memory, forMs))
  if (isOver) memory.collect(false)
  if (isWork) return noQuiet
  const isEnough = isNewly(forMs, before, quietEnoughMs)
  if (isEnough) memory.collect(true)
  if (!isBusy && trimsMs.some(atMs => isNewly(forMs, before, atMs))) memory.trim()
  return { forMs, isCollecting: isEnough || (before.isCollecting && !isOver), wasBusy: isBusy }
}

function isCollected(memory: ProcessMemory, forMs: number): boolean {
  return forMs >= lastEndMs || (forMs >= firstEndMs && memory.hasCollected())
}

function isNewly(forMs: number, before: Quiet, atMs: number): boolean {
  return forMs >= atMs && before.forMs < atMs
}
