/** What has changed in the in-process cluster, and who waits for more. */
import type { Clock } from '../kernel/clock.ts'
import type { Past } from './memory-object.ts'

export type Watcher = { wake(): void; ended: boolean; bookmarkDue: boolean }

const bookmarkIntervalMs = 60_000

export class MemoryHistory {
  readonly #clock: Clock
  readonly #limit: number
  readonly #past: Past[] = []
  readonly #watchers = new Set<Watcher>()
  #revision = 1
  #compacted = 0

  /** Keeps at most `limit` changes. */
  constructor(clock: Clock, limit: number) {
    this.#clock = clock
    this.#limit = limit
  }

  get revision(): number {
    return this.#revision
  }

  /** Changes up to here are forgotten. */
  get compacted(): number {
    return this.#compacted
  }

  get watches(): number {
    return this.#watchers.size
  }

  /** The revision of the change that is recorded next. */
  advance(): number {
    this.#revision += 1
    return this.#revision
  }

  record(past: Omit<Past, 'revision'>): void {
    this.#past.push({ ...past, revision: this.#revision })
    if (this.#past.length > this.#limit) this.#compacted = this.#past.shift()?.revision ?? this.#compacted
    this.#wake()
  }

  after(revision: number, resource: string): readonly Past[] {
    return this.#past.filter(past => past.revision > revision && past.resource === resource)
  }

  compact(): void {
    this.#compacted = this.#revision
    this.#past.length = 0
    this.#wake()
  }

  endWatches(): void {
    for (const watcher of this.#watchers) watcher.ended = true
    this.#wake()
  }

  bookmark(): void {
    for (const watcher of this.#watchers) watcher.bookmarkDue = true
    this.#wake()
  }

  /** Yields at once and then whenever there may be something to send, until the stream is ended. */
  async *turns(signal: AbortSignal): AsyncIterable<Watcher> {
    let wake = (): void => undefined
    const watcher: Watcher = { wake: () => wake(), ended: false, bookmarkDue: false }
    this.#watchers.add(watcher)
    const onAbort = (): void => wake()
    signal.addEventListener('abort', onAbort)
    let cancelTimer = this.#bookmarkTimer(watcher)
    try {
      while (!watcher.ended) {
        const woken = new Promise<void>(resolve => {
          wake = resolve
        })
        const hadBookmark = watcher.bookmarkDue
        yield watcher
        if (hadBookmark) {
          cancelTimer()
          cancelTimer = this.#bookmarkTimer(watcher)
        }
        if (!signal.aborted) await woken
        signal.throwIfAborted()
      }
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', onAbort)
      this.#watchers.delete(watcher)
    }
  }

  #wake(): void {
    for (const watcher of this.#watchers) watcher.wake()
  }

  #bookmarkTimer(watcher: Watcher): () => void {
    return this.#clock.after(bookmarkIntervalMs, () => {
      watcher.bookmarkDue = true
      watcher.wake()
    })
  }
}
