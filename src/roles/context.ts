import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'

/** What a role is given by the process that it runs in. */
export type Context = {
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Aborts when the role is to stop. */
  readonly signal: AbortSignal
}

/** A role that runs. */
export type Running = {
  /** Stops in good order; what was answered is kept. */
  close(): Promise<void>
}
