import type { Clock } from '../../src/kernel/clock.ts'
import type { Exchanges } from './exchange.ts'
import type { Listener } from './listener.ts'

/** Our part of a request takes milliseconds: what is not done after this waits for its client. */
const drainMs = 10_000
/** A watcher that reads has the end of its watch long before. */
const endMs = 750
const disconnectMs = 500
const giveUpMs = 1_000

/**
 * No new connections; waits for the requests under way, ends watches, closes the connections. Resolves within 12.25 s
 * whatever clients do, within 1.25 s when only watches are open.
 */
export async function shutDown(exchanges: Exchanges, listener: Listener, clock: Clock): Promise<void> {
  exchanges.stopping()
  listener.stop()
  await atMost(clock, drainMs, exchanges.drained())
  exchanges.endWatches()
  await atMost(clock, endMs, exchanges.idle())
  const patience = new AbortController()
  const cancel = clock.after(disconnectMs, () => patience.abort())
  await atMost(clock, disconnectMs + giveUpMs, listener.close(patience.signal))
  cancel()
}

/** Resolves when the work is done, or when it has had its time. */
function atMost(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, resolve)
    work.then(resolve, reject).finally(cancel)
  })
}
