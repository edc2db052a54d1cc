import { sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'

/**
 * Asks again until `ask` answers without a throw, at most `deadlineMs`: for what other processes do in their own time.
 * Throws the last complaint.
 */
export async function eventually<T>(ask: () => Promise<T> | T, deadlineMs = 15_000): Promise<T> {
  const until = systemClock.now() + deadlineMs
  for (;;) {
    try {
      return await ask()
    } catch (thrown) {
      if (systemClock.now() > until) throw thrown
      await sleep(systemClock, 50, AbortSignal.timeout(deadlineMs + 1_000))
    }
  }
}
