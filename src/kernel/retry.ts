import { sleep } from './abort.ts'
import type { Clock } from './clock.ts'
import { isReason } from './errors.ts'

/** Of k8s.io/apiserver `DefaultRetryBackoff`: about four seconds in all. */
const attempts = 5
const firstDelayMs = 500
const factor = 1.5

/** Asks again when the other server was away, overloaded or at fault; throws the last failure. */
export async function withRetries<T>(ask: () => Promise<T>, clock: Clock, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await ask()
    } catch (thrown) {
      signal.throwIfAborted()
      if (attempt === attempts || !isTransient(thrown)) throw thrown
    }
    await sleep(clock, firstDelayMs * factor ** (attempt - 1), signal)
  }
}

function isTransient(thrown: unknown): boolean {
  return isReason(
    thrown,
    'ServiceUnavailable',
    'InternalError',
    'TooManyRequests',
    'ServerTimeout',
    'Timeout',
  )
}
