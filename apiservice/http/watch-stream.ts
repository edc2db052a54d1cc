import type { WatchEvent, WatchSink } from '../contract.ts'
import { breakOff, type RawResponse } from './respond.ts'

/** What a watcher may leave unread before it is cut off, besides its first batch: the state it asked for. */
const maxUnreadBytes = 16 * 1024 * 1024

/** Frames are joined up to about this size, so that a burst of events is one write. */
const sliceBytes = 256 * 1024

/** A bookmark, an error: small, and rarely met. */
const smallFrame = 512

export type WatchStreamOptions = {
  readonly response: RawResponse
  encode(event: WatchEvent): Buffer
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

  constructor(options: WatchStreamOptions) {
    this.#options = options
    this.#limit = options.maxUnreadBytes ?? maxUnreadBytes
    options.response.on('drain', () => {
      this.#blocked = false
      this.#flush()
    })
  }

  events(batch: readonly WatchEvent[]): void {
    if (this.#ending) return
    let bytes = 0
    for (const event of batch) {
      bytes += sizeOf(event)
      this.#queue.push(event)
      if (event.type === 'ERROR') this.#ending = true
    }
    if (!this.#started) this.#limit += bytes
    this.#started = true
    this.#unreadBytes += bytes
    this.#flush()
    if (this.#unreadBytes > this.#limit) this.#cutOff()
  }

  end(): void {
    this.#ending = true
    this.#flush()
  }

  #flush(): void {
    while (!this.#blocked && this.#next < this.#queue.length) {
      if (!this.#options.response.write(this.#slice())) this.#blocked = true
    }
    if (this.#next < this.#queue.length) return
    this.#queue = []
    this.#next = 0
    if (this.#ending) this.#options.response.end()
  }

  #slice(): Buffer {
    const frames: Buffer[] = []
    let length = 0
    while (length < sliceBytes) {
      const event = this.#queue[this.#next]
      if (event === undefined) break
      this.#next++
      this.#unreadBytes -= sizeOf(event)
      const frame = this.#options.encode(event)
      length += frame.length
      frames.push(frame)
    }
    this.#forgetSent()
    const only = frames[0]
    return frames.length === 1 && only !== undefined ? only : Buffer.concat(frames, length)
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
