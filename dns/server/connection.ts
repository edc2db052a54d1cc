/** One TCP client: frames in, frames out, bounded in memory and time. */
import type { Socket } from 'node:net'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Observer, Origin, Responder } from '../contract.ts'
import { type FrameBatch, nextFrame } from './frames.ts'
import type { Limited, TcpLimits } from './limits.ts'

/** As much of a socket as a connection needs. */
export type Peer = Pick<
  Socket,
  | 'remoteAddress'
  | 'remotePort'
  | 'writableLength'
  | 'write'
  | 'end'
  | 'destroy'
  | 'destroySoon'
  | 'pause'
  | 'resume'
>

export type ConnectionOptions = {
  readonly limits: TcpLimits
  readonly clock: Clock
  readonly responder: Responder
  readonly observer: Pick<Observer, 'begin' | 'end'>
  /** Shared by all connections of a thread: it is empty between turns. */
  readonly batch: FrameBatch
}

/** What the length before a message can say. */
const messageOctets = 65_535
/** Answers gathered before they are handed to the socket. */
const batchOctets = 64 * 1024

const nothing = Buffer.alloc(0)

export class Connection implements Limited {
  readonly #origin: Origin
  readonly #socket: Peer
  readonly #options: ConnectionOptions
  /** What was received and not yet answered: part of a frame, or more while the client does not read. */
  #held: Buffer = nothing
  #paused: boolean = false
  #deadline: number

  constructor(socket: Peer, options: ConnectionOptions) {
    this.#socket = socket
    this.#options = options
    const { remoteAddress = '', remotePort = 0 } = socket
    this.#origin = { transport: 'tcp', address: remoteAddress, port: remotePort, octets: messageOctets }
    this.#deadline = options.clock.now() + options.limits.idleMs
  }

  get address(): string {
    return this.#origin.address
  }

  get idle(): boolean {
    return this.#held.length === 0 && this.#socket.writableLength === 0
  }

  /** When it is closed unless something happens, in milliseconds since the epoch. */
  get deadline(): number {
    return this.#deadline
  }

  destroy(): void {
    this.#socket.destroy()
  }

  receive(chunk: Buffer): void {
    const began = this.#held.length > 0
    this.#answer(began ? Buffer.concat([this.#held, chunk]) : chunk, began)
  }

  /** The client has taken what was written. */
  drained(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#answer(this.#held, false)
    if (!this.#paused) this.#socket.resume()
  }

  /** The client, or we, say no more: what is written still has this long to be taken. */
  finish(withinMs: number): void {
    this.#deadline = this.#options.clock.now() + withinMs
    if (this.idle) this.#socket.destroySoon()
    else this.#socket.end()
  }

  #answer(bytes: Buffer, began: boolean): void {
    const { observer } = this.#options
    observer.begin()
    this.#answerFrames(bytes, began)
    observer.end()
  }

  /** Whole frames. `began` says that the first of them had begun before, so that its deadline stays. */
  #answerFrames(bytes: Buffer, began: boolean): void {
    const { limits, batch } = this.#options
    let at = 0
    for (;;) {
      const frame = nextFrame(bytes, at, limits.queryOctets)
      if (frame === 'more') break
      if (frame === 'bad' || !this.#respond(frame)) {
        this.#flush()
        this.#socket.destroySoon()
        return
      }
      at += 2 + frame.length
      if (batch.length >= batchOctets) this.#flush()
      if (this.#socket.writableLength > limits.pendingOctets) break
    }
    this.#flush()
    this.#keep(bytes, at, began && at === 0)
  }

  /** False when the frame is no query: whoever sends answers has no business here. */
  #respond(frame: Buffer): boolean {
    const { responder, batch } = this.#options
    const octets = responder.respond(frame, this.#origin)
    if (octets === 0) return false
    batch.add(responder.bytes, octets)
    return true
  }

  #flush(): void {
    if (this.#options.batch.length > 0) this.#socket.write(this.#options.batch.take())
  }

  #keep(bytes: Buffer, at: number, sameFrame: boolean): void {
    const { limits, clock } = this.#options
    // A copy: the rest must not keep the whole segment alive.
    this.#held = at === bytes.length ? nothing : Buffer.from(bytes.subarray(at))
    if (this.#socket.writableLength > limits.pendingOctets) {
      this.#paused = true
      this.#socket.pause()
      this.#deadline = clock.now() + limits.drainMs
    } else if (this.#held.length === 0) this.#deadline = clock.now() + limits.idleMs
    else if (!sameFrame) this.#deadline = clock.now() + limits.frameMs
  }
}
