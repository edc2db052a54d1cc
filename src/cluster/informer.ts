import type { ObjectMeta } from '../api/meta.ts'
import { errorText, sleep } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import {
  type Change,
  type Cluster,
  type ClusterEvent,
  type Informer,
  keyOf,
  type Ref,
  type Resource,
  type Selection,
} from './cluster.ts'
import { Copy, isLater } from './copy.ts'

type WithMetadata = { readonly metadata: ObjectMeta }

export type InformerOptions = Selection & {
  readonly clock: Clock
  readonly log: Logger
  /** In [0, 1): spreads retries of many informers over time. */
  readonly random?: () => number
}

/** What an informer needs of a cluster. */
export type InformerSource = Pick<Cluster, 'name' | 'list' | 'watch'>

const firstBackoffMs = 100
const maxBackoffMs = 15_000
/** A stream that ends sooner and brought nothing counts as a failure, so that it is not asked again in a tight loop. */
const shortWatchMs = 1_000
/** A name that no object has: a list of it is empty and tells the revision. */
const nobody = 'isthmus.dev.none'

/**
 * Keeps a copy of a resource by list and watch until the signal aborts. A watch that ends or fails goes on from where
 * it was; when the server no longer keeps that revision, or refuses the watch, everything is listed again and the
 * difference is told as changes. An object that was deleted and created again in between is told as both. Failures are
 * retried for ever, after 0.1 to 15 s. The copy leaves out `metadata.managedFields`, which is often the larger part of an
 * object: whoever writes an object without it leaves its managers as they are. Versions of objects are compared as
 * numbers, as KEP-5504 allows: what was noted is not told again by the watch, nor undone by what it tells of before.
 */
export function startInformer<O extends WithMetadata>(
  cluster: InformerSource,
  resource: Resource<O>,
  options: InformerOptions,
  signal: AbortSignal,
): Informer<O> {
  const log = options.log.child({ cluster: cluster.name, resource: resource.plural })
  const informer = new ListWatch(cluster, resource, { ...options, log })
  informer.synced = informer.run(signal)
  // Whoever does not wait for it is not harmed by an early end.
  informer.synced.catch(() => undefined)
  return informer
}

function selectionOf({ namespace, labelSelector, fieldSelector }: Selection): Selection {
  return {
    ...(namespace === undefined ? {} : { namespace }),
    ...(labelSelector === undefined ? {} : { labelSelector }),
    ...(fieldSelector === undefined ? {} : { fieldSelector }),
  }
}

