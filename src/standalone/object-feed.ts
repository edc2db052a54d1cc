import type { ObjectMeta } from '../api/meta.ts'

/**
 * One object as far as its owners and its deletion go: its metadata has its names, its uid and its version, and where it
 * has ownerReferences or a deletionTimestamp these and its finalizers.
 */
export type Seen = {
  /** `<plural>.<group>`, the plural alone in the core group. */
  readonly resource: string
  readonly metadata: ObjectMeta
}

export interface FeedListener {
  /** All objects there are: what was told of before and is not among them is gone. */
  reset(objects: readonly Seen[]): void
  put(object: Seen): void
  /** The last state of what is gone. */
  removed(object: Seen): void
}

/**
 * Tells of all objects of some resources, and then of every change of them in their order, until the signal aborts; of
 * changes between two states without ownerReferences and deletionTimestamp it need not tell. Resolves after the first
 * `reset`.
 */
export type ObjectFeed = (
  resources: readonly string[],
  listener: FeedListener,
  signal: AbortSignal,
) => Promise<void>
