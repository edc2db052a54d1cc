import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'

export type StoreOptions = {
  readonly clock: Clock
  /** Goes on evenly when the time of day is set, which `clock` tells; that one when absent. */
  readonly steadyClock?: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** How long changes are kept for watches and lists at an older revision: 5 minutes. */
  readonly historyMs?: number
  /** At most so many bytes that only the history needs; beyond, it is cut earlier: 256 MiB. */
  readonly historyBytes?: number
  /** At most so many changes: 250,000. */
  readonly historyEvents?: number
  /** Writes that may wait for their commit; beyond, they are refused with 429: 10,000. */
  readonly queuedWrites?: number
  /** The same in bytes of bodies: 64 MiB. */
  readonly queuedBytes?: number
  /** How long the log may take for one batch before writes are refused: 10 seconds. */
  readonly stallMs?: number
  /** Replaced versions that stay in memory for watchers that come back: 4 MiB. */
  readonly cacheBytes?: number
  /** Called when a log that was opened again was found to hold everything that was answered. */
  readonly onWhole?: () => Promise<void>
}

export type StoreSettings = Required<StoreOptions>

const MiB = 1024 * 1024

export function withDefaults(options: StoreOptions): StoreSettings {
  return {
    steadyClock: options.clock,
    historyMs: 5 * 60_000,
    historyBytes: 256 * MiB,
    historyEvents: 250_000,
    queuedWrites: 10_000,
    queuedBytes: 64 * MiB,
    stallMs: 10_000,
    cacheBytes: 4 * MiB,
    onWhole: () => Promise.resolve(),
    ...options,
  }
}
