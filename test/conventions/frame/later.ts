/** Answers that take time, on a clock that a test sets. */
import { type ManualClock, settled } from '../../support/manual-clock.ts'

/**
 * What a request is answered that waits: once the server has set its timers for it, time passes. Throws when the request
 * has not arrived after as many turns as it takes for one.
 */
export async function answeredAfter<T>(clock: ManualClock, ms: number, ask: () => Promise<T>): Promise<T> {
  const { pending } = clock
  const answer = ask()
  for (let turns = 0; clock.pending <= pending; turns += 1) {
    if (turns > 10_000) throw new Error('nothing waits')
    await settled()
  }
  await clock.advance(ms)
  return answer
}
