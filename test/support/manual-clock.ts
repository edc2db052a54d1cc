import type { Clock } from '../../src/kernel/clock.ts'

export type ManualClock = Clock & {
  /** Lets time pass and runs the timers that become due, in order, letting promises settle before and after each. */
  advance(ms: number): Promise<void>
  /** How many timers wait. */
  readonly pending: number
}

/** Time that passes only when a test says so. */
export function manualClock(startMs = Date.parse('2026-01-02T03:04:05Z')): ManualClock {
  let nowMs = startMs
  const timers = new Set<{ readonly atMs: number; readonly run: () => void }>()
  return {
    now: () => nowMs,
    after(delayMs, run) {
      const timer = { atMs: nowMs + delayMs, run }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    async advance(ms) {
      await settled()
      const untilMs = nowMs + ms
      for (;;) {
        const [next] = [...timers].filter(t => t.atMs <= untilMs).sort((a, b) => a.atMs - b.atMs)
        if (next === undefined) break
        timers.delete(next)
        nowMs = Math.max(nowMs, next.atMs)
        next.run()
        await settled()
      }
      nowMs = untilMs
      await settled()
    },
    get pending() {
      return timers.size
    },
  }
}

/** Resolves when promises that need neither a timer nor input have gone on. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(resolve => setImmediate(resolve))
}
