import { unlessAborted, within } from './abort.ts'
import type { Clock } from './clock.ts'

export type SharedAnswersOptions = {
  readonly clock: Clock
  /** How long an answer is good. */
  readonly ttlMs: number
  /** Beyond this the answer that was used longest ago is forgotten. */
  readonly maxEntries: number
  /** How long a question may take. */
  readonly timeoutMs: number
}

type Known<T> = { readonly value: T; readonly untilMs: number }

/**
 * Answers to questions that cost a request elsewhere: remembered for a while, and asked once however many want to know at
 * the same time. Failures are not remembered.
 */
export class SharedAnswers<T extends NonNullable<unknown>> {
  readonly #options: SharedAnswersOptions
  readonly #known = new Map<string, Known<T>>()
  readonly #asked = new Map<string, Promise<T>>()

  constructor(options: SharedAnswersOptions) {
    this.#options = options
  }

  /** The answer that is remembered. */
  known(key: string): T | undefined {
    const known = this.#known.get(key)
    if (known === undefined || known.untilMs <= this.#options.clock.now()) return undefined
    this.#keep(key, known)
    return known.value
  }

  /** The question goes on for the others when the signal of one aborts. */
  get(key: string, ask: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    const known = this.known(key)
    if (known !== undefined) return Promise.resolve(known)
    this.#known.delete(key)
    const asked = this.#asked.get(key) ?? this.#ask(key, ask)
    return unlessAborted(asked, signal)
  }

  #ask(key: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, timeoutMs, ttlMs } = this.#options
    const late = (): Error => new Error(`no answer within ${timeoutMs / 1000} s`)
    const asked = within(clock, timeoutMs, late, ask)
      .then(value => {
        this.#keep(key, { value, untilMs: clock.now() + ttlMs })
        return value
      })
      .finally(() => {
        this.#asked.delete(key)
      })
    this.#asked.set(key, asked)
    return asked
  }

  #keep(key: string, known: Known<T>): void {
    this.#known.delete(key)
    this.#known.set(key, known)
    if (this.#known.size <= this.#options.maxEntries) return
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest)
      return
    }
  }
}
