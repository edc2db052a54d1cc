/**
 * Whether the hub itself hears anybody. The silence of one member means that it is gone only while others are heard: when
 * all fall silent together, or nobody was heard since the start, the hub is the one that is cut off.
 */
export class Hearing {
  /** Since when somebody has been heard again and again. */
  #sinceMs = Number.POSITIVE_INFINITY
  #lastMs = Number.NEGATIVE_INFINITY

  /** A beat of anybody, whose lease lasts for so long: half of that without any beat is a break. */
  beat(atMs: number, leaseMs: number): void {
    if (atMs - this.#lastMs >= leaseMs / 2) this.#sinceMs = atMs
    this.#lastMs = atMs
  }

  /** Whether the lease of a member that was heard last at `fromMs` has lapsed, and not only for want of hearing. */
  hasLapsed(fromMs: number, leaseMs: number, nowMs: number): boolean {
    const listenedMs = Math.max(fromMs, this.#sinceMs)
    return nowMs - listenedMs >= leaseMs && this.#lastMs - listenedMs >= leaseMs / 2
  }
}
