/**
 * The sockets: TLS with HTTP/2 and HTTP/1.1, every default of Node and fastify that is not Kubernetes' replaced.
 * Owns connections and their limits; knows nothing of what is served.
 */
import { constants } from 'node:crypto'
import type { Http2SecureServer, SecureServerOptions, ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { SecureContextOptions } from 'node:tls'
import { fastify } from 'fastify'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import { maxBodyBytes } from './body.ts'
import { answerEarlyError } from './early-error.ts'
import { defaultHandshakeLimits, type HandshakeLimits, Handshakes } from './handshakes.ts'
import { answerOddRequests } from './odd-requests.ts'
import type { RawRequest } from './request.ts'
import type { RawResponse } from './respond.ts'

/** PEM texts. `clientCa` names the authorities whose client certificates are asked for; verifying them is authn's. */
export type TlsMaterial = {
  readonly cert: string
  readonly key: string
  readonly clientCa: readonly string[]
}

/** `target` is the request target as it was sent. */
export type RawHandler = (request: RawRequest, response: RawResponse, target: string) => void

export type ListenerOptions = {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  readonly tls: TlsMaterial
  readonly handle: RawHandler
  readonly clock: Clock
  readonly log: Logger
  readonly handshakes?: HandshakeLimits
  /** What a client has for its part of the end of a connection, after the last byte of ours. */
  readonly lingerMs?: number
}

export type Listener = {
  readonly port: number
  setSecureContext(tls: TlsMaterial): void
  /** No new connections; open ones end when their last response has. */
  stop(): void
  /** Waits until all connections have ended; those that have not when the signal aborts are cut. */
  close(signal: AbortSignal): Promise<void>
}

const maxHeaderBytes = 1024 * 1024

const http1Options = {
  maxHeaderSize: maxHeaderBytes,
  // Go clients keep idle connections for 90 s: whoever closes first loses a request in flight.
  keepAliveTimeout: 120_000,
  headersTimeout: 32_000,
  requestTimeout: 120_000,
  // Node would answer without a body; see request.ts.
  requireHostHeader: false,
}

const http2Settings = {
  enablePush: false,
  // An aggregator sends all its watches over one connection.
  maxConcurrentStreams: 10_000,
  initialWindowSize: 1024 * 1024,
  maxHeaderListSize: maxHeaderBytes,
  // Headers come in at most nine frames (nghttp2): at the usual 16 KiB their limit could not be reached.
  maxFrameSize: 256 * 1024,
}

/** An HTTP/2 connection without a stream is closed after this; with streams it stays. */
const idleSessionMs = 120_000

const defaultLingerMs = 5_000
const tcpKeepAliveMs = 30_000

/** Listens. Rejects with one sentence when it cannot. */
export async function listen(options: ListenerOptions): Promise<Listener> {
  const limits = options.handshakes ?? defaultHandshakeLimits
  const handshakes = new Handshakes(limits)
  const app = makeApp(options, limits, handshakes)
  await app.ready()
  const { server } = app
  answerOddRequests(server, options.handle)
  withoutHeaderCount(server)
  // TCP connections, so that those are known too whose handshake is not done.
  const sockets = new Set<Socket>()
  let stopping = false
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    handshakes.begin(socket)
  })
  server.on('secureConnection', socket => {
    handshakes.end(socket)
    socket.once('finish', () =>
      socket.setTimeout(options.lingerMs ?? defaultLingerMs, () => socket.destroy()),
    )
    socket.on('error', error => options.log.debug('connection failed', { error: error.message }))
    // It was accepted before, and would now stay for as long as its client likes.
    if (stopping) socket.destroy()
  })
  server.on('session', session => closeWhenIdle(session))
  await bind(server, options)
  server.on('error', error => options.log.error('listener failed', { error: error.message }))
  return {
    port: boundPort(server),
    setSecureContext: tls => server.setSecureContext(secureContext(tls)),
    stop: () => {
      stopping = true
      server.close()
    },
    close: async signal => {
      closeIdleHttp1(server)
      const cut = (): void => {
        for (const socket of sockets) socket.destroy()
      }
      if (signal.aborted) cut()
      else signal.addEventListener('abort', cut, { once: true })
      await app.close()
      signal.removeEventListener('abort', cut)
    },
  }
}

