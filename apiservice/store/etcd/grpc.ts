/** gRPC over one HTTP/2 connection to one server, which is made when it is needed and made again after it was lost. */
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type SecureClientSessionOptions,
} from 'node:http2'
import { errorText } from '../../../src/kernel/abort.ts'
import type { Clock } from '../../../src/kernel/clock.ts'
import type { Message } from './protobuf.ts'

/** The codes of gRPC that somebody here looks at. */
export const grpcCode = {
  ok: 0,
  invalidArgument: 3,
  deadlineExceeded: 4,
  resourceExhausted: 8,
  outOfRange: 11,
  unavailable: 14,
} as const

const { NGHTTP2_CANCEL, NGHTTP2_REFUSED_STREAM } = constants

export class GrpcError extends Error {
  readonly code: number
  /** False when the server has surely not begun with the request. */
  readonly mayHaveHappened: boolean

  constructor(code: number, message: string, mayHaveHappened = true) {
    super(message)
    this.name = 'GrpcError'
    this.code = code
    this.mayHaveHappened = mayHaveHappened
  }
}

/** PEM texts; without any, connections are not encrypted. */
export type TlsFiles = Pick<SecureClientSessionOptions, 'ca' | 'cert' | 'key'>

export type GrpcOptions = {
  readonly server: URL
  /** Asked for each connection, so that new files are used when they are there. */
  readonly tls: () => TlsFiles
  readonly clock: Clock
}

/** A call that goes on in both directions. */
export type GrpcStream = {
  send(message: Message): void
  /** Stops reading until `resume`. */
  pause(): void
  resume(): void
  cancel(): void
}

type Listener = {
  message(message: Buffer): void
  /** The last call; without an error when the server has ended the call well. */
  end(error: GrpcError | undefined): void
}

type Connection = { readonly session: ClientHttp2Session; isConnected: boolean; stopPings: () => void }

const streamWindowBytes = 4 * 1024 * 1024
const connectionWindowBytes = 32 * 1024 * 1024
/** etcd takes more than one in 5 s for an attack. */
const pingEveryMs = 10_000
const pongWithinMs = 5_000

export class GrpcChannel {
  readonly #options: GrpcOptions
  #connection: Connection | undefined

  constructor(options: GrpcOptions) {
    this.#options = options
  }

  /** One request, one answer. Rejects with `GrpcError`. */
  call(path: string, message: Message, withinMs: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      let answer: Buffer | undefined
      let stream: ClientHttp2Stream | undefined
      const cancelTimer = this.#options.clock.after(withinMs, () => {
        settle(new GrpcError(grpcCode.deadlineExceeded, `no answer within ${withinMs / 1000} s`))
        stream?.close(NGHTTP2_CANCEL)
      })
      const settle = (error: GrpcError | undefined): void => {
        cancelTimer()
        if (error !== undefined) reject(error)
        else if (answer !== undefined) resolve(answer)
        else reject(new GrpcError(grpcCode.unavailable, 'the answer is empty'))
      }
      stream = this.#begin(path, {
        message: bytes => {
          answer = bytes
        },
        end: settle,
      })
      stream?.end(framed(message))
    })
  }

  open(path: string, listener: Listener): GrpcStream {
    const stream = this.#begin(path, listener)
    return {
      send: message => {
        if (stream?.writable === true) stream.write(framed(message))
      },
      pause: () => stream?.pause(),
      resume: () => stream?.resume(),
      cancel: () => stream?.close(NGHTTP2_CANCEL),
    }
  }

  /** Ends the connection and every call on it. */
  drop(): void {
    const connection = this.#connection
    this.#connection = undefined
    connection?.stopPings()
    connection?.session.destroy()
  }

  #begin(path: string, listener: Listener): ClientHttp2Stream | undefined {
    try {
      const connection = this.#connected()
      const stream = connection.session.request({
        ':method': 'POST',
        ':path': path,
        'content-type': 'application/grpc',
        te: 'trailers',
        // A member that has lost its leader says so, instead of letting the call wait.
        hasleader: 'true',
      })
      follow(stream, () => connection.isConnected, listener)
      return stream
    } catch (thrown) {
      this.drop()
      const error = new GrpcError(grpcCode.unavailable, errorText(thrown), false)
      queueMicrotask(() => listener.end(error))
      return undefined
    }
  }

  #connected(): Connection {
    const known = this.#connection
    if (known !== undefined && !known.session.closed && !known.session.destroyed) return known
    const { server, tls } = this.#options
    const session = connect(server, {
      ...tls(),
      settings: { initialWindowSize: streamWindowBytes, enablePush: false },
      maxSessionMemory: 256,
    })
    const connection: Connection = { session, isConnected: false, stopPings: () => undefined }
    session.on('connect', () => {
      connection.isConnected = true
      session.setLocalWindowSize(connectionWindowBytes)
      connection.stopPings = this.#keepAlive(session)
    })
    session.on('goaway', () => this.#forget(connection))
    session.on('close', () => this.#forget(connection))
    // Each of its calls tells of it.
    session.on('error', () => this.#forget(connection))
    this.#connection = connection
    return connection
  }

  #forget(connection: Connection): void {
    connection.stopPings()
    if (this.#connection === connection) this.#connection = undefined
  }

  /** A peer that is gone without a word is noticed. */
  #keepAlive(session: ClientHttp2Session): () => void {
    const { clock } = this.#options
    let cancel = (): void => undefined
    const next = (): void => {
      cancel = clock.after(pingEveryMs, () => {
        if (session.destroyed) return
        cancel = clock.after(pongWithinMs, () => session.destroy())
        session.ping(() => {
          cancel()
          if (!session.destroyed) next()
        })
      })
    }
    next()
    return () => cancel()
  }
}

