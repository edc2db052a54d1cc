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
  let lastMs = clock.now()
  /** A clock that was set back must not make all wait until it is where it was. */
  const keepUp = (nowMs: number): void => {
    if (nowMs < lastMs) for (const at of turns.keys()) turns[at] = (turns[at] ?? 0) - (lastMs - nowMs)
    lastMs = nowMs
  }
  const turn = async (signal: AbortSignal): Promise<void> => {
    const nowMs = clock.now()
    keepUp(nowMs)
    const turnMs = Math.max(nowMs, (turns[next] ?? Number.NEGATIVE_INFINITY) + 1_000)
    turns[next] = turnMs
    next = (next + 1) % perSecond
    if (turnMs > nowMs) await sleep(clock, turnMs - nowMs, signal)
  }
  return { turn, rest: (ms, signal) => sleep(clock, ms, signal) }
}
