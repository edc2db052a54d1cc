import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { Peer } from '../contract.ts'

const peers = new WeakMap<object, Peer>()
const nobody: Peer = { address: '', certificates: [] }

/** The other end of a request's connection, read once for each connection. */
export function peerOf(raw: IncomingMessage | Http2ServerRequest): Peer {
  // An HTTP/2 request sees its socket through a proxy that is new for each stream: the session stands for it.
  const connection = 'stream' in raw ? raw.stream.session : raw.socket
  if (connection === undefined) return nobody
  const known = peers.get(connection)
  if (known !== undefined) return known
  const socket = 'socket' in connection ? connection.socket : connection
  const peer: Peer = { address: socket.remoteAddress ?? '', certificates: certificatesOf(socket) }
  peers.set(connection, peer)
  return peer
}

/** A chain longer than this is no chain. */
const maxChain = 10

function certificatesOf(socket: unknown): readonly Buffer[] {
  if (!isTls(socket)) return []
  const chain: Buffer[] = []
  let next: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true)
  while (next?.raw !== undefined && chain.length < maxChain) {
    const { raw } = next
    if (chain.some(seen => seen.equals(raw))) break
    chain.push(raw)
    next = next.issuerCertificate
  }
  return chain
}

function isTls(socket: unknown): socket is TLSSocket {
  return socket instanceof TLSSocket
}
