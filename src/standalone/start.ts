/**
 * The loops of kube-controller-manager that users rely on, for servers without one underneath. They work through the API
 * like everybody else, other than that the collector is told of objects by the store; several servers of one store need
 * only one to run them.
 */
import type { AnyKind } from '../api/kind.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { startExpiry } from './event-expiry.ts'
import { startGarbageCollection } from './garbage-collection.ts'
import { startNamespaceDeletion } from './namespace-deletion.ts'
import type { ObjectFeed } from './object-feed.ts'

export type StandaloneOptions = {
  /** The server, with the rights of an administrator. */
  readonly cluster: Cluster
  /** What it stores. */
  readonly objects: ObjectFeed
  /** What it serves. */
  readonly kinds: readonly AnyKind[]
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Runs the loops until the signal aborts. Resolves when all of them run; rejects when the server does not answer as it
 * should.
 */
export async function startStandaloneLoops(options: StandaloneOptions, signal: AbortSignal): Promise<void> {
  await Promise.all([
    startNamespaceDeletion(options, signal),
    startGarbageCollection(options, signal),
    startExpiry(options, signal),
  ])
}
