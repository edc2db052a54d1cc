import { constants as http2 } from 'node:http2'
import { promisify } from 'node:util'
import { constants, createGzip, gzip as gzipCallback } from 'node:zlib'
import type { Clock } from '../../src/kernel/clock.ts'
import type { LongWork } from '../../src/kernel/turn.ts'
import type { Encoded } from '../contract.ts'
import type { RawRequest } from './request.ts'

export type ResponseHeaders = Record<string, string | string[] | number>

/** What both of Node's response classes have in common. */
export interface RawResponse extends NodeJS.WritableStream {
  writeHead(code: number, headers: ResponseHeaders): unknown
  /** Absent on HTTP/2, where `writeHead` sends. */
  flushHeaders?(): void
  destroy(): unknown
  /** HTTP/2 only. */
  readonly stream?: { close(code: number): void }
  readonly headersSent: boolean
  readonly writableEnded: boolean
  /** HTTP/1.1 only: whether the body goes in chunks, known when the head is sent; false to clients of HTTP/1.0. */
  readonly chunkedEncoding?: boolean
  readonly socket?: unknown
}

/** Ends a response so that nobody takes it for whole: a reset of the stream, or of the connection on HTTP/1.1. */
export function breakOff(response: RawResponse): void {
  if (response.stream === undefined) response.destroy()
  else response.stream.close(http2.NGHTTP2_INTERNAL_ERROR)
}

const maxLongMs = 300_000

/** A reader that stalls in the middle of a list must not hold its objects for ever. */
export function boundTime(response: RawResponse, clock: Clock): void {
  const cancel = clock.after(maxLongMs, () => breakOff(response))
  response.once('close', cancel)
}

/** A longer body is compressed where the client takes gzip. */
const gzipAbove = 128 * 1024
const fastest = { level: constants.Z_BEST_SPEED }
const gzip = promisify(gzipCallback)

/** Bodies that are sent again and again (OpenAPI documents) are compressed once. */
const zippedBodies = new WeakMap<Buffer, Promise<Buffer>>()

export type ClientTakes = { readonly body: boolean; readonly gzip: boolean }

/** `work` is what the slices of all long bodies have in common. */
type Sending = ClientTakes & { readonly signal: AbortSignal; readonly work: LongWork }

/** Of a request that names gzip, and not as what it does not want. */
export function takesGzip(raw: RawRequest): boolean {
  const accepted = raw.headers['accept-encoding']
  return typeof accepted === 'string' && /(^|[ ,])gzip *(,|$|;(?! *q=0(\.0*)? *(,|$)))/.test(accepted)
}

export type WithBody = Exclude<Encoded, { type: 'frames' }>

/**
 * Writes a response with a body to its end. `headers` are added to those of the response. Answers how many bytes the
 * body has before it is compressed; at once when nothing needs to be waited for, as with most. Rejects before the head is
 * sent when the beginning of a long body cannot be made.
 */
export function writeBody(
  response: RawResponse,
  encoded: WithBody,
  headers: ResponseHeaders,
  takes: Sending,
): number | Promise<number> {
  Object.assign(headers, encoded.headers)
  if (encoded.type === 'slices') return writeLong(response, encoded, headers, takes)
  const { body, code, encoding } = encoded
  if (takes.gzip && body.length > gzipAbove) {
    compress(headers)
    const bytes = typeof body === 'string' ? Buffer.from(body, encoding) : body
    return compressed(bytes).then(zipped => {
      writeWhole(response, { code, body: zipped, headers }, takes)
      return takes.body ? bytes.length : 0
    })
  }
  return writeWhole(response, { code, body, encoding, headers }, takes)
}

