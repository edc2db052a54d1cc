import { type Conflict, type ConflictReason, conflictReasons } from '../contract.ts'
import type { Metrics } from '../kernel/metrics.ts'

/** What the merge tells about itself. */
export class MergeInstruments {
  readonly #duration: (seconds: number) => void
  /** By service; those whose exports agree are not in it. */
  readonly #conflicts = new Map<string, ReadonlySet<ConflictReason>>()

  constructor(metrics: Metrics) {
    const duration = metrics.histogram({
      name: 'isthmus_merge_duration_seconds',
      help: 'How long it took to make one service what its exports come to, writes included.',
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2, 10],
    })
    this.#duration = seconds => duration.observe(seconds)
    metrics.gaugeFrom(
      {
        name: 'isthmus_merge_conflicted_services',
        help: 'Services whose exports disagree, by what they disagree about; one may count several times.',
        labels: ['reason'],
      },
      () => conflictReasons.map(reason => ({ labels: { reason }, value: this.#count(reason) })),
    )
  }

  took(durationMs: number): void {
    this.#duration(durationMs / 1000)
  }

  /** In what the exports of a service disagree now. */
  merged(key: string, conflicts: readonly Conflict[]): void {
    const reasons = conflicts.map(({ reason }) => reason)
    if (reasons.length === 0) this.#conflicts.delete(key)
    else this.#conflicts.set(key, new Set(reasons))
  }

  #count(wanted: ConflictReason): number {
    let count = 0
    for (const reasons of this.#conflicts.values()) count += Number(reasons.has(wanted))
    return count
  }
}