function withoutManagers<O extends WithMetadata>(object: O): O {
  if (object.metadata.managedFields === undefined) return object
  const { managedFields: _managers, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Whether the copy has this version, or one after it, before the watch tells of it. */
function isNoted(there: string, told: string): boolean {
  return Number(there) >= Number(told)
}

class ListWatch<O extends WithMetadata> implements Informer<O> {
  synced: Promise<void> = Promise.resolve()
  readonly #cluster: InformerSource
  readonly #resource: Resource<O>
  readonly #options: InformerOptions
  readonly #copy = new Copy<O>()
  readonly #listeners: ((change: Change<O>) => void)[] = []
  /** Where the next watch starts; undefined when a list is needed first. */
  #resourceVersion: string | undefined
  #seen = '0'
  #failures = 0
  /** A watch has ended: the server may have been restored from a backup before the next one begins. */
  #wasCut: boolean = false
  /** What is known may be of another history than what the server has. */
  #wasPutBack: boolean = false
  #hasSynced = false

  constructor(cluster: InformerSource, resource: Resource<O>, options: InformerOptions) {
    this.#cluster = cluster
    this.#resource = resource
    this.#options = options
  }

  hasSynced(): boolean {
    return this.#hasSynced
  }

  get(ref: Ref): O | undefined {
    return this.#copy.get(ref)
  }

  list(namespace?: string): readonly O[] {
    return this.#copy.list(namespace)
  }

  onChange(listener: (change: Change<O>) => void): void {
    // What the copy holds when the turn comes is told at once; everything after that is told as it happens.
    queueMicrotask(() => {
      for (const after of this.#copy.list()) this.#tell(listener, { before: undefined, after })
      this.#listeners.push(listener)
    })
  }

  note(object: O): void {
    const { namespace } = this.#options
    const { resourceVersion = '' } = object.metadata
    // Whether the watch has told of it, or of its end, is known by where the watch is.
    if (this.#resourceVersion === undefined || !isLater(resourceVersion, this.#resourceVersion)) return
    if (namespace !== undefined && namespace !== object.metadata.namespace) return
    const there = this.#copy.get(object.metadata)?.metadata.resourceVersion
    if (there !== undefined && !isLater(resourceVersion, there)) return
    if (isLater(resourceVersion, this.#seen)) this.#seen = resourceVersion
    this.#upsert(withoutManagers(object))
  }

  /** Resolves after the first list; following goes on behind it. */
  run(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#follow(signal, resolve).catch((thrown: unknown) => {
        if (!signal.aborted) this.#options.log.error('informer ended', { error: errorText(thrown) })
        reject(signal.aborted ? signal.reason : thrown)
      })
    })
  }

  async #follow(signal: AbortSignal, onSynced: () => void): Promise<never> {
    for (;;) {
      signal.throwIfAborted()
      try {
        if (this.#wasCut) await this.#compareRevisions(signal)
        if (this.#resourceVersion === undefined) await this.#relist(signal)
        onSynced()
        await this.#watch(signal)
      } catch (thrown) {
        signal.throwIfAborted()
        await this.#recover(thrown, signal)
      }
    }
  }

  /**
   * A watch from a revision that the server has not reached waits in silence until it does, and then misses what came
   * before: so the server is asked where it is. One that was put back may have come as far again meanwhile, with other
   * changes: so it is also asked for the newest object that is known.
   */
  async #compareRevisions(signal: AbortSignal): Promise<void> {
    if (this.#resourceVersion === undefined) {
      this.#wasCut = false
      return
    }
    const seen = this.#seen
    const newest = this.#copy.newest()?.metadata
    const { fieldSelector, namespace } = selectionOf(this.#options)
    const one = [fieldSelector, `metadata.name=${newest?.name ?? nobody}`].filter(part => part !== undefined)
    const selection = { ...(namespace === undefined ? {} : { namespace }), fieldSelector: one.join(',') }
    const { items, resourceVersion } = await this.#cluster.list(this.#resource, selection, signal)
    this.#wasCut = false
    const found = items.find(({ metadata }) => metadata.namespace === newest?.namespace)?.metadata
    const isBehind = isLater(seen, resourceVersion)
    // One that is not there any more may have been deleted as well.
    const isOther =
      newest !== undefined && isLater(newest.resourceVersion ?? '0', found?.resourceVersion ?? '0')
    if (!isBehind && !isOther) return
    this.#resourceVersion = undefined
    this.#wasPutBack = true
    if (!isBehind && found === undefined) return
    this.#options.log.warn('the server has gone back to an earlier revision, listing again', {
      seen,
      now: resourceVersion,
    })
  }

  async #relist(signal: AbortSignal): Promise<void> {
    const listed = await this.#cluster.list(this.#resource, selectionOf(this.#options), signal)
    // Behind what was seen: the server was restored, and equal versions may be those of other objects.
    const restored = this.#wasPutBack || isLater(this.#seen, listed.resourceVersion)
    this.#wasPutBack = false
    const kept = new Set(listed.items.map(object => keyOf(object.metadata)))
    for (const object of this.#copy.list()) if (!kept.has(keyOf(object.metadata))) this.#remove(object)
    for (const object of listed.items) {
      const before = this.#copy.get(object.metadata)
      if (restored || before?.metadata.resourceVersion !== object.metadata.resourceVersion)
        this.#upsert(withoutManagers(object))
    }
    this.#resourceVersion = listed.resourceVersion
    this.#seen = listed.resourceVersion
    this.#hasSynced = true
  }

  #advance(resourceVersion: string): void {
    this.#resourceVersion = resourceVersion
    if (!isLater(this.#seen, resourceVersion)) this.#seen = resourceVersion
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const started = this.#options.clock.now()
    const resourceVersion = this.#resourceVersion ?? ''
    let settled = false
    try {
      const selection = { ...selectionOf(this.#options), resourceVersion }
      for await (const event of this.#cluster.watch(this.#resource, selection, signal)) {
        settled = true
        this.#apply(event)
      }
    } finally {
      this.#wasCut = true
      settled ||= this.#options.clock.now() - started >= shortWatchMs
      if (settled) this.#failures = 0
    }
    if (!settled) await this.#backOff(signal)
  }

  #apply(event: ClusterEvent<O>): void {
    if (event.type === 'BOOKMARK') {
      this.#advance(event.resourceVersion)
      return
    }
    const { resourceVersion = this.#seen } = event.object.metadata
    const there = this.#copy.get(event.object.metadata)?.metadata.resourceVersion
    if (event.type === 'DELETED') {
      if (there === undefined || !isLater(there, resourceVersion)) this.#remove(event.object)
    } else if (there === undefined || !isNoted(there, resourceVersion)) {
      this.#upsert(withoutManagers(event.object))
    }
    this.#advance(resourceVersion)
  }

  #upsert(after: O): void {
    const before = this.#copy.get(after.metadata)
    if (before !== undefined && before.metadata.uid !== after.metadata.uid) {
      this.#remove(before)
      this.#upsert(after)
      return
    }
    this.#copy.set(after)
    this.#announce({ before, after })
  }

  #remove(object: O): void {
    const before = this.#copy.get(object.metadata)
    if (before === undefined) return
    this.#copy.delete(object.metadata)
    this.#announce({ before, after: undefined })
  }

  #announce(change: Change<O>): void {
    for (const listener of this.#listeners) this.#tell(listener, change)
  }

  #tell(listener: (change: Change<O>) => void, change: Change<O>): void {
    try {
      listener(change)
    } catch (thrown) {
      // A listener's fault must not stop the copy, nor hide the change from the others.
      this.#options.log.error('informer listener failed', { error: errorText(thrown) })
    }
  }

  async #recover(thrown: unknown, signal: AbortSignal): Promise<void> {
    if (isReason(thrown, 'Expired') && this.#resourceVersion !== undefined) {
      this.#resourceVersion = undefined
      this.#options.log.info('revision is no longer kept, listing again')
      if (this.#failures === 0) {
        this.#failures = 1
        return
      }
    } else if (!isReason(thrown, 'ServiceUnavailable', 'InternalError', 'TooManyRequests', 'ServerTimeout')) {
      // The server refuses this watch as it is: what it can do for us now only a list tells.
      this.#resourceVersion = undefined
    }
    const fields = { error: errorText(thrown), failures: this.#failures + 1 }
    this.#options.log.warn('list and watch failed, trying again', fields)
    await this.#backOff(signal)
  }

  async #backOff(signal: AbortSignal): Promise<void> {
    const random = this.#options.random ?? Math.random
    const delayMs = Math.min(firstBackoffMs * 2 ** Math.min(this.#failures, 16), maxBackoffMs)
    this.#failures += 1
    await sleep(this.#options.clock, delayMs * (0.5 + random() / 2), signal)
  }
}
