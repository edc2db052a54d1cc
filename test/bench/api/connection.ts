// HTTP/1.1 over TLS and no more than the load needs: what a client library costs would be taken from the servers, which
// share the processors with it.
import { once } from 'node:events'
import type { SocketConstructorOpts } from 'node:net'
import {
  type ConnectionOptions,
  connect,
  createSecureContext,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'

/** Where a server is and who asks it. PEM texts. */
export type Address = {
  readonly port: number
  readonly ca: string
  readonly cert: string
  readonly key: string
}

export type Answer = { readonly code: number; readonly body: Buffer; readonly bytes: number }

type Expected = {
  /** Whether the body is kept or only counted. */
  readonly keeps: boolean
  resolve(answer: Answer): void
  reject(reason: Error): void
}

const endOfHead = Buffer.from('\r\n\r\n')
const newline = 0x0a
const nothing = Buffer.alloc(0)

const contexts = new Map<string, SecureContext>()

/** Reading the certificates takes longer than a handshake. */
function contextOf({ ca, cert, key }: Address): SecureContext {
  const known = contexts.get(cert)
  if (known !== undefined) return known
  const made = createSecureContext({ ca, cert, key })
  contexts.set(cert, made)
  return made
}

/**
 * What any connection reads stands here until the next one reads: a buffer for each read would be collected again and
 * again, and cost more than the reading.
 */
const input = Buffer.allocUnsafeSlow(64 * 1024)

/** One connection; one request at a time. */
export class Connection {
  readonly #socket: TLSSocket
  #rest: Buffer = nothing
  #code = 0
  /** What is left of the body, or of its chunk. */
  #left = 0
  /** What is left of the line end behind a chunk. */
  #lineEnd = 0
  #isChunked: boolean = false
  #inBody: boolean = false
  #kept: Buffer[] = []
  #bytes = 0
  #expected: Expected | undefined
  #onBody: ((piece: Buffer) => void) | undefined

  constructor(address: Address) {
    const callback = (length: number): boolean => {
      this.#push(input.subarray(0, length))
      return true
    }
    // The types of tls do not know that it takes what net takes.
    const options: ConnectionOptions & Pick<SocketConstructorOpts, 'onread'> = {
      host: '127.0.0.1',
      port: address.port,
      secureContext: contextOf(address),
      servername: 'localhost',
      onread: { buffer: input, callback },
    }
    const socket = connect(options)
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('error', error => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  static async open(address: Address): Promise<Connection> {
    const connection = new Connection(address)
    await once(connection.#socket, 'secureConnect')
    return connection
  }

  ask(request: string | Buffer, keeps: boolean): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#expected = { keeps, resolve, reject }
      this.#socket.write(request)
    })
  }

  /** Resolves with the code when the head is there; `onBody` looks at the pieces of what follows, and keeps none. */
  stream(request: string, onBody: (piece: Buffer) => void): Promise<number> {
    this.#onBody = onBody
    return this.ask(request, false).then(({ code }) => code)
  }

  close(): void {
    this.#expected = undefined
    this.#socket.destroy()
  }

  /** Calls back when the connection is over, whoever ended it. */
  onClose(listener: () => void): void {
    this.#socket.once('close', listener)
  }

  #fail(error: Error): void {
    const expected = this.#expected
    this.#expected = undefined
    expected?.reject(error)
  }

  #push(data: Buffer): void {
    let rest = this.#rest.length === 0 ? data : Buffer.concat([this.#rest, data])
    for (let before = -1; rest.length !== before && rest.length > 0; ) {
      before = rest.length
      rest = this.#inBody ? this.#readBody(rest) : this.#readHead(rest)
    }
    this.#rest = rest.length === 0 ? nothing : Buffer.from(rest)
  }

  #readHead(data: Buffer): Buffer {
    const end = data.indexOf(endOfHead)
    if (end < 0) return data
    const head = data.toString('latin1', 0, end).toLowerCase()
    this.#code = Number(head.slice(9, 12))
    this.#isChunked = head.includes('transfer-encoding: chunked')
    const at = head.indexOf('content-length:')
    this.#left = at < 0 ? 0 : Number.parseInt(head.slice(at + 15), 10)
    this.#inBody = true
    this.#bytes = 0
    this.#kept = []
    if (this.#onBody !== undefined && this.#code === 200) this.#answer()
    else if (!this.#isChunked && this.#left === 0) this.#end()
    return data.subarray(end + endOfHead.length)
  }

  #readBody(data: Buffer): Buffer {
    if (this.#lineEnd > 0) return this.#skip(data)
    if (this.#left > 0) return this.#take(data)
    return this.#isChunked ? this.#readChunkHead(data) : data
  }

  #skip(data: Buffer): Buffer {
    const length = Math.min(this.#lineEnd, data.length)
    this.#lineEnd -= length
    return data.subarray(length)
  }

  #take(data: Buffer): Buffer {
    const piece = data.length <= this.#left ? data : data.subarray(0, this.#left)
    this.#left -= piece.length
    this.#bytes += piece.length
    if (this.#onBody !== undefined) this.#onBody(piece)
    else if (this.#expected?.keeps === true) this.#kept.push(Buffer.from(piece))
    if (this.#left > 0) return data.subarray(piece.length)
    if (this.#isChunked) this.#lineEnd = 2
    else this.#end()
    return data.subarray(piece.length)
  }

  /** `<hex>\r\n` */
  #readChunkHead(data: Buffer): Buffer {
    const end = data.indexOf(newline)
    if (end < 0) return data
    this.#left = Number.parseInt(data.toString('latin1', 0, end), 16)
    if (this.#left > 0) return data.subarray(end + 1)
    // The last chunk is followed by an empty line.
    if (data.length < end + 3) {
      this.#left = 0
      return data
    }
    this.#end()
    return data.subarray(end + 3)
  }

  #end(): void {
    this.#inBody = false
    this.#answer()
  }

  #answer(): void {
    const expected = this.#expected
    this.#expected = undefined
    const [only] = this.#kept
    const body = this.#kept.length === 1 && only !== undefined ? only : Buffer.concat(this.#kept)
    expected?.resolve({ code: this.#code, body, bytes: this.#bytes })
  }
}

/** Events of a watch are lines: counts those that end in a piece. */
export function countLines(piece: Buffer): number {
  let count = 0
  for (let at = piece.indexOf(newline); at >= 0; at = piece.indexOf(newline, at + 1)) count++
  return count
}

export type Call = {
  readonly method: string
  readonly path: string
  readonly body?: string | Buffer
  readonly type?: string
  readonly accept?: string
}

/** The bytes of a request. */
export function requestBytes(call: Call): string | Buffer {
  const { method, path, body, type = 'application/json', accept = 'application/json' } = call
  const head = `${method} ${path} HTTP/1.1\r\nhost: localhost\r\nuser-agent: bench\r\naccept: ${accept}\r\n`
  if (body === undefined) return `${head}\r\n`
  const whole = `${head}content-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`
  return typeof body === 'string' ? whole + body : Buffer.concat([Buffer.from(whole, 'latin1'), body])
}
