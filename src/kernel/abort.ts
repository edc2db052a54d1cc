import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

/** A signal that never aborts. */
export const never: AbortSignal = new AbortController().signal

/** Resolves after `delayMs`, or rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason)
      return
    }
    const onAbort = (): void => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(delayMs, () => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    })
    signal.addEventListener('abort', onAbort, { once: true })
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

/** What the promise says, or the signal's reason as soon as it aborts. */
export function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason)
    if (signal.aborted) onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** Resolves when the signal aborts. */
export function ended(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
