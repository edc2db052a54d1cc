import { sleep } from './abort.ts'
import type { Clock } from './clock.ts'

/** Lets so much happen and no more. */
export type Pace = {
  /** Whoever comes too early waits for his turn, in the order of coming. */
  turn(signal: AbortSignal): Promise<void>
  /** For whoever was told to come again later. */
  rest(ms: number, signal: AbortSignal): Promise<void>
}

/** At most `perSecond` turns in any second, however long nobody came before. */
export function paceOf(perSecond: number, clock: Clock): Pace {
  /** When the last `perSecond` turns were or will be; the oldest is at `next`. */
  const turns: number[] = []
  let next = 0
  const turn = async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.now()
    const turnMs = Math.max(nowMs, (turns[next] ?? Number.NEGATIVE_INFINITY) + 1_000)
    turns[next] = turnMs
    next = (next + 1) % perSecond
    if (turnMs > nowMs) await sleep(clock, turnMs - nowMs, signal)
  }
  return { turn, rest: (ms, signal) => sleep(clock, ms, signal) }
}
