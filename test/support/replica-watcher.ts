import type { KubeObject } from '../../src/api/meta.ts'
import type { ClusterClient } from '../../src/cluster/client.ts'
import type { Resource, Selection } from '../../src/cluster/cluster.ts'
import { sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { isReason } from '../../src/kernel/errors.ts'
import { hubs, type Replicas } from './replicas.ts'

export type WatchedChange = {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly revision: number
  readonly object: KubeObject
}

export type Watched = {
  readonly resource: Resource
  readonly selection: Selection
  readonly resourceVersion: string
}

/** Watches from a revision on, at one hub until it is away, and goes on at the next where it was. */
export class ReplicaWatcher {
  readonly seen: WatchedChange[] = []
  moves = 0
  readonly #watched: Watched
  readonly #clients: readonly ClusterClient[]
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>
  #resourceVersion: string

  /** `first` is the place among the hubs of the one that is asked first. */
  constructor(replicas: Replicas, first: number, watched: Watched) {
    this.#watched = watched
    this.#resourceVersion = watched.resourceVersion
    this.#clients = hubs.map(hub => replicas.client(hub))
    this.#ended = this.#run(first)
    // Told by `stop`.
    this.#ended.catch(() => undefined)
  }

  /** Where the next watch would begin. */
  get revision(): number {
    return Number(this.#resourceVersion)
  }

  /** Rejects with what has ended it before. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('enough seen'))
    await this.#ended
  }

  async #run(first: number): Promise<void> {
    const { signal } = this.#stop
    for (let at = first; !signal.aborted; at++) {
      const client = this.#clients[at % this.#clients.length]
      try {
        if (client !== undefined) await this.#follow(client, signal)
      } catch (thrown) {
        if (!signal.aborted) requireUnanswered(thrown)
      }
      this.moves++
      await sleep(systemClock, 20, signal).catch(() => undefined)
    }
  }

  async #follow(client: ClusterClient, signal: AbortSignal): Promise<void> {
    const { resource, selection } = this.#watched
    const from = { ...selection, resourceVersion: this.#resourceVersion }
    for await (const event of client.watch(resource, from, signal)) {
      if (event.type === 'BOOKMARK') {
        this.#resourceVersion = event.resourceVersion
        continue
      }
      const { type, object } = event
      this.#resourceVersion = object.metadata.resourceVersion ?? this.#resourceVersion
      this.seen.push({ type, revision: this.revision, object })
    }
  }
}

/** Throws what is more than a server that is away, or that does not know what came of it. */
export function requireUnanswered(thrown: unknown): void {
  if (isReason(thrown, 'ServiceUnavailable', 'Timeout', 'ServerTimeout', 'TooManyRequests')) return
  if (thrown instanceof Error && thrown.name === 'TimeoutError') return
  throw thrown
}
