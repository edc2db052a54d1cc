import type { Revision } from '../store-contract.ts'

export type LogEntry = { readonly revision: Revision; readonly value: Buffer }

/** Where the kept history begins. */
export type LogStart = {
  /** Every record after this one is there. */
  readonly floor: Revision
  /** How many records up to and including the floor are there: the objects that lived at it. */
  readonly live: number
}

export type LogBatch = {
  /** Rising revisions, all beyond those that were ever appended. */
  readonly append: readonly LogEntry[]
  readonly drop: readonly Revision[]
  /** Where the history begins once `drop` is gone; absent when that does not change. */
  readonly start?: LogStart
}

/**
 * What a store lies on: records by revision, written once and dropped once. Stores above it differ in nothing.
 */
export interface Log {
  /** As it was when the log was opened. */
  readonly start: LogStart
  /**
   * What the records were known to reach when it was opened, or 0: with less than that it is damaged. At least the last
   * `noteReached` that had ended; a log may note what it wrote by itself.
   */
  readonly reached: Revision
  /**
   * Writes all of the batch or nothing, one call at a time. When it resolves, the batch survives a loss of power.
   * After a throw it is unknown whether the batch happened: only opening the log again tells.
   */
  write(batch: LogBatch): Promise<void>
  /** The values of these revisions, undefined for those that are not there. */
  read(revisions: readonly Revision[]): Promise<(Buffer | undefined)[]>
  /** All records after a revision in rising order, in bunches. */
  scan(after: Revision): AsyncIterable<readonly LogEntry[]>
  /** Notes, apart from the records, that they are durable up to a revision. */
  noteReached(revision: Revision): Promise<void>
  /** Waits for calls under way. */
  close(): Promise<void>
}