/** Tells the listener what comes on a stream: messages, then one end. */
function follow(stream: ClientHttp2Stream, isConnected: () => boolean, listener: Listener): void {
  const frames = new Frames(bytes => listener.message(bytes))
  let status: GrpcError | 'ok' | undefined
  let failure: string | undefined
  const note = (headers: IncomingHttpHeaders): void => {
    status ??= statusIn(headers)
  }
  stream.on('response', note)
  stream.on('trailers', note)
  stream.on('data', (chunk: Buffer) => frames.add(chunk))
  stream.on('error', (thrown: Error) => {
    failure = thrown.message
  })
  stream.on('close', () => {
    if (status === 'ok') listener.end(undefined)
    else if (status !== undefined) listener.end(status)
    else {
      const mayHaveHappened = isConnected() && stream.rstCode !== NGHTTP2_REFUSED_STREAM
      const why = failure ?? 'the connection was closed'
      listener.end(new GrpcError(grpcCode.unavailable, why, mayHaveHappened))
    }
  })
}

function statusIn(headers: IncomingHttpHeaders): GrpcError | 'ok' | undefined {
  const http = headers[':status']
  const code = headers['grpc-status']
  if (code === '0') return 'ok'
  if (code !== undefined) return new GrpcError(Number(code), messageIn(headers))
  if (http === undefined || Number(http) === 200) return undefined
  return new GrpcError(grpcCode.unavailable, `the server answers with HTTP status ${http}`)
}

function messageIn(headers: IncomingHttpHeaders): string {
  const text = String(headers['grpc-message'] ?? '')
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const headBytes = 5

function framed(message: Message): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(message.length, 1)
  return message.behind(head)
}

/** Cuts what comes in pieces into messages. */
class Frames {
  readonly #deliver: (message: Buffer) => void
  #pieces: Buffer[] = []
  #bytes = 0
  /** How many bytes the next message takes with its head; unknown before that is there. */
  #wanted = headBytes

  constructor(deliver: (message: Buffer) => void) {
    this.#deliver = deliver
  }

  add(chunk: Buffer): void {
    this.#pieces.push(chunk)
    this.#bytes += chunk.length
    while (this.#bytes >= this.#wanted) {
      const all = this.#pieces.length === 1 ? (this.#pieces[0] ?? chunk) : Buffer.concat(this.#pieces)
      const end = headBytes + all.readUInt32BE(1)
      const isWhole = all.length >= end
      if (isWhole) this.#deliver(all.subarray(headBytes, end))
      const rest = isWhole ? all.subarray(end) : all
      this.#pieces = rest.length === 0 ? [] : [rest]
      this.#bytes = rest.length
      this.#wanted = isWhole ? headBytes : end
    }
  }
}
