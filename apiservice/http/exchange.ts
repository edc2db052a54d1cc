import { constants, type Http2ServerRequest } from 'node:http2'
import { errorText } from '../../src/kernel/abort.ts'
import { Bag, type Bagged } from '../../src/kernel/bag.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { internal, StatusError } from '../../src/kernel/errors.ts'
import type { Logger } from '../../src/kernel/log.ts'
import { atEndOfTurn, LongWork } from '../../src/kernel/turn.ts'
import { whenSettled } from '../../src/kernel/when-settled.ts'
import type { ApiRequest, Encoded, RequestNotes, Responder } from '../contract.ts'
import { auditIdOf, type RawRequest, type Sides, toApiRequest } from './request.ts'
import type { RequestMetrics } from './request-metrics.ts'
import {
  boundTime,
  breakOff,
  type RawResponse,
  type ResponseHeaders,
  takesGzip,
  type WithBody,
  writeBody,
} from './respond.ts'
import { warningHeaders } from './warnings.ts'
import { WatchStream } from './watch-stream.ts'

export type ExchangeOptions = {
  readonly responder: Responder
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: RequestMetrics
  /** See `WatchStream`. */
  readonly maxUnreadBytes?: number
}

type Open = Bagged & {
  readonly response: RawResponse
  isOver: boolean
  isGone: boolean
  watch: WatchStream | undefined
  notes: RequestNotes | undefined
}

type Exchange = {
  readonly raw: RawRequest
  readonly target: string
  readonly open: Open
  readonly controller: AbortController
}

/** A request as it is being answered; without one that could not be read. */
type Serving = {
  readonly exchange: Exchange
  readonly request: ApiRequest | undefined
  readonly warnings: readonly string[]
  readonly startedMs: number
}

type Watch = {
  readonly request: ApiRequest
  readonly encoded: Extract<Encoded, { type: 'frames' }>
  readonly headers: ResponseHeaders
}

/** What headers say beside the answer itself. */
type Said = { readonly auditId: string; readonly warnings: readonly string[] }

const clientGone = new Error('the client is gone')