function makeApp(options: ListenerOptions, limits: HandshakeLimits, handshakes: Handshakes) {
  const app = fastify({
    http2: true,
    http2SessionTimeout: 0,
    https: serverOptions(options.tls, limits),
    bodyLimit: maxBodyBytes,
    // One route takes everything: the path is read by us, percent-decoded once, of any length.
    rewriteUrl: () => '/',
    routerOptions: { querystringParser: () => ({}) },
    return503OnClosing: false,
    exposeHeadRoutes: false,
    clientErrorHandler: (error, socket) => {
      if (!handshakes.fail(error, socket)) answerEarlyError(error, socket)
    },
  })
  // Taken over in the first hook, before fastify would parse a body or look at a content type.
  app.addHook('onRequest', (request, reply) => {
    reply.hijack()
    options.handle(request.raw, reply.raw, request.originalUrl)
  })
  app.all('/', () => undefined)
  return app
}

function serverOptions(tls: TlsMaterial, limits: HandshakeLimits): SecureServerOptions {
  return {
    ...secureContext(tls),
    allowHTTP1: true,
    requestCert: true,
    rejectUnauthorized: false,
    handshakeTimeout: limits.handshakeMs,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: tcpKeepAliveMs,
    settings: http2Settings,
    // Above Node's default of 10 MB, for thousands of streams.
    maxSessionMemory: 512,
    // Each line counts 32 bytes and its own: their limit is met before this one.
    maxHeaderListPairs: maxHeaderBytes / 32,
    // A client that gives up many requests at once is an aggregator, not an attack.
    streamResetBurst: 10_000,
    streamResetRate: 1_000,
    http1Options,
  }
}

function secureContext(tls: TlsMaterial): SecureContextOptions {
  return {
    cert: tls.cert,
    key: tls.key,
    minVersion: 'TLSv1.2',
    ...(tls.clientCa.length === 0 ? {} : { ca: [...tls.clientCa] }),
    // A resumed session would carry the client's certificate without its chain, and outlive a rotation.
    secureOptions: constants.SSL_OP_NO_TICKET,
  }
}

function closeWhenIdle(session: ServerHttp2Session): void {
  let streams = 0
  session.on('stream', stream => {
    streams++
    stream.once('close', () => streams--)
  })
  session.setTimeout(idleSessionMs, () => {
    if (streams === 0) session.close()
  })
}

/** Not in the types: Node would stop reading at 2000 header lines over HTTP/1.1, where bytes are the limit. */
function withoutHeaderCount(server: Http2SecureServer & { maxHeadersCount?: number }): void {
  server.maxHeadersCount = 0
}

/** Not in the types: an HTTP/2 server that also speaks HTTP/1.1 has it for those connections. */
function closeIdleHttp1(server: Http2SecureServer & { closeIdleConnections?(): void }): void {
  server.closeIdleConnections?.()
}

function boundPort(server: Http2SecureServer): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

function bind(server: Http2SecureServer, options: ListenerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException): void => {
      reject(new Error(listenFailure(options, error), { cause: error }))
    }
    server.once('error', onError)
    server.listen({ host: options.host, port: options.port, backlog: 1024 }, () => {
      server.off('error', onError)
      resolve()
    })
  })
}

const listenFailures: ReadonlyMap<string, string> = new Map([
  ['EADDRINUSE', 'the port is in use by another process'],
  ['EACCES', 'this user may not use the port'],
  ['EADDRNOTAVAIL', 'this machine does not have the address'],
  ['ENOTFOUND', 'this machine does not have the address'],
])

function listenFailure(options: ListenerOptions, error: NodeJS.ErrnoException): string {
  const why = listenFailures.get(error.code ?? '') ?? error.message
  return `cannot listen on ${options.host} port ${options.port}: ${why}`
}
