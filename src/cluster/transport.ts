/**
 * HTTPS to one API server that may have several addresses. Connections are kept; when credentials change, new
 * connections use the new ones. An address that cannot be reached is left for the next.
 */
import { once } from 'node:events'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, type AgentOptions, request as httpsRequest, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { createSecureContext } from 'node:tls'
import { onAbort } from '../kernel/abort.ts'
import type { Clock } from '../kernel/clock.ts'
import { unavailable } from '../kernel/errors.ts'
import { type Counter, type Metrics, noMetrics } from '../kernel/metrics.ts'

/** PEM texts and a bearer token. What is absent is not used; without `ca` the system's roots are trusted. */
export type Credentials = {
  readonly ca?: string
  readonly cert?: string
  readonly key?: string
  readonly token?: string
}

export type TransportOptions = {
  /** `https://host:port`, with a path if all paths have one in front; tried in turn. */
  readonly servers: readonly string[]
  /** Asked before each request. Answers equal values while nothing has changed. */
  credentials(signal: AbortSignal): Promise<Credentials>
  /** The name to expect in the server's certificate instead of the host of its address. */
  readonly tlsServerName?: string
  readonly clock: Clock
  /** How long a server may take until the head of its answer is there; 30 s unless told. */
  readonly headTimeoutMs?: number
  readonly userAgent?: string
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Where HTTPS_PROXY and NO_PROXY are looked for; the process's unless told. */
  readonly environment?: NodeJS.ProcessEnv
  /** Counts requests as client-go does. */
  readonly metrics?: Metrics
}

export type HttpRequest = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With the query. */
  readonly path: string
  readonly accept: string
  readonly contentType?: string
  readonly body?: string
  /** The answer is a stream that stays open. */
  readonly streams?: boolean
}

type Connections = { readonly credentials: Credentials; readonly requests: Agent; readonly streams: Agent }

type Outcome =
  | { readonly answer: IncomingMessage }
  /** `delivered`: the server may have seen the request. `stale`: on a kept connection that had just been closed. */
  | { readonly failure: string; readonly delivered: boolean; readonly stale: boolean }

const defaultHeadTimeoutMs = 30_000
const keptConnectionMs = 60_000
const requestSockets = 16
/** On this machine answers are soon there: more at once would only wait for each other. */
const loopbackSockets = 4

export class Transport {
  readonly #options: TransportOptions
  readonly #servers: readonly URL[]
  readonly #requests: Counter
  #connections: Connections | undefined
  /** Connections whose handshake is done. */
  readonly #secured = new WeakSet<Duplex>()
  /** Index of the address that answered last. */
  #current = 0

