import type { ApiRequest, Encoded, Responder, WatchEvent, WatchSink } from '../../apiservice/contract.ts'
import { Exchanges } from '../../apiservice/http/exchange.ts'
import type { HandshakeLimits } from '../../apiservice/http/handshakes.ts'
import { type Listener, listen } from '../../apiservice/http/listener.ts'
import { RequestMetrics } from '../../apiservice/http/request-metrics.ts'
import { type Identity, issueServing, makeAuthority } from '../../src/identity/certificate.ts'
import { type Clock, systemClock } from '../../src/kernel/clock.ts'
import { StatusError } from '../../src/kernel/errors.ts'
import { memoryLogger } from '../../src/kernel/log.ts'
import { type Metrics, noMetrics } from '../../src/kernel/metrics.ts'
import { type ApiClient, apiClient, type Protocol } from './api-client.ts'

export const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }

export type HttpFront = {
  readonly url: string
  readonly authority: Identity
  readonly listener: Listener
  readonly exchanges: Exchanges
  readonly log: ReturnType<typeof memoryLogger>
  client(protocol: Protocol, identity?: Identity): ApiClient
  close(): Promise<void>
}

/** The sockets and the writer of responses with any chain behind them. */
export async function httpFront(
  responder: Responder,
  options: {
    readonly clock?: Clock
    readonly metrics?: Metrics
    readonly served?: readonly string[]
    readonly maxUnreadBytes?: number
    readonly handshakes?: HandshakeLimits
    readonly lingerMs?: number
  } = {},
): Promise<HttpFront> {
  const authority = await makeAuthority('test', lifetime)
  const serving = await issueServing(authority, ['localhost', '127.0.0.1'], lifetime)
  const log = memoryLogger()
  const exchanges = new Exchanges({
    responder,
    clock: options.clock ?? systemClock,
    log,
    metrics: new RequestMetrics(options.metrics ?? noMetrics, new Set(options.served)),
    ...(options.maxUnreadBytes === undefined ? {} : { maxUnreadBytes: options.maxUnreadBytes }),
  })
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    tls: { cert: serving.certificate, key: serving.key, clientCa: [authority.certificate] },
    clock: options.clock ?? systemClock,
    log,
    handle: (request, response, target) => exchanges.handle(request, response, target),
    ...(options.handshakes === undefined ? {} : { handshakes: options.handshakes }),
    ...(options.lingerMs === undefined ? {} : { lingerMs: options.lingerMs }),
  })
  const url = `https://127.0.0.1:${listener.port}`
  const clients: ApiClient[] = []
  return {
    url,
    authority,
    listener,
    exchanges,
    log,
    client(protocol, identity) {
      const client = apiClient(protocol, {
        url,
        ca: authority.certificate,
        ...(identity === undefined ? {} : { identity }),
      })
      clients.push(client)
      return client
    },
    async close() {
      await Promise.all(clients.map(client => client.close()))
      listener.stop()
      await listener.close(AbortSignal.abort())
    },
  }
}

/** Closes what it has opened when a test ends: `afterEach(close)`. */
export function httpFronts() {
  const open: HttpFront[] = []
  return {
    async start(responder: Responder, options?: Parameters<typeof httpFront>[1]): Promise<HttpFront> {
      const front = await httpFront(responder, options)
      open.push(front)
      return front
    },
    close: async () => {
      await Promise.all(open.splice(0).map(front => front.close()))
    },
  }
}

export const bytes = (body: Buffer | string, code = 200, headers: Record<string, string> = {}): Encoded => ({
  type: 'bytes',
  code,
  headers: { 'content-type': 'application/json', ...headers },
  body,
})
export const ok: Responder = () => Promise.resolve(bytes('{}\n'))

/** Answers, and keeps what it was asked. */
export function recording(): { readonly requests: ApiRequest[]; readonly responder: Responder } {
  const requests: ApiRequest[] = []
  return {
    requests,
    responder: async request => {
      requests.push(request)
      return bytes('{}\n')
    },
  }
}

/** Answers a StatusError as one; the negotiation stage does that in a whole server. */
export const withBody: Responder = async request => {
  try {
    const body = await request.body()
    return bytes(JSON.stringify({ length: body.length }))
  } catch (thrown) {
    if (!(thrown instanceof StatusError)) throw thrown
    return bytes(JSON.stringify(thrown.toStatus()), thrown.code)
  }
}

export const frames =
  (open: (sink: WatchSink, signal: AbortSignal) => void): Responder =>
  () =>
    Promise.resolve({
      type: 'frames',
      code: 200,
      headers: { 'content-type': 'application/json' },
      encode: (events: readonly WatchEvent[]) =>
        Buffer.from(events.map(e => `${'object' in e ? e.object.body : e.type}\n`).join('')),
      open,
    })
export const event = (text: string): WatchEvent => ({
  type: 'ADDED',
  object: { revision: 1, resource: 'foos', namespace: '', name: 'x', body: Buffer.from(text) },
})
