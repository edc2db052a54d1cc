import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

export type HandshakeLimits = {
  /** A connection that has not done its TLS handshake after this is closed. */
  readonly handshakeMs: number
  /** This many may be in their handshake at once; one more costs the oldest of them its connection. */
  readonly maxHandshakes: number
}

export const defaultHandshakeLimits: HandshakeLimits = { handshakeMs: 10_000, maxHandshakes: 1_000 }

/** Both the TCP socket and the TLS socket over it have them. */
type Ends = { readonly remoteAddress?: string | undefined; readonly remotePort?: number | undefined }

/** As Go's net/http answers: clients know the sentence. */
const plainHttpAnswer = 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n'

/**
 * The TCP connections that have not done their TLS handshake. Node tells of a failed one by its TLS socket and closes
 * nothing: the TCP socket under it, which that does not name, is found by the address of the client.
 */
export class Handshakes {
  readonly #maxHandshakes: number
  /** By the client's address and port, oldest first. */
  readonly #open = new Map<string, Socket>()

  constructor(limits: HandshakeLimits) {
    this.#maxHandshakes = limits.maxHandshakes
  }

  begin(socket: Socket): void {
    const key = keyOf(socket)
    // Without an address its client has gone already.
    if (key === undefined) {
      socket.destroy()
      return
    }
    this.#open.delete(key)
    this.#open.set(key, socket)
    socket.once('close', () => {
      if (this.#open.get(key) === socket) this.#open.delete(key)
    })
    if (this.#open.size <= this.#maxHandshakes) return
    const oldest = this.#open.values().next().value
    oldest?.destroy()
  }

  /** The handshake of the connection is done. */
  end(tls: Ends): void {
    this.#take(tls)
  }

  /** Closes a connection whose handshake has failed. False: that was not the failure. */
  fail(error: NodeJS.ErrnoException, tls: Duplex & Ends): boolean {
    const socket = this.#take(tls)
    if (socket === undefined) return false
    const close = (): void => {
      tls.destroy()
      socket.destroy()
    }
    if (error.code === 'ERR_SSL_HTTP_REQUEST') socket.end(plainHttpAnswer, close)
    else close()
    return true
  }

  #take(ends: Ends): Socket | undefined {
    const key = keyOf(ends)
    if (key === undefined) return undefined
    const socket = this.#open.get(key)
    this.#open.delete(key)
    return socket
  }
}

function keyOf({ remoteAddress, remotePort }: Ends): string | undefined {
  return remoteAddress === undefined || remotePort === undefined
    ? undefined
    : `${remoteAddress} ${remotePort}`
}
