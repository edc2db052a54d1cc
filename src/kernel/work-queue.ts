import { background, errorText, onAbort, sleep } from './abort.ts'
import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

export type WorkQueueOptions = {
  readonly name: string
  readonly clock: Clock
  readonly log: Logger
  /** How many keys are worked on at once; one key never twice at once. */
  readonly concurrency?: number
  readonly firstBackoffMs?: number
  readonly maxBackoffMs?: number
}

/**
 * A queue of keys for reconcilers, with the rules of client-go's workqueue: a key added while it waits is kept once; a
 * key added while it is worked on runs once more afterwards; a failure comes back after a growing delay, a success
 * forgets the delay. Bounded by the number of distinct keys.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions
  readonly #reconcile: (key: string, signal: AbortSignal) => Promise<void>
  readonly #signal: AbortSignal
  readonly #waiting = new Set<string>()
  readonly #running = new Set<string>()
  readonly #failures = new Map<string, number>()
  readonly #idle: (() => void)[] = []

  constructor(
    options: WorkQueueOptions,
    reconcile: (key: string, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ) {
    this.#options = options
    this.#reconcile = reconcile
    this.#signal = signal
  }

  add(key: string): void {
    this.#waiting.add(key)
    this.#pump()
  }

  /** Adds the key once `delayMs` have passed. */
  addAfter(key: string, delayMs: number): void {
    const cancel = this.#options.clock.after(delayMs, () => {
      forget()
      this.add(key)
    })
    const forget = onAbort(this.#signal, cancel)
  }

  get size(): number {
    return this.#waiting.size + this.#running.size
  }

  /** Resolves when nothing waits and nothing runs; keys that wait for their backoff do not count. */
  idle(): Promise<void> {
    return this.size === 0 ? Promise.resolve() : new Promise(resolve => this.#idle.push(resolve))
  }

  #pump(): void {
    for (const key of this.#waiting) {
      if (this.#signal.aborted || this.#running.size >= (this.#options.concurrency ?? 1)) break
      if (this.#running.has(key)) continue
      this.#waiting.delete(key)
      this.#running.add(key)
      background(this.#options.name, this.#options.log, this.#signal, () => this.#work(key))
    }
    if (this.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  async #work(key: string): Promise<void> {
    try {
      await this.#reconcile(key, this.#signal)
      this.#failures.delete(key)
    } catch (thrown) {
      if (!this.#signal.aborted) this.#retry(key, thrown)
    } finally {
      this.#running.delete(key)
      this.#pump()
    }
  }

  #retry(key: string, thrown: unknown): void {
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    const first = this.#options.firstBackoffMs ?? 50
    const delayMs = Math.min(first * 2 ** Math.min(failures - 1, 20), this.#options.maxBackoffMs ?? 30_000)
    this.#options.log.warn('reconcile failed', {
      queue: this.#options.name,
      key,
      failures,
      delayMs,
      error: errorText(thrown),
    })
    this.addAfter(key, delayMs)
  }
}

/** Repeats `task` until the signal aborts, `intervalMs` after each end; failures are logged and repeated too. */
export async function every(
  options: {
    readonly name: string
    readonly intervalMs: number
    /** How long before the first time; not at all when absent. */
    readonly firstMs?: number
    readonly clock: Clock
    readonly log: Logger
  },
  task: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { clock, firstMs, intervalMs, log, name } = options
  if (firstMs !== undefined) await sleep(clock, firstMs, signal)
  while (!signal.aborted) {
    try {
      await task(signal)
    } catch (thrown) {
      if (!signal.aborted) log.warn('periodic task failed', { task: name, error: errorText(thrown) })
    }
    await sleep(clock, intervalMs, signal).catch(() => undefined)
  }
}
