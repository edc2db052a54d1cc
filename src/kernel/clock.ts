/**
 * The only source of time. Everything that waits or stamps takes a `Clock`, so that tests decide when time passes.
 * Times are milliseconds since the epoch.
 */
export interface Clock {
  now(): number
  /** Calls `run` once after `delayMs`; the result cancels it. A pending timer does not keep the process alive. */
  after(delayMs: number, run: () => void): () => void
}

/** A timer that is set for longer ends at once. */
const longestTimerMs = 2 ** 31 - 1

export const systemClock: Clock = {
  now: () => Date.now(),
  after(delayMs, run) {
    if (delayMs > longestTimerMs) {
      let cancel = systemClock.after(longestTimerMs, () => {
        cancel = systemClock.after(delayMs - longestTimerMs, run)
      })
      return () => cancel()
    }
    // biome-ignore lint/style/noRestrictedGlobals: this is the Clock that everything else is told to use
    const timer = setTimeout(run, delayMs)
    timer.unref()
    return () => clearTimeout(timer)
  },
}

/** For what lasts: it goes on evenly when the time of day is set, and may differ from it after that. */
export const steadyClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  after: systemClock.after,
}

/** The last that `toTime` was asked for: mostly it is asked for the second that it is. */
let lastTime = { second: Number.NaN, text: '' }

/** RFC 3339 in UTC with whole seconds, as Kubernetes writes `metav1.Time`: `2026-01-02T03:04:05Z`. */
export function toTime(millis: number): string {
  const second = Math.floor(millis / 1_000)
  if (second !== lastTime.second)
    lastTime = { second, text: `${new Date(millis).toISOString().slice(0, 19)}Z` }
  return lastTime.text
}

/** RFC 3339 in UTC with six digits, as Kubernetes writes `metav1.MicroTime`. */
export function toMicroTime(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 23)}000Z`
}

/** Milliseconds since the epoch, or NaN when the text is not an RFC 3339 time. */
export function fromTime(text: string): number {
  return /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text)
    ? Date.parse(text)
    : Number.NaN
}
