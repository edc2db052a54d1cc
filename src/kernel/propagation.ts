/**
 * How long changes are under way: from a ServiceExport to ServiceImports, and from an endpoint to the names in DNS. Each
 * process measures what it sees begin and end; what begins elsewhere has the time of that clock on it.
 */
import type { Clock } from './clock.ts'
import type { Counter, Histogram, Metrics } from './metrics.ts'

export type Way = 'export' | 'endpoints'
export type Stage = 'publish' | 'told' | 'merge' | 'import' | 'to_import' | 'answer' | 'to_dns'

/** When a change was first seen, by the clock of who saw it, and who that is, where it is known. */
export type Changed = { readonly atMs: number; readonly by?: string | undefined }

/** Older than this is not under way any more: two clocks are apart, or somebody was away. */
const longestMs = 3_600_000

export class Propagation {
  readonly clock: Clock
  readonly #durations: Histogram
  readonly #faults: Counter

  constructor(metrics: Metrics, clock: Clock) {
    this.clock = clock
    this.#durations = metrics.histogram({
      name: 'isthmus_propagation_duration_seconds',
      help: 'How long changes of exports and endpoints were under way, by stage.',
      labels: ['of', 'stage', 'clocks'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    })
    this.#faults = metrics.counter({
      name: 'isthmus_propagation_clock_faults_total',
      help: 'Times of other clocks that cannot be: before their change (counted as 0), or more than an hour ago (left out).',
      labels: ['of', 'stage', 'fault'],
    })
  }

  /** By this clock alone. */
  took(way: Way, stage: Stage, sinceMs: number): void {
    this.#observe(way, stage, { ms: this.clock.now() - sinceMs, clocks: 'one' })
  }

  /** `own`: who reads this clock. Of everybody else the clock is another. */
  came(way: Way, stage: Stage, { atMs, by }: Changed, own: string | undefined): void {
    const clocks = by !== undefined && by === own ? 'one' : 'two'
    this.#observe(way, stage, { ms: this.clock.now() - atMs, clocks })
  }

  #observe(
    of: Way,
    stage: Stage,
    { ms, clocks }: { readonly ms: number; readonly clocks: 'one' | 'two' },
  ): void {
    const isLate = clocks === 'two' && ms > longestMs
    if (ms < 0 || isLate) this.#faults.add({ of, stage, fault: isLate ? 'hour' : 'negative' })
    if (!isLate) this.#durations.observe(Math.max(0, ms) / 1_000, { of, stage, clocks })
  }
}

type Seen = { readonly sinceMs: number; readonly changed: Changed | undefined }

/** What came of working on a key: `behind` when somebody else was faster, so that the key is going to come back. */
export type Carried = 'written' | 'unchanged' | 'behind'

export type LegOptions = {
  readonly propagation: Propagation
  readonly way: Way
  readonly stage: Stage
  /** What is over when this stage is. */
  readonly total?: Stage
  /** See `Propagation.came`. */
  readonly own?: string
}

/** One stage in one process: the changes that wait to be carried on, by key. Of several of one key the oldest counts. */
export class Leg {
  readonly #options: LegOptions
  readonly #waiting = new Map<string, Seen>()

  constructor(options: LegOptions) {
    this.#options = options
  }

  /** A change that has to be carried on is seen: now, and for the first time when `changed` says. */
  note(key: string, changed?: Changed): void {
    this.#keep(key, { sinceMs: this.#options.propagation.clock.now(), changed })
  }

  /** What waits of a key is done. */
  arrived(key: string): void {
    const seen = this.#waiting.get(key)
    this.#waiting.delete(key)
    if (seen !== undefined) this.#observe(seen)
  }

  /** Works on a key, and takes its time when that came to a write. `work` is told when its change was first seen. */
  async carry(key: string, work: (changed: Changed | undefined) => Promise<Carried>): Promise<void> {
    const seen = this.#waiting.get(key)
    this.#waiting.delete(key)
    try {
      const carried = await work(seen?.changed)
      if (seen === undefined) return
      if (carried === 'written') this.#observe(seen)
      if (carried === 'behind') this.#keep(key, seen)
    } catch (thrown) {
      if (seen !== undefined) this.#keep(key, seen)
      throw thrown
    }
  }

  #keep(key: string, seen: Seen): void {
    const other = this.#waiting.get(key)
    const [older, younger] =
      other !== undefined && other.sinceMs <= seen.sinceMs ? [other, seen] : [seen, other]
    this.#waiting.set(key, { sinceMs: older.sinceMs, changed: older.changed ?? younger?.changed })
  }

  #observe({ changed, sinceMs }: Seen): void {
    const { own, propagation, stage, total, way } = this.#options
    propagation.took(way, stage, sinceMs)
    if (total !== undefined && changed !== undefined) propagation.came(way, total, changed, own)
  }
}
