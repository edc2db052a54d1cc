// HTTP/1.1 over TLS and no more than the load needs: what a client library costs would be taken from the servers, which
// share the processors with it.
import { once } from 'node:events'
import { connect, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls'

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

const contexts = new Map<string, SecureContext>()

/** Reading the certificates takes longer than a handshake. */
function contextOf({ ca, cert, key }: Address): SecureContext {
  const known = contexts.get(cert)
  if (known !== undefined) return known
  const made = createSecureContext({ ca, cert, key })
  contexts.set(cert, made)
  return made
}

/** One connection; one request at a time. */
export class Connection {
  readonly #socket: TLSSocket
  #rest: Buffer = Buffer.alloc(0)
  #code = 0
  /** What is left of the body, or of its chunk. */
  #left = 0
  #isChunked: boolean = false
  #inBody: boolean = false
  #kept: Buffer[] = []
  #bytes = 0
  #expected: Expected | undefined
  #onBody: ((piece: Buffer) => void) | undefined

  constructor(socket: TLSSocket) {
    this.#socket = socket
    socket.on('data', (data: Buffer) => this.#push(data))
    socket.on('error', error => this.#fail(error))
    socket.on('close', () => this.#fail(new Error('the server closed the connection')))
  }

  static async open(address: Address): Promise<Connection> {
    const { port } = address
    const secureContext = contextOf(address)
    const socket = connect({ host: '127.0.0.1', port, secureContext, servername: 'localhost' })
    socket.setNoDelay(true)
    await once(socket, 'secureConnect')
    return new Connection(socket)
  }

  ask(request: string | Buffer, keeps: boolean): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#expected = { keeps, resolve, reject }
      this.#socket.write(request)
    })
  }

  /** Resolves with the code when the head is there; `onBody` gets the pieces of what follows. */
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
    for (let before = -1; rest.length !== before; ) {
      before = rest.length
      rest = this.#inBody ? this.#readBody(rest) : this.#readHead(rest)
    }
    this.#rest = rest
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
    if (this.#left > 0) return this.#take(data)
    return this.#isChunked ? this.#readChunkHead(data) : data
  }

  #take(data: Buffer): Buffer {
    const piece = data.length <= this.#left ? data : data.subarray(0, this.#left)
    this.#left -= piece.length
    this.#bytes += piece.length
    if (this.#onBody !== undefined) this.#onBody(piece)
    else if (this.#expected?.keeps === true) this.#kept.push(piece)
    if (this.#left === 0 && !this.#isChunked) this.#end()
    return data.subarray(piece.length)
  }

  /** `<hex>\r\n`, behind the `\r\n` of the chunk before. */
  #readChunkHead(data: Buffer): Buffer {
    const start = data[0] === 0x0d ? 2 : 0
    const end = data.indexOf(newline, start)
    if (end < 0) return data
    this.#left = Number.parseInt(data.toString('latin1', start, end), 16)
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
