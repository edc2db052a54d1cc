import type { Server, Socket } from 'node:net'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Observer, Responder } from '../contract.ts'
import { listenTcp } from './bind.ts'
import { Connection } from './connection.ts'
import type { Endpoint } from './endpoint.ts'
import { FrameBatch } from './frames.ts'
import { Admission, type TcpLimits } from './limits.ts'

/** How exactly deadlines are kept. */
const sweepMs = 500

export type TcpOptions = {
  readonly limits: TcpLimits
  readonly clock: Clock
  readonly responder: Responder
  readonly observer: Observer
}

export type TcpServer = {
  readonly port: number
  /** Connections that are open. */
  readonly connections: number
  close(): Promise<void>
}

/** Rejects with one sentence when it cannot listen. */
export async function serveTcp(endpoint: Endpoint, options: TcpOptions): Promise<TcpServer> {
  return new Listener(await listenTcp(endpoint, { noDelay: true }), options)
}

class Listener implements TcpServer {
  readonly port: number
  readonly #server: Server
  readonly #options: TcpOptions
  readonly #batch = new FrameBatch()
  readonly #admission: Admission<Connection>
  #cancelSweep: (() => void) | undefined

  constructor(server: Server, options: TcpOptions) {
    this.#server = server
    this.#options = options
    this.#admission = new Admission(options.limits)
    const address = server.address()
    this.port = typeof address === 'object' && address !== null ? address.port : 0
    server.on('error', thrown => options.observer.fault(thrown))
    server.on('connection', socket => this.#accept(socket))
  }

  get connections(): number {
    return this.#admission.size
  }

  async close(): Promise<void> {
    const closed = new Promise<void>(resolve => this.#server.close(() => resolve()))
    const { closeMs } = this.#options.limits
    for (const connection of this.#admission) connection.finish(closeMs)
    await closed
    this.#cancelSweep?.()
  }

  #accept(socket: Socket): void {
    const { limits, clock, responder, observer } = this.#options
    const connection = new Connection(socket, { limits, clock, responder, observer, batch: this.#batch })
    // Resets and broken pipes are the ordinary end of a client; 'close' follows.
    socket.on('error', () => undefined)
    if (connection.address === '' || !this.#admission.admit(connection)) {
      observer.dropped('tcp')
      socket.destroy()
      return
    }
    socket.on('data', (chunk: Buffer) => {
      connection.receive(chunk)
      this.#admission.touch(connection)
    })
    socket.on('drain', () => connection.drained())
    socket.on('end', () => connection.finish(limits.drainMs))
    socket.on('close', () => this.#admission.remove(connection))
    this.#sweepLater()
  }

  /** One timer for all connections, and none while there are none. */
  #sweepLater(): void {
    this.#cancelSweep ??= this.#options.clock.after(sweepMs, () => {
      this.#cancelSweep = undefined
      const now = this.#options.clock.now()
      for (const connection of this.#admission) if (connection.deadline <= now) connection.destroy()
      if (this.#admission.size > 0) this.#sweepLater()
    })
  }
}
