import type { Clock } from '../../src/kernel/clock.ts'

/** As long as writes go on, handing out takes at most one part of the time in one more than so many. */
const restFactor = 4
/** No rest is longer. */
const longestRestMs = 10
/** Fewer watchers than take so long cost next to nothing. */
const leastHandOutMs = 1

/**
 * When the next commits are handed out. What a connection costs each time it is written to is most of it, so where many
 * watch, the events of some commits together cost little more than those of one: they wait for the next when its writes are
 * there already. Where few watch a hand-out takes no time, and nothing waits.
 */
export class HandOutPace {
  /** It has to go on evenly when the time of day is set. */
  readonly #clock: Clock
  #isMoreToCome: boolean = false
  /** The next hand-out is not to begin before. */
  #restsUntilMs = 0
  #goOn = (): void => undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Whether writes wait whose events may soon be handed out together with those that wait. */
  expect(isMoreToCome: boolean): void {
    this.#isMoreToCome = isMoreToCome
    if (!isMoreToCome) this.goOn()
  }

  /** Ends a rest. */
  goOn(): void {
    this.#goOn()
  }

  /** Resolves when it is time. */
  async due(): Promise<void> {
    const restMs = Math.min(this.#restsUntilMs - this.#clock.now(), longestRestMs)
    if (!this.#isMoreToCome || restMs <= 0) return
    await new Promise<void>(resolve => {
      const cancel = this.#clock.after(restMs, resolve)
      this.#goOn = () => {
        cancel()
        resolve()
      }
    })
  }

  /** Hands out, and sees how long it takes. */
  async measure(handOut: () => Promise<void>): Promise<void> {
    const startedMs = this.#clock.now()
    await handOut()
    const endedMs = this.#clock.now()
    const tookMs = endedMs - startedMs
    this.#restsUntilMs = endedMs + (tookMs < leastHandOutMs ? 0 : restFactor * tookMs)
  }
}
