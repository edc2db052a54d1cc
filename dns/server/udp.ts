/** One datagram, one answer. */
import type { RemoteInfo, Socket, SocketOptions } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { maxUdpOctets, type Observer, type Origin, type Responder } from '../contract.ts'
import { bindUdpKnown } from './bind.ts'
import { DatagramBatch } from './datagram-batch.ts'
import type { Endpoint } from './endpoint.ts'
import type { Libc } from './libc.ts'

/** Bridges pauses of the event loop; the kernel gives at most twice net.core.rmem_max. */
const receiveBufferOctets = 4 * 1024 * 1024

/** The most octets of an answer to a client at this address. */
export type UdpClamp = (address: string) => number

export type UdpServer = { readonly port: number; close(): Promise<void> }

export type UdpOptions = {
  readonly responder: Responder
  readonly observer: Observer
  readonly clamp: UdpClamp
  /** Absent for one datagram at a time. */
  readonly libc?: Libc | undefined
}

/** Rejects with one sentence when it cannot listen. */
export async function serveUdp(endpoint: Endpoint, options: UdpOptions): Promise<UdpServer> {
  const socketOptions: Omit<SocketOptions, 'type'> = {
    recvBufferSize: receiveBufferOctets,
    // Every address that comes in is an IP address already.
    lookup: (address, _options, done) => done(null, address, 0),
  }
  const { socket, fd } = await bindUdpKnown(endpoint, socketOptions, options.libc)
  const { observer, libc } = options
  socket.on('error', thrown => observer.fault(thrown))
  const answers = new Answers(socket, options)
  const batch = libc && fd !== undefined ? new DatagramBatch(libc, fd, maxUdpOctets) : undefined
  socket.on('message', (message, peer) => {
    answers.one(message, peer)
    if (batch !== undefined) answers.those(batch)
  })
  const { port } = socket.address()
  return { port, close: () => new Promise(resolve => socket.close(() => resolve())) }
}

class Answers {
  readonly #socket: Socket
  readonly #options: UdpOptions
  readonly #origin: Origin = { transport: 'udp', address: '', port: 0, octets: 0 }
  readonly #own: AddressInfo

  constructor(socket: Socket, options: UdpOptions) {
    this.#socket = socket
    this.#options = options
    this.#own = socket.address()
  }

  one(message: Buffer, { address, port }: RemoteInfo): void {
    const { responder, observer } = this.#options
    observer.begin()
    const octets = this.#respond(message, address, port)
    // The kernel may take it later, when the responder's buffer is filled again: each datagram needs its own.
    if (octets > 0) this.#send(Buffer.from(responder.bytes.subarray(0, octets)), address, port)
    observer.end()
  }

  /** What came in behind that one. */
  those(batch: DatagramBatch): void {
    const received = batch.receive()
    if (received === 0) return
    const { responder, observer } = this.#options
    observer.begin()
    for (let at = 0; at < received; at++) {
      const octets = this.#respond(batch.message(at), batch.address(at), batch.port(at))
      if (octets > 0) batch.reply(at, responder.bytes, octets)
    }
    batch.send((reply, at) => this.#send(reply, batch.address(at), batch.port(at)))
    observer.end()
  }

  #respond(message: Buffer, address: string, port: number): number {
    const { responder, observer, clamp } = this.#options
    if (!isAnswerable(address, port, this.#own)) {
      observer.dropped('udp')
      return 0
    }
    const origin = this.#origin
    origin.address = address
    origin.port = port
    origin.octets = clamp(address)
    return responder.respond(message, origin)
  }

  #send(reply: Buffer, address: string, port: number): void {
    // Without a callback a failed send is silent, as a lost datagram is; the client asks again.
    this.#socket.send(reply, 0, reply.length, port, address)
  }
}

/** Nothing can be sent to port 0, and a datagram from our own socket would be answered for ever. */
function isAnswerable(address: string, port: number, own: AddressInfo): boolean {
  return port !== 0 && (port !== own.port || (address !== own.address && !isLoopback(address)))
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.')
}