async function writeLong(
  response: RawResponse,
  { code, slices, length, zipped }: Extract<Encoded, { type: 'slices' }>,
  headers: ResponseHeaders,
  takes: Sending,
): Promise<number> {
  if (!takes.work.begins()) await takes.work.turn()
  if (takes.signal.aborted) return 0
  if (takes.gzip) compress(headers)
  else if (length !== undefined) headers['content-length'] = length()
  if (takes.gzip && takes.body && zipped !== undefined) {
    return writeZipped(response, zipped(), { code, headers, takes })
  }
  if (takes.body) {
    const begun = begin(slices)
    response.writeHead(code, headers)
    return writeSlices(response, begun, takes)
  }
  response.writeHead(code, headers)
  response.end()
  return 0
}

/** The same slices, of which the first is made at once: when that fails, nothing has been sent. */
function begin(slices: Iterable<Buffer>): Iterable<Buffer> {
  const iterator = slices[Symbol.iterator]()
  const first = iterator.next()
  return going(iterator, first)
}

function* going(iterator: Iterator<Buffer>, first: IteratorResult<Buffer>): Generator<Buffer> {
  try {
    for (let step = first; !step.done; step = iterator.next()) yield step.value
  } finally {
    iterator.return?.()
  }
}

type Opened = {
  readonly code: number
  readonly headers: ResponseHeaders
  readonly takes: Sending
}

async function writeZipped(
  response: RawResponse,
  slices: Generator<Buffer, number>,
  { code, headers, takes }: Opened,
): Promise<number> {
  const [first, second] = [slices.next(), slices.next()]
  if (first.done) throw new Error('a compressed list is empty')
  if (second.done) {
    writeWhole(response, { code, body: first.value, headers }, takes)
    return second.value
  }
  response.writeHead(code, headers)
  const begun = [first.value, second.value]
  let length: number | undefined
  function* all(): Generator<Buffer> {
    yield* begun
    length = yield* slices
  }
  const written = await writeSlices(response, all(), { ...takes, gzip: false })
  // Of a list that was given up nobody knows how long it is without compression.
  return length ?? written
}

type Whole = {
  readonly code: number
  readonly body: Buffer | string
  readonly encoding?: BufferEncoding | undefined
  readonly headers: ResponseHeaders
}

function writeWhole(
  response: RawResponse,
  { code, body, headers, encoding = 'utf8' }: Whole,
  takes: ClientTakes,
): number {
  const length = typeof body === 'string' ? Buffer.byteLength(body, encoding) : body.length
  if (code !== 304) headers['content-length'] = length
  response.writeHead(code, headers)
  if (!takes.body) response.end()
  else if (typeof body === 'string') response.end(body, encoding)
  else response.end(body)
  return takes.body ? length : 0
}

function compress(headers: ResponseHeaders): void {
  headers['content-encoding'] = 'gzip'
  headers.vary = 'vary' in headers ? `${headers.vary}, Accept-Encoding` : 'Accept-Encoding'
}

async function compressed(body: Buffer): Promise<Buffer> {
  const known = zippedBodies.get(body)
  if (known !== undefined) return known
  const zipped = gzip(body, fastest)
  zippedBodies.set(body, zipped)
  return zipped
}

/**
 * A turn of the event loop between slices lets others in, and each is sent before the next is made, in its place. What is
 * left when the client goes away is not made.
 */
async function writeSlices(response: RawResponse, slices: Iterable<Buffer>, takes: Sending): Promise<number> {
  const zip = takes.gzip ? createGzip(fastest) : undefined
  zip?.pipe(response)
  const target: NodeJS.WritableStream = zip ?? response
  let written = 0
  try {
    for (const slice of slices) {
      if (takes.signal.aborted) return written
      written += slice.length
      await sent(target, slice, takes.signal)
      await takes.work.turn()
    }
    target.end()
  } catch (thrown) {
    zip?.destroy()
    breakOff(response)
    if (!takes.signal.aborted) throw thrown
  }
  return written
}

/** Resolves when nothing looks at the bytes any more. */
function sent(target: NodeJS.WritableStream, bytes: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void => reject(signal.reason)
    signal.addEventListener('abort', gone, { once: true })
    target.write(bytes, failed => {
      signal.removeEventListener('abort', gone)
      if (failed) reject(failed)
      else resolve()
    })
  })
}
