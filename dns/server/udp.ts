/** One datagram, one answer. */
import type { RemoteInfo, Socket } from 'node:dgram'
import type { Observer, Origin, Responder } from '../contract.ts'
import { bindUdp, type Endpoint } from './bind.ts'

/** Bridges pauses of the event loop; the kernel gives at most twice net.core.rmem_max. */
const receiveBufferOctets = 4 * 1024 * 1024

/** The most octets of an answer to a client at this address. */
export type UdpClamp = (address: string) => number

export type UdpServer = { readonly port: number; close(): Promise<void> }

export type UdpOptions = {
  readonly responder: Responder
  readonly observer: Observer
  readonly clamp: UdpClamp
}

/** Rejects with one sentence when it cannot listen. */
export async function serveUdp(
  endpoint: Endpoint,
  { responder, observer, clamp }: UdpOptions,
): Promise<UdpServer> {
  const socket = await bindUdp(endpoint, {
    recvBufferSize: receiveBufferOctets,
    // Every address that comes in is an IP address already.
    lookup: (address, _options, done) => done(null, address, 0),
  })
  const { port, address } = socket.address()
  socket.on('error', thrown => observer.fault(thrown))
  const origin: Origin = { transport: 'udp', address: '', port: 0, octets: 0 }
  socket.on('message', (message, peer) => {
    observer.begin()
    if (!isAnswerable(peer, port, address)) {
      observer.dropped('udp')
      return
    }
    origin.address = peer.address
    origin.port = peer.port
    origin.octets = clamp(peer.address)
    answer(socket, responder, message, origin)
    observer.end()
  })
  return { port, close: () => new Promise(resolve => socket.close(() => resolve())) }
}

/** Nothing can be sent to port 0, and a datagram from our own socket would be answered for ever. */
function isAnswerable(peer: RemoteInfo, port: number, address: string): boolean {
  return peer.port !== 0 && (peer.port !== port || (peer.address !== address && !isLoopback(peer.address)))
}

function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1' || address.startsWith('::ffff:127.')
}

function answer(socket: Socket, responder: Responder, message: Buffer, origin: Origin): void {
  const octets = responder.respond(message, origin)
  if (octets === 0) return
  // The kernel may take it later, when the responder's buffer is filled again: each datagram needs its own.
  const reply = Buffer.allocUnsafe(octets)
  responder.bytes.copy(reply, 0, 0, octets)
  // Without a callback a failed send is silent, as a lost datagram is; the client asks again.
  socket.send(reply, 0, octets, origin.port, origin.address)
}
