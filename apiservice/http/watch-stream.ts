import type { Clock } from '../../src/kernel/clock.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { WatchEvent, WatchSink } from '../contract.ts'
import { writeFrames } from './frame-wire.ts'
import { breakOff, type RawResponse } from './respond.ts'

/** What a watcher may leave unread before it is cut off, besides its first batch: the state it asked for. */
const maxUnreadBytes = 16 * 1024 * 1024

/** How long a watcher may take to read its first batch: until then all of that state is kept for it. */
const maxFirstMs = 300_000

/** Frames are joined up to about this size, so that a burst of events is one write. */
const sliceBytes = 256 * 1024

/** A bookmark, an error: small, and rarely met. */
const smallFrame = 512

export type WatchStreamOptions = {
  readonly response: RawResponse
  readonly clock: Clock
  encode(events: readonly WatchEvent[]): Buffer
  /** Called when the watcher was cut off because it reads too slowly. */
  onSlow(): void
  readonly maxUnreadBytes?: number
}

/** A batch that others may be given too, and where its unread events begin. */
type Waiting = { readonly events: readonly WatchEvent[]; next: number }

/**
 * One open watch. Batches wait here as references and are encoded when the connection takes more, so a slow reader
 * costs no encoded bytes; one that leaves too many unread, or its first batch for too long, loses its connection, and
 * nobody else notices.
 */
export class WatchStream implements WatchSink {
  readonly #options: WatchStreamOptions
  /** Undefined: sent, and not kept. */
  #queue: (Waiting | undefined)[] = []
  #head = 0
  #unreadBytes = 0
  #limit: number
  #started: boolean = false
  #blocked: boolean = false
  #ending: boolean = false
  /** While its first batch waits: not to be cut off for it any more. */
  #firstIsRead: (() => void) | undefined
  readonly #onDrain = (): void => {
    this.#blocked = false
    this.#flush()
  }

  constructor(options: WatchStreamOptions) {
    this.#options = options
    this.#limit = options.maxUnreadBytes ?? maxUnreadBytes
  }

  events(batch: readonly WatchEvent[]): void {
    if (this.#ending || batch.length === 0) return
    this.#ending = batch.at(-1)?.type === 'ERROR'
    const bytes = bytesOf(batch)
    if (!this.#started) this.#limit += bytes
    if (this.#isIdle && bytes <= sliceBytes) {
      // The whole batch at once: watchers that are given the same array share its bytes.
      this.#write(batch)
    } else {
      if (!this.#started) this.#boundFirst()
      this.#queue.push({ events: batch, next: 0 })
      this.#unreadBytes += bytes
    }
    this.#started = true
    this.#flush()
    if (this.#unreadBytes > this.#limit) this.#cutOff()
  }

  end(): void {
    this.#ending = true
    this.#flush()
  }

  get #isIdle(): boolean {
    return !this.#blocked && this.#head === this.#queue.length
  }

  #write(events: readonly WatchEvent[]): void {
    const { response, encode } = this.#options
    this.#blocked = !writeFrames(response, encode(events), this.#onDrain)
  }

  #flush(): void {
    while (!this.#blocked && this.#head < this.#queue.length) this.#write(this.#slice())
    if (this.#head < this.#queue.length) return
    this.#queue = []
    this.#head = 0
    if (this.#ending) this.#options.response.end()
  }

  #slice(): readonly WatchEvent[] {
    const slice: WatchEvent[] = []
    let length = 0
    while (length < sliceBytes) {
      const waiting = this.#queue[this.#head]
      const event = waiting?.events[waiting.next]
      if (waiting === undefined || event === undefined) break
      slice.push(event)
      length += sizeOf(event)
      waiting.next++
      if (waiting.next === waiting.events.length) this.#isThrough()
    }
    this.#unreadBytes -= length
    return slice
  }

  #isThrough(): void {
    this.#queue[this.#head++] = undefined
    this.#firstIsRead?.()
    this.#forgetSent()
  }

  /** It is first in the queue. */
  #boundFirst(): void {
    const { clock, response } = this.#options
    const cancel = clock.after(maxFirstMs, () => this.#cutOff())
    response.once('close', cancel)
    this.#firstIsRead = () => {
      this.#firstIsRead = undefined
      response.off('close', cancel)
      cancel()
    }
  }

  /** A reader that keeps up but never catches up must not make the queue grow. */
  #forgetSent(): void {
    if (this.#head < 1024 || this.#head * 2 < this.#queue.length) return
    this.#queue = this.#queue.slice(this.#head)
    this.#head = 0
  }

  #cutOff(): void {
    this.#ending = true
    this.#queue = []
    this.#head = 0
    this.#options.onSlow()
    breakOff(this.#options.response)
  }
}

/** The state of thousands of objects, which many are given. */
const longBatch = 1_000
const bytesOfLong = madeOnce(sum)

function bytesOf(batch: readonly WatchEvent[]): number {
  return batch.length < longBatch ? sum(batch) : bytesOfLong(batch)
}

function sum(batch: readonly WatchEvent[]): number {
  return batch.reduce((bytes, event) => bytes + sizeOf(event), 0)
}

function sizeOf(event: WatchEvent): number {
  return event.type === 'BOOKMARK' || event.type === 'ERROR'
    ? smallFrame
    : event.object.body.length + smallFrame
}
