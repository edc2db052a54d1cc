import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { type DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { ApiRequest, Peer } from '../contract.ts'

/** What is known of a connection from its earlier requests. */
export type Connection = {
  readonly peer: Peer
  /** The headers of its last request, as they were sent and as they were read. */
  last: { readonly raw: readonly string[]; readonly headers: ApiRequest['headers'] } | undefined
}

const connections = new WeakMap<object, Connection>()

/** The connection of a request, and the other end of it, read once. */
export function connectionOf(raw: IncomingMessage | Http2ServerRequest): Connection {
  // An HTTP/2 request sees its socket through a proxy that is new for each stream: the session stands for it.
  const end = 'stream' in raw ? raw.stream.session : raw.socket
  if (end === undefined) return { peer: nobody, last: undefined }
  const known = connections.get(end)
  if (known !== undefined) return known
  const socket = 'socket' in end ? end.socket : end
  const peer: Peer = { address: socket.remoteAddress ?? '', certificates: certificatesOf(socket) }
  const made: Connection = { peer, last: undefined }
  connections.set(end, made)
  return made
}

const nobody: Peer = { address: '', certificates: [] }

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