/** Carries each request through the chain and its answer back, and knows which are under way. */
export class Exchanges {
  readonly #options: ExchangeOptions
  readonly #open = new Bag<Open>()
  readonly #longWork: LongWork
  readonly #waiting: { readonly isDone: () => boolean; readonly resolve: () => void }[] = []
  #stopping: boolean = false

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#longWork = new LongWork(options.clock)
  }

  handle(raw: RawRequest, response: RawResponse, target: string): void {
    const open: Open = {
      place: 0,
      response,
      isOver: false,
      isGone: false,
      watch: undefined,
      notes: undefined,
    }
    this.#open.add(open)
    const controller = new AbortController()
    // Not `once`, which costs more than to see that it is.
    response.on('close', () => {
      if (open.isOver) return
      open.isOver = true
      this.#open.remove(open)
      open.notes?.whenSent?.()
      if (!response.writableEnded) {
        open.isGone = true
        controller.abort(clientGone)
      }
      this.#wake()
    })
    // A broken connection is told by `close`; what fails to be written to it has nobody to read it.
    response.on('error', ignore)
    if ('stream' in raw) {
      raw.on('error', ignore)
      response.once('finish', () => forgetRest(raw))
    }
    this.#serve({ raw, target, open, controller })
  }

  /** From now on HTTP/1.1 clients are told to come back on another connection. */
  stopping(): void {
    this.#stopping = true
  }

  /** Ends all watches with a clean end of their body. */
  endWatches(): void {
    for (const open of this.#open) open.watch?.end()
  }

  /** Resolves when nothing but watches is under way. */
  drained(): Promise<void> {
    return this.#when(() => [...this.#open].every(open => open.watch !== undefined))
  }

  /** Resolves when nothing is under way. */
  idle(): Promise<void> {
    return this.#when(() => this.#open.size === 0)
  }

  #when(isDone: () => boolean): Promise<void> {
    return isDone() ? Promise.resolve() : new Promise(resolve => this.#waiting.push({ isDone, resolve }))
  }

  #wake(): void {
    if (this.#waiting.length === 0) return
    for (const waiting of this.#waiting.splice(0)) {
      if (waiting.isDone()) waiting.resolve()
      else this.#waiting.push(waiting)
    }
  }

  #serve(exchange: Exchange): void {
    const { raw, controller, open } = exchange
    const startedMs = this.#options.clock.now()
    const warnings: string[] = []
    const read = readRequest(raw, exchange.target, {
      warn: text => warnings.push(text),
      giveUp: why => controller.abort(why),
    })
    if (read instanceof StatusError) {
      this.#answerSoon({ exchange, request: undefined, warnings, startedMs }, plainStatus(read))
      return
    }
    open.notes = read.notes
    const serving = { exchange, request: read, warnings, startedMs }
    // With all that arrive in this turn.
    atEndOfTurn(() => {
      if (open.isGone) return
      void whenSettled(
        () => this.#options.responder(read, controller.signal),
        encoded => this.#answerSoon(serving, encoded),
        thrown => this.#broken(open.response, thrown),
      )
    })
  }

  #answerSoon(serving: Serving, encoded: Encoded): void {
    const { open } = serving.exchange
    atEndOfTurn(() => {
      if (open.isGone) return
      try {
        this.#answer(serving, encoded)
      } catch (thrown) {
        this.#broken(open.response, thrown)
      }
    })
  }

  #broken(response: RawResponse, thrown: unknown): void {
    this.#options.log.error('response failed', { error: errorText(thrown) })
    breakOff(response)
  }

  #answer({ exchange, request, warnings, startedMs }: Serving, encoded: Encoded): void {
    const { raw, open, controller } = exchange
    const said = { auditId: request?.notes.auditId ?? auditIdOf(raw), warnings }
    const headersOf = (code: number): ResponseHeaders => this.#headers(raw, code, said)
    if (encoded.type === 'frames') {
      if (request !== undefined) this.#watch(exchange, { request, encoded, headers: headersOf(encoded.code) })
      return
    }
    const sending = { signal: controller.signal, work: this.#longWork }
    const takes = { body: raw.method !== 'HEAD', gzip: takesGzip(raw), ...sending }
    let { code } = encoded
    const write = (answer: WithBody): number | Promise<number> => {
      code = answer.code
      return writeBody(open.response, answer, headersOf(code), takes)
    }
    const written = encoded.type === 'slices' ? this.#long(open.response, encoded, write) : write(encoded)
    const finished = (bytes: number): void => {
      if (request !== undefined) this.#finished(request, code, { bytes, startedMs })
    }
    if (typeof written === 'number') finished(written)
    else written.then(finished).catch((thrown: unknown) => this.#broken(open.response, thrown))
  }

  #finished(request: ApiRequest, code: number, sent: { bytes: number; startedMs: number }): void {
    const seconds = (this.#options.clock.now() - sent.startedMs) / 1000
    this.#options.metrics.finished(request.info, code, { seconds, bytes: sent.bytes })
    this.#log(request, code, seconds)
  }

  /** A fault that is met before anything was sent is told to the client. */
  async #long(
    response: RawResponse,
    encoded: Extract<Encoded, { type: 'slices' }>,
    write: (answer: WithBody) => number | Promise<number>,
  ): Promise<number> {
    boundTime(response, this.#options.clock)
    try {
      return await write(encoded)
    } catch (thrown) {
      if (response.headersSent || encoded.failed === undefined) throw thrown
      this.#options.log.error('response failed', { error: errorText(thrown) })
      return write(encoded.failed(thrown))
    }
  }

  #watch(exchange: Exchange, watch: Watch): void {
    const { response } = exchange.open
    const { metrics, clock, maxUnreadBytes } = this.#options
    const { request, encoded, headers } = watch
    response.writeHead(encoded.code, { ...headers, ...encoded.headers })
    if (request.method === 'HEAD') {
      response.end()
      return
    }
    // client-go's Watch() returns when the headers are there, not when the first event is.
    response.flushHeaders?.()
    const stream = new WatchStream({
      response,
      clock,
      encode: encoded.encode,
      onSlow: () => metrics.slowWatcher(request.info),
      ...(maxUnreadBytes === undefined ? {} : { maxUnreadBytes }),
    })
    exchange.open.watch = stream
    this.#wake()
    const finished = metrics.watchStarted(request.info)
    response.once('close', finished)
    this.#log(request, encoded.code, 0)
    encoded.open(stream, exchange.controller.signal)
  }

  #headers(raw: RawRequest, code: number, { auditId, warnings }: Said): ResponseHeaders {
    const headers: ResponseHeaders = {
      'audit-id': auditId,
      'cache-control': 'no-cache, private',
    }
    if (code >= 400) headers['x-content-type-options'] = 'nosniff'
    if (warnings.length > 0) headers.warning = [...warningHeaders(warnings)]
    if (this.#stopping && raw.httpVersionMajor < 2) headers.connection = 'close'
    return headers
  }

  #log(request: ApiRequest, code: number, seconds: number): void {
    const { method, path } = request
    this.#options.log.debug('request', { method, path, code, seconds })
  }
}

function readRequest(raw: RawRequest, target: string, sides: Sides): ApiRequest | StatusError {
  try {
    return toApiRequest(raw, target, sides)
  } catch (thrown) {
    return thrown instanceof StatusError ? thrown : internal('the request could not be read', thrown)
  }
}

function plainStatus(error: StatusError): Encoded {
  const body = `${JSON.stringify(error.toStatus())}\n`
  return { type: 'bytes', code: error.code, headers: { 'content-type': 'application/json' }, body }
}

/** Answered before its body was read: on HTTP/2 the client is told to send no more; on HTTP/1.1 Node reads past it. */
function forgetRest({ stream }: Http2ServerRequest): void {
  if (!(stream.endAfterHeaders || stream.readableEnded)) stream.close(constants.NGHTTP2_NO_ERROR)
}

function ignore(): void {
  // See the comment where it is used.
}
