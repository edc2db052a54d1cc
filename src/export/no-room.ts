import { isOverQuota } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import type { Carried } from '../kernel/propagation.ts'
import { isRefusal } from './refusal.ts'

export type NoRoomOptions = {
  /** What is kept out, in words. */
  readonly name: string
  readonly log: Logger
  /** Brings a key back. */
  retry(key: string): void
}

/**
 * What the hub has no room for waits here instead of being sent again and again: whatever gives room, and whatever finds
 * it, brings the next one, the longest waiting first.
 */
export class NoRoom {
  readonly #options: NoRoomOptions
  readonly #waiting = new Set<string>()

  constructor(options: NoRoomOptions) {
    this.#options = options
  }

  /** Works on a key. One that fails for another reason waits here no more: whoever called tries it again. */
  async enter(key: string, work: () => Promise<Carried>): Promise<Carried> {
    try {
      const carried = await work()
      if (this.#waiting.delete(key)) this.tryNext()
      return carried
    } catch (thrown) {
      const waited = this.#waiting.delete(key)
      if (!isOverQuota(thrown)) {
        if (waited && isRefusal(thrown)) this.tryNext()
        throw thrown
      }
      const { log, name } = this.#options
      if (!waited && this.#waiting.size === 0)
        log.warn(`the hub has no room for more ${name}`, { why: thrown.message })
      this.#waiting.add(key)
      return 'behind'
    }
  }

  /** There may be room now. */
  tryNext(): void {
    const [next] = this.#waiting
    if (next !== undefined) this.#options.retry(next)
  }
}
