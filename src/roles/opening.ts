/** A start that leaves nothing behind when it fails or is stopped, however far it got. */
import { background, errorText, never, unlessAborted } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { Context } from './context.ts'

type Close = () => Promise<void> | void

/** How long what was opened has to close after a start that failed. */
const closeWithinMs = 5_000
const settleWithinMs = 1_000

/** What was opened, closed with the last first. */
export class Opened {
  readonly #log: Logger
  readonly #closes: Close[] = []
  #closing: Promise<void> | undefined

  constructor(log: Logger) {
    this.#log = log
  }

  /** What is opened after the end is closed at once. */
  add(close: Close): void {
    if (this.#closing === undefined) this.#closes.push(close)
    else background('close what was opened late', this.#log, never, async () => close())
  }

  /** Resolves when all is closed, also for who asks again. What cannot be closed does not keep the rest open. */
  close(): Promise<void> {
    this.#closing ??= this.#closeAll()
    return this.#closing
  }

  async #closeAll(): Promise<void> {
    const failures: unknown[] = []
    for (const close of this.#closes.toReversed()) {
      try {
        await close()
      } catch (thrown) {
        failures.push(thrown)
      }
    }
    if (failures.length > 0) throw new Error(failures.map(errorText).join('; '))
  }
}

/**
 * Runs a start that tells what it opens. When it fails, or the role is to stop before it is done, all of that is closed,
 * for at most five seconds, and it rejects with why it failed.
 */
export async function opening<R>(
  { clock, log, signal }: Pick<Context, 'clock' | 'log' | 'signal'>,
  start: (opened: Opened) => Promise<R>,
): Promise<R> {
  const opened = new Opened(log)
  signal.throwIfAborted()
  const started = start(opened)
  try {
    return await unlessAborted(started, signal)
  } catch (thrown) {
    // What is being opened right now closes by itself at the signal.
    await inTime(clock, settleWithinMs, started.then(ignore, ignore))
    const closed = opened.close().then(() => undefined, errorText)
    const problem = await inTime(clock, closeWithinMs, closed)
    if (problem !== undefined) log.warn('not all was closed after the start failed', { error: problem })
    throw thrown
  }
}

function ignore(): void {
  // Told by the signal already.
}

/** What the promise says, or that there was no time left to say it. */
async function inTime<T>(clock: Clock, withinMs: number, promise: Promise<T>): Promise<T | string> {
  const late = Promise.withResolvers<string>()
  const cancel = clock.after(withinMs, () => late.resolve(`not done within ${withinMs / 1000} s`))
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    cancel()
  }
}
