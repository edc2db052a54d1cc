/**
 * Watches: where they start, what they show, when they end. One store listener per watch; events of a commit that all
 * watchers see alike are made once and shared.
 */
import { randomInt } from 'node:crypto'
import { errorText } from '../../src/kernel/abort.ts'
import { expired, internal, StatusError } from '../../src/kernel/errors.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { Reply, View, WatchEvent, WatchSink } from '../contract.ts'
import type { Revision, StoredObject, StoreEvent, StoreListener } from '../store-contract.ts'
import { collect } from './list.ts'
import { type WatchQuery, watchQuery } from './list-options.ts'
import type { Call, RegistryParts } from './parts.ts'
import { reach } from './revision.ts'
import { type Selection, type Show, selectionsOf } from './selection.ts'
import { transitionsOfAll } from './transition.ts'

const bookmarkIntervalMs = 60_000
/** How long before its end a watch is told where to go on. */
const lastBookmarkMs = 2_000
/** Watches that do not say how long are spread, so that they do not come back together. */
const minTimeoutSeconds = 1_800
const maxTimeoutSeconds = 3_600
const longestSeconds = 86_400

/** Throws 400 and 422 before the stream opens; what goes wrong later is an ERROR event. */
export function watch(call: Call, view: View | undefined): Reply {
  const query = watchQuery(call.request.query)
  const selections = selectionsOf(call, query.selectors, view)
  return {
    type: 'watch',
    served: call.resource.served,
    open: (sink, signal) => {
      new Watch({ call, view, query, selections, sink }).open(signal)
    },
  }
}

type Plan = {
  readonly call: Call
  readonly view: View | undefined
  readonly query: WatchQuery
  readonly selections: readonly [Selection, ...Selection[]]
  readonly sink: WatchSink
}

/** Whether the stream begins with the objects that are there. A watch from nowhere or from 0 does. */
function beginsWithState({ revision, sendInitialEvents }: WatchQuery): boolean {
  return sendInitialEvents ?? (revision === undefined || revision === 0)
}

/** Shorter states are sent at once, after which nothing of them is to be kept. */
const longState = 1_000

/** Informers that start together are given the same list, and so the same events. */
const sharedState = madeOnce(added)

function stateOf(items: readonly StoredObject[]): readonly WatchEvent[] {
  return items.length < longState ? added(items) : sharedState(items)
}

function added(items: readonly StoredObject[]): readonly WatchEvent[] {
  return items.map(object => ({ type: 'ADDED', object }))
}

class Watch implements StoreListener {
  readonly #plan: Plan
  readonly #parts: RegistryParts
  readonly #shows: readonly (Show | undefined)[]
  /** What to undo at the end. */
  readonly #cleanups: (() => void)[] = []
  /** All up to here has been sent. */
  #through: Revision = 0
  /** Events up to here are not wanted: a watch may ask for what is still to come. */
  #after: Revision = 0
  #isOver: boolean = false

  constructor(plan: Plan) {
    this.#plan = plan
    this.#parts = plan.call.parts
    this.#shows = plan.selections.map(({ show }) => show)
  }

  open(signal: AbortSignal): void {
    if (signal.aborted) return
    const onAbort = (): void => this.#close()
    signal.addEventListener('abort', onAbort, { once: true })
    this.#cleanups.push(() => signal.removeEventListener('abort', onAbort))
    this.#startTimers()
    this.#followView()
    this.#start(signal).catch((thrown: unknown) => this.#fail(thrown))
  }

  async #start(signal: AbortSignal): Promise<void> {
    const { query, selections, sink } = this.#plan
    const { store } = this.#parts
    if (!beginsWithState(query)) {
      this.#follow(query.revision === undefined || query.revision === 0 ? store.revision() : query.revision)
      return
    }
    await reach(this.#parts, query, signal)
    const { items, revision } = await collect(store, selections, {}, 0)
    if (this.#isOver) return
    if (items.length > 0) sink.events(stateOf(items))
    this.#through = revision
    if (query.bookmarks) this.#bookmark(true)
    this.#follow(revision)
  }

  #follow(after: Revision): void {
    if (this.#isOver) return
    const { store } = this.#parts
    const { call, view } = this.#plan
    const oldest = Math.max(store.oldest(), view?.since(call.namespace) ?? 0)
    if (after < oldest) {
      this.#fail(expired(`too old resource version: ${after} (${oldest})`))
      return
    }
    const from = Math.min(after, store.revision())
    this.#after = after
    this.#through = from
    this.#cleanups.push(store.watch(this.#plan.selections[0].scope, from, this))
  }

  events(batch: readonly StoreEvent[], through: Revision): void {
    if (this.#isOver) return
    const [first] = batch
    const isEarly = first !== undefined && first.object.revision <= this.#after
    const wanted = isEarly ? batch.filter(event => event.object.revision > this.#after) : batch
    const shown = transitionsOfAll(wanted, this.#shows)
    if (shown.length > 0) this.#plan.sink.events(shown)
    this.#through = through
  }

  end(reason: 'expired' | 'closed'): void {
    if (this.#isOver) return
    if (reason === 'closed') this.#finish()
    else this.#fail(expired('The resourceVersion for the provided watch is too old.'))
  }

  #startTimers(): void {
    const { query } = this.#plan
    const { clock } = this.#parts
    const timeoutSeconds = query.timeoutSeconds ?? randomInt(minTimeoutSeconds, maxTimeoutSeconds)
    const timeoutMs = Math.min(timeoutSeconds, longestSeconds) * 1_000
    this.#cleanups.push(clock.after(timeoutMs, () => this.#finish()))
    if (!query.bookmarks) return
    if (timeoutMs > lastBookmarkMs) {
      this.#cleanups.push(clock.after(timeoutMs - lastBookmarkMs, () => this.#bookmark(false)))
    }
    this.#repeatBookmark()
  }

  #repeatBookmark(): void {
    let cancel = (): void => undefined
    const next = (): void => {
      cancel = this.#parts.clock.after(bookmarkIntervalMs, () => {
        this.#bookmark(false)
        next()
      })
    }
    next()
    this.#cleanups.push(() => cancel())
  }

  /** Not before the stream stands somewhere, and never behind where the client wants to be. */
  #bookmark(initialEventsEnd: boolean): void {
    if (this.#isOver || this.#through === 0 || this.#through < this.#after) return
    this.#plan.sink.events([{ type: 'BOOKMARK', revision: this.#through, initialEventsEnd }])
  }

  #followView(): void {
    const { view, call } = this.#plan
    if (view === undefined) return
    const leave = view.onChange(namespace => {
      const isShown = call.namespace === '' || namespace === call.namespace
      if (!isShown || this.#isOver) return
      this.#fail(expired('what this watch may show has changed as a whole: list again'))
    })
    this.#cleanups.push(leave)
  }

  #fail(thrown: unknown): void {
    if (this.#isOver) return
    this.#plan.sink.events([{ type: 'ERROR', status: this.#statusOf(thrown).toStatus() }])
    this.#finish()
  }

  #statusOf(thrown: unknown): StatusError {
    if (thrown instanceof StatusError) return thrown
    this.#parts.log.error('watch failed', {
      resource: this.#plan.call.resource.qualified,
      error: errorText(thrown),
    })
    return internal('the watch failed', thrown)
  }

  #finish(): void {
    if (this.#isOver) return
    this.#close()
    this.#plan.sink.end()
  }

  #close(): void {
    if (this.#isOver) return
    this.#isOver = true
    for (const cleanup of this.#cleanups.splice(0)) cleanup()
  }
}
