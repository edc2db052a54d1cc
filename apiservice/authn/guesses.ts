import { isIPv6 } from 'node:net'
import { parseAddress } from '../../src/ip/address.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { tooManyRequests } from '../../src/kernel/errors.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'

/** So many wrong tokens at once, and so many more each second. */
const burst = 100
const perSecond = 10

/** Beyond this the source that has guessed least lately is forgotten. */
const maxSources = 10_000

type Left = { readonly guesses: number; readonly atMs: number }

/**
 * How often clients of one address have sent tokens that nobody knows. Tokens are too long to be guessed; this keeps who
 * tries from being work. An address without wrong tokens is never kept waiting.
 */
export class Guesses {
  readonly #clock: Clock
  readonly #refused
  readonly #left = new Map<string, Left>()

  constructor({ clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics }) {
    this.#clock = clock
    this.#refused = metrics.counter({
      name: 'isthmus_authentication_guesses_refused_total',
      help: 'Requests whose token was not looked at, since too many of their address were wrong.',
    })
  }

  /** Throws 429 when a token of this address is not to be looked at. */
  check(address: string): void {
    if (this.#left.size === 0) return
    if (this.#leftOf(sourceOf(address)) >= 1) return
    this.#refused.add()
    throw tooManyRequests('Too many tokens that are not known, please try again later.', 1)
  }

  wrong(address: string): void {
    const source = sourceOf(address)
    // Many that were looked at together count no more than one burst.
    const guesses = Math.max(0, this.#leftOf(source) - 1)
    this.#left.delete(source)
    this.#left.set(source, { guesses, atMs: this.#clock.now() })
    if (this.#left.size <= maxSources) return
    const [oldest] = this.#left.keys()
    if (oldest !== undefined) this.#left.delete(oldest)
  }

  #leftOf(source: string): number {
    const left = this.#left.get(source)
    const seconds = (this.#clock.now() - (left?.atMs ?? 0)) / 1000
    // A clock that was set back must not keep anybody waiting until it is where it was.
    if (left === undefined || seconds < 0) return burst
    return Math.min(burst, left.guesses + seconds * perSecond)
  }
}

/** Whoever has an IPv6 address has all of the last 64 bits. */
function sourceOf(address: string): string {
  if (!isIPv6(address)) return address
  const parsed = parseAddress(address)
  return parsed?.family === 'IPv6' ? `${parsed.value >> 64n}` : address
}
