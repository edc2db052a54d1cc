/** What the hub's answers say of this member: one state for all that the agent does. */
import { type MembershipRefusal, membershipRefusal } from './api/membership-refusal.ts'
import type { Cluster, ClusterEvent, Resource, Selection } from './cluster/cluster.ts'
import type { Logger } from './kernel/log.ts'

const sentences: Readonly<Record<MembershipRefusal, string>> = {
  'not accepted': 'this cluster is not accepted by the hub',
  'not joined': 'this cluster is no longer known to the hub',
  renewed: 'the hub has given this cluster another certificate since',
}

type WatchSelection = Selection & { readonly resourceVersion: string }

/** A hub that cannot be reached says nothing: the state is then what it was. */
export class HubStanding {
  readonly #cluster: string
  readonly #log: Logger
  readonly #listeners: (() => void)[] = []
  #refusal: string | undefined
  /** Answers to requests that are older than the last refusal do not undo it. */
  #refusals = 0

  constructor(cluster: string, log: Logger) {
    this.#cluster = cluster
    this.#log = log
  }

  /** Why the hub takes nothing from this member, in the words of its conditions. */
  get refusal(): string | undefined {
    return this.#refusal
  }

  /** Called when the refusal has come, changed or gone. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /** The hub, with its answers noted. */
  observe(hub: Cluster): Cluster {
    const noted = <R>(call: () => Promise<R>): Promise<R> => this.#noted(call)
    return {
      name: hub.name,
      get: (resource, ref, signal) => noted(() => hub.get(resource, ref, signal)),
      list: (resource, selection, signal) => noted(() => hub.list(resource, selection, signal)),
      watch: (resource, selection, signal) => this.#watch(hub, { resource, selection }, signal),
      create: (resource, object, signal) => noted(() => hub.create(resource, object, signal)),
      replace: (resource, object, options, signal) =>
        noted(() => hub.replace(resource, object, options, signal)),
      mergePatch: (resource, ref, patch, options) =>
        noted(() => hub.mergePatch(resource, ref, patch, options)),
      delete: (resource, ref, options) => noted(() => hub.delete(resource, ref, options)),
      deleteCollection: (resource, selection, signal) =>
        noted(() => hub.deleteCollection(resource, selection, signal)),
      discover: signal => noted(() => hub.discover(signal)),
    }
  }

  async #noted<R>(call: () => Promise<R>): Promise<R> {
    const refusals = this.#refusals
    try {
      const answer = await call()
      if (refusals === this.#refusals) this.#become(undefined)
      return answer
    } catch (thrown) {
      this.#failed(thrown)
      throw thrown
    }
  }

  /** That a stream goes on proves nothing: it may have begun before the refusal. */
  async *#watch<O>(
    hub: Cluster,
    { resource, selection }: { readonly resource: Resource<O>; readonly selection: WatchSelection },
    signal: AbortSignal,
  ): AsyncIterable<ClusterEvent<O>> {
    try {
      yield* hub.watch(resource, selection, signal)
    } catch (thrown) {
      this.#failed(thrown)
      throw thrown
    }
  }

  #failed(thrown: unknown): void {
    const refusal = membershipRefusal(thrown, this.#cluster)
    if (refusal === undefined) return
    this.#refusals += 1
    this.#become(sentences[refusal])
  }

  #become(refusal: string | undefined): void {
    if (refusal === this.#refusal) return
    this.#refusal = refusal
    if (refusal === undefined) this.#log.info('the hub accepts this cluster again')
    else this.#log.warn('the hub refuses this cluster', { why: refusal })
    for (const listener of this.#listeners) listener()
  }
}
