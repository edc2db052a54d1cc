import type { WatchEvent, WatchSink } from '../contract.ts'
import { writeFrames } from './frame-wire.ts'
import { breakOff, type RawResponse } from './respond.ts'

/** What a watcher may leave unread before it is cut off, besides its first batch: the state it asked for. */
const maxUnreadBytes = 16 * 1024 * 1024

/** Frames are joined up to about this size, so that a burst of events is one write. */
const sliceBytes = 256 * 1024

/** A bookmark, an error: small, and rarely met. */
const smallFrame = 512

export type WatchStreamOptions = {
  readonly response: RawResponse
  encode(events: readonly WatchEvent[]): Buffer
  /** Called when the watcher was cut off because it reads too slowly. */
  onSlow(): void
  readonly maxUnreadBytes?: number
}

/**
 * One open watch. Events wait here as references and are encoded when the connection takes more, so a slow reader
 * costs no encoded bytes; one that leaves too many unread loses its connection, and nobody else notices.
 */
export class WatchStream implements WatchSink {
  readonly #options: WatchStreamOptions
  #queue: WatchEvent[] = []
  #next = 0
  #unreadBytes = 0
  #limit: number
  #started: boolean = false
  #blocked: boolean = false
  #ending: boolean = false
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
    const bytes = batch.reduce((sum, event) => sum + sizeOf(event), 0)
    if (!this.#started) this.#limit += bytes
    this.#started = true
    if (this.#isIdle && bytes <= sliceBytes) {
      // The whole batch at once: watchers that are given the same array share its bytes.
      this.#write(batch)
    } else {
      for (const event of batch) this.#queue.push(event)
      this.#unreadBytes += bytes
    }
    this.#flush()
    if (this.#unreadBytes > this.#limit) this.#cutOff()
  }

  end(): void {
    this.#ending = true
    this.#flush()
  }

  get #isIdle(): boolean {
    return !this.#blocked && this.#next === this.#queue.length
  }

  #write(events: readonly WatchEvent[]): void {
    const { response, encode } = this.#options
    this.#blocked = !writeFrames(response, encode(events), this.#onDrain)
  }

  #flush(): void {
    while (!this.#blocked && this.#next < this.#queue.length) this.#write(this.#slice())
    if (this.#next < this.#queue.length) return
    this.#queue = []
    this.#next = 0
    if (this.#ending) this.#options.response.end()
  }

  #slice(): readonly WatchEvent[] {
    const first = this.#next
    let length = 0
    for (; this.#next < this.#queue.length && length < sliceBytes; this.#next++) {
      const event = this.#queue[this.#next]
      if (event !== undefined) length += sizeOf(event)
    }
    this.#unreadBytes -= length
    const slice = this.#queue.slice(first, this.#next)
    this.#forgetSent()
    return slice
  }

  /** A reader that keeps up but never catches up must not make the queue grow. */
  #forgetSent(): void {
    if (this.#next < 1024 || this.#next * 2 < this.#queue.length) return
    this.#queue = this.#queue.slice(this.#next)
    this.#next = 0
  }

  #cutOff(): void {
    this.#ending = true
    this.#queue = []
    this.#next = 0
    this.#options.onSlow()
    breakOff(this.#options.response)
  }
}

function sizeOf(event: WatchEvent): number {
  return event.type === 'BOOKMARK' || event.type === 'ERROR'
    ? smallFrame
    : event.object.body.length + smallFrame
}
