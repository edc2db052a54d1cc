import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

/** A signal that never aborts. */
export const never: AbortSignal = new AbortController().signal

type Waiting = { readonly runs: Set<() => void>; readonly listener: () => void }

const waiting = new WeakMap<AbortSignal, Waiting>()

/**
 * Runs once when a signal that has not aborted does; the result takes it back. However many wait, the signal has one
 * listener: each that it has makes adding and removing the next one slower.
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const { runs, listener } = waiting.get(signal) ?? wait(signal)
  const own = (): void => run()
  runs.add(own)
  return () => {
    runs.delete(own)
    if (runs.size > 0 || waiting.get(signal)?.runs !== runs) return
    waiting.delete(signal)
    signal.removeEventListener('abort', listener)
  }
}

function wait(signal: AbortSignal): Waiting {
  const runs = new Set<() => void>()
  const listener = (): void => {
    for (const run of runs) run()
  }
  signal.addEventListener('abort', listener, { once: true })
  const made = { runs, listener }
  waiting.set(signal, made)
  return made
}

/** Resolves after `delayMs`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason)
      return
    }
    const forget = onAbort(signal, () => {
      cancel()
      reject(signal.reason)
    })
    const cancel = clock.after(delayMs, () => {
      forget()
      resolve()
    })
  })
}

/**
 * Runs `task` without awaiting it. A failure is logged as an error unless the signal has aborted: what runs in the
 * background has nobody else to tell.
 */
export function background(
  name: string,
  log: Logger,
  signal: AbortSignal,
  task: (signal: AbortSignal) => Promise<void>,
): void {
  task(signal).catch((cause: unknown) => {
    if (!signal.aborted) log.error('background task failed', { task: name, error: errorText(cause) })
  })
}

/** The message of whatever was thrown. */
export function errorText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Gives a task so long; its signal aborts with what `late` answers. What it then does is its own. */
export async function within<T>(
  clock: Clock,
  delayMs: number,
  late: () => Error,
  task: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController()
  const cancel = clock.after(delayMs, () => over.abort(late()))
  try {
    return await task(over.signal)
  } finally {
    cancel()
  }
}

/** What the promise says, or the signal's reason as soon as it aborts. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    const forget = onAbort(signal, () => reject(signal.reason))
    promise.then(resolve, reject).finally(forget)
  })
}

/** Resolves when the signal aborts. */
export function ended(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else onAbort(signal, resolve)
  })
}