  /** Throws when there is no server or one is not an https address. */
  constructor(options: TransportOptions) {
    if (options.servers.length === 0) throw new Error('no server address given')
    this.#options = options
    this.#servers = options.servers.map(httpsUrl)
    this.#requests = (options.metrics ?? noMetrics).counter({
      name: 'rest_client_requests_total',
      help: 'Requests to other API servers and to this one itself; the code is <error> when no answer came.',
      labels: ['code', 'method', 'host'],
    })
  }

  /**
   * The head of the answer, whatever its status. Throws `ServiceUnavailable` when no address can be reached or the
   * connection breaks, and the signal's reason when it aborts; the signal also ends the body. Only what no server can
   * have seen, or a GET, is sent again to the next address.
   */
  async send(request: HttpRequest, signal: AbortSignal): Promise<IncomingMessage> {
    signal.throwIfAborted()
    const connections = this.#connectionsFor(await this.#options.credentials(signal))
    const failures: string[] = []
    for (let turn = 0; turn < this.#servers.length; turn += 1) {
      const index = (this.#current + turn) % this.#servers.length
      const outcome = await this.#tryServer(index, request, { connections, signal })
      this.#count(index, request, outcome)
      if ('answer' in outcome) {
        this.#current = index
        return outcome.answer
      }
      failures.push(`${this.#servers[index]?.host}: ${outcome.failure}`)
      if (outcome.delivered && request.method !== 'GET') break
    }
    throw unavailable(`the server cannot be reached: ${failures.join('; ')}`)
  }

  /** Ends all connections. */
  close(): void {
    this.#connections?.requests.destroy()
    this.#connections?.streams.destroy()
  }

  #count(index: number, { method }: HttpRequest, outcome: Outcome): void {
    const code = 'answer' in outcome ? String(outcome.answer.statusCode) : '<error>'
    this.#requests.add({ code, method, host: this.#servers[index]?.host ?? '' })
  }

  #connectionsFor(credentials: Credentials): Connections {
    const known = this.#connections
    if (known === undefined || !sameTls(known.credentials, credentials)) {
      const options = this.#agentOptions(credentials)
      const sockets = this.#servers.every(isLoopback) ? loopbackSockets : requestSockets
      // Open streams go on over the connections they have: a watch does not break because a certificate was renewed.
      this.#connections = {
        credentials,
        // Whoever writes much does so again in a moment. A handshake costs more than some requests, and a server in Node
        // takes one new connection in a turn of its event loop (libuv, `uv__server_io`): when it is busy, each waits long.
        requests: new Agent({ ...options, maxSockets: sockets, maxFreeSockets: sockets }),
        streams: new Agent({ ...options, maxFreeSockets: 1 }),
      }
    } else if (known.credentials.token !== credentials.token) {
      this.#connections = { ...known, credentials }
    }
    return this.#connections ?? this.#connectionsFor(credentials)
  }

  #agentOptions({ ca, cert, key }: Credentials): AgentOptions {
    const { tlsServerName } = this.#options
    return {
      keepAlive: true,
      keepAliveMsecs: 15_000,
      timeout: keptConnectionMs,
      // As in Go, whatever is named is trusted, a certificate of a server itself too.
      secureContext: createSecureContext({
        ca,
        cert,
        key,
        minVersion: 'TLSv1.2',
        allowPartialTrustChain: true,
      }),
      ...(tlsServerName === undefined ? {} : { servername: tlsServerName }),
      // As in Go, what listens on this machine is never asked for through a proxy.
      ...(this.#servers.every(isLoopback) ? {} : { proxyEnv: this.#options.environment ?? process.env }),
    }
  }

  async #tryServer(
    index: number,
    request: HttpRequest,
    context: { readonly connections: Connections; readonly signal: AbortSignal },
  ): Promise<Outcome> {
    const first = await this.#exchange(index, request, context)
    const again = 'failure' in first && first.stale && request.method === 'GET'
    return again ? this.#exchange(index, request, context) : first
  }

  async #exchange(
    index: number,
    request: HttpRequest,
    { connections, signal }: { readonly connections: Connections; readonly signal: AbortSignal },
  ): Promise<Outcome> {
    const sent = httpsRequest(this.#requestOptions(index, request, connections))
    let connected = false
    let cancel = this.#headTimer(sent)
    sent.once('socket', socket => {
      // How long it has waited for one of our own connections says nothing about the server.
      cancel()
      cancel = this.#headTimer(sent)
      connected = this.#secured.has(socket)
      if (connected) return
      socket.once('secureConnect', () => {
        this.#secured.add(socket)
        connected = true
      })
    })
    endWith(sent, signal)
    try {
      sent.end(request.body)
      const [answer] = (await once(sent, 'response')) as [IncomingMessage] // documented argument of the event
      return { answer }
    } catch (thrown) {
      signal.throwIfAborted()
      return { failure: failureText(thrown), delivered: connected, stale: sent.reusedSocket }
    } finally {
      cancel()
    }
  }

  #headTimer(sent: ClientRequest): () => void {
    const headTimeoutMs = this.#options.headTimeoutMs ?? defaultHeadTimeoutMs
    return this.#options.clock.after(headTimeoutMs, () =>
      sent.destroy(new Error(`no answer within ${headTimeoutMs / 1000} s`)),
    )
  }

  #requestOptions(index: number, request: HttpRequest, connections: Connections): RequestOptions {
    const server = this.#servers[index]
    const { token } = connections.credentials
    return {
      method: request.method,
      agent: request.streams === true ? connections.streams : connections.requests,
      hostname: server?.hostname.replace(/^\[|\]$/g, '') ?? '',
      port: server?.port === '' ? 443 : (server?.port ?? 443),
      path: targetOf(server?.pathname ?? '', request.path),
      headers: {
        accept: request.accept,
        'user-agent': this.#options.userAgent ?? 'isthmus',
        ...this.#options.headers,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(request.body === undefined
          ? {}
          : { 'content-type': request.contentType, 'content-length': Buffer.byteLength(request.body) }),
      },
    }
  }
}

/** A query right behind the address is of its root. */
function targetOf(before: string, path: string): string {
  const target = `${before.replace(/\/$/, '')}${path}`
  return target.startsWith('/') ? target : `/${target}`
}

function httpsUrl(server: string): URL {
  if (!URL.canParse(server) || new URL(server).protocol !== 'https:') {
    throw new Error(`server address "${server}" is not of the form https://host:port`)
  }
  return new URL(server)
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}

function sameTls(a: Credentials, b: Credentials): boolean {
  return a.ca === b.ca && a.cert === b.cert && a.key === b.key
}

/** Destroys the exchange, head or body, when the signal aborts. */
function endWith(sent: ClientRequest, signal: AbortSignal): void {
  const stop = (): void => {
    // Errors after an answer has begun reach its reader through the body.
    sent.destroy(signal.reason instanceof Error ? signal.reason : new Error('stopped'))
  }
  if (signal.aborted) stop()
  else sent.once('close', onAbort(signal, stop))
  sent.on('error', () => undefined)
}

/** A failed attempt on several addresses of one host has an empty message and a code. */
function failureText(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  return thrown.message === '' && 'code' in thrown ? String(thrown.code) : thrown.message
}
