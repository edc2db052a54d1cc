/** How sockets come to listen. */
import { createSocket, type Socket, type SocketOptions } from 'node:dgram'
import { createServer, isIPv6, type Server, type ServerOpts } from 'node:net'
import { StatusError } from '../../src/kernel/errors.ts'
import type { Transport } from '../contract.ts'
import type { Endpoint } from './endpoint.ts'
import type { Libc } from './libc.ts'
import { keepPort, openUdp } from './native-socket.ts'

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user may not use the port',
  EADDRNOTAVAIL: 'this machine has no such address',
}

/** `dns: cannot listen on UDP 127.0.0.1:53: the port is in use` */
function bindError(transport: Transport, endpoint: Endpoint, cause: unknown): StatusError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const why = reasons[code] ?? (cause instanceof Error ? cause.message : String(cause))
  const host = isIPv6(endpoint.host) ? `[${endpoint.host}]` : endpoint.host
  const message = `dns: cannot listen on ${transport.toUpperCase()} ${host}:${endpoint.port}: ${why}`
  return new StatusError(500, 'InternalError', message, { cause })
}

/** As `bindUdp`; `fd` is the socket's descriptor, where it is known. */
export async function bindUdpKnown(
  endpoint: Endpoint,
  options: Omit<SocketOptions, 'type'>,
  libc: Libc | undefined,
): Promise<{ readonly socket: Socket; readonly fd: number | undefined }> {
  const fd = libc && openUdp(libc, endpoint)
  if (libc === undefined || fd === undefined)
    return { socket: await bindUdp(endpoint, options), fd: undefined }
  const socket = createSocket({ ...options, type: isIPv6(endpoint.host) ? 'udp6' : 'udp4' })
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.bind({ fd, exclusive: true }, resolve)
    })
  } catch {
    // With it goes the descriptor that it has taken.
    socket.close()
    return { socket: await bindUdp(endpoint, options), fd: undefined }
  }
  socket.removeAllListeners('error')
  keepPort(libc, fd)
  return { socket, fd }
}

/** Rejects with one sentence when it cannot be bound. */
export function bindUdp(endpoint: Endpoint, options: Omit<SocketOptions, 'type'>): Promise<Socket> {
  const type = isIPv6(endpoint.host) ? 'udp6' : 'udp4'
  const socket = createSocket({ ...options, type, reusePort: endpoint.shared })
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => {
      socket.close()
      reject(bindError('udp', endpoint, cause))
    }
    socket.once('error', fail)
    socket.bind({ address: endpoint.host, port: endpoint.port, exclusive: true }, () => {
      socket.off('error', fail)
      resolve(socket)
    })
  })
}

/** Rejects with one sentence when it cannot listen. */
export function listenTcp(endpoint: Endpoint, options: ServerOpts): Promise<Server> {
  const { host, port, shared } = endpoint
  const server = createServer(options)
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown): void => reject(bindError('tcp', endpoint, cause))
    server.once('error', fail)
    server.listen({ host, port, exclusive: true, reusePort: shared, backlog: 1024 }, () => {
      server.off('error', fail)
      resolve(server)
    })
  })
}
