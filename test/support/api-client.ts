import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { Agent, request as httpsRequest } from 'node:https'
import { StringDecoder } from 'node:string_decoder'
import type { Identity } from '../../src/identity/certificate.ts'

export type ApiAnswer = {
  readonly status: number
  /** Repeated headers are joined with commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly text: string
  /** Undefined when the text is not JSON. */
  readonly json: unknown
}

export type ApiCall = {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Buffer
}

/** A client that sends a request and reads the whole answer, as HTTP/1.1 or as HTTP/2. */
export interface ApiClient {
  send(path: string, call?: ApiCall): Promise<ApiAnswer>
  /** An answer whose body is read piece by piece. */
  open(path: string, call?: ApiCall): Promise<OpenAnswer>
  close(): Promise<void>
}

export type OpenAnswer = {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The next line, or undefined at the clean end of the body. Rejects when the body breaks off. */
  line(): Promise<string | undefined>
  rest(): Promise<Buffer>
  /** Stops reading, so that what is sent piles up. */
  pause(): void
  resume(): void
  cancel(): void
}

export type ClientOptions = { readonly url: string; readonly ca?: string; readonly identity?: Identity }

export const protocols = ['HTTP/1.1', 'HTTP/2'] as const
export type Protocol = (typeof protocols)[number]

export function apiClient(protocol: Protocol, options: ClientOptions): ApiClient {
  return protocol === 'HTTP/2' ? http2Client(options) : http1Client(options)
}

function tlsOf({ ca, identity }: ClientOptions) {
  return {
    ...(ca === undefined ? { rejectUnauthorized: false } : { ca }),
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
  }
}

function http1Client(options: ClientOptions): ApiClient {
  const agent = new Agent({ keepAlive: true, ...tlsOf(options) })
  const open = async (path: string, call: ApiCall = {}): Promise<OpenAnswer> => {
    const { port, hostname } = new URL(options.url)
    const sent = httpsRequest({
      agent,
      hostname,
      port,
      path,
      method: call.method ?? 'GET',
      headers: toOutgoing(call),
    })
    sent.end(call.body)
    const [response] = await once(sent, 'response')
    return readable(response.statusCode, response.headers, response, () => response.destroy())
  }
  return {
    open,
    send: async (path, call) => wholeAnswer(await open(path, call)),
    close: async () => agent.destroy(),
  }
}

function http2Client(options: ClientOptions): ApiClient {
  const session = connectHttp2(options.url, { ...tlsOf(options), maxSendHeaderBlockLength: 2 ** 21 })
  session.on('error', () => undefined)
  const open = async (path: string, call: ApiCall = {}): Promise<OpenAnswer> => {
    const headers = { ':path': path, ':method': call.method ?? 'GET', ...toOutgoing(call) }
    const stream = session.request(headers, { endStream: call.body === undefined })
    stream.on('error', () => undefined)
    if (call.body !== undefined) stream.end(call.body)
    // A stream whose session has ended closes without an error.
    const closed = new AbortController()
    stream.once('close', () => closed.abort())
    const [received] = await once(stream, 'response', { signal: closed.signal })
    return readable(received[':status'], received, stream, () => stream.close())
  }
  return {
    open,
    send: async (path, call) => wholeAnswer(await open(path, call)),
    close: async () => session.destroy(),
  }
}

function toOutgoing(call: ApiCall): Record<string, string | string[]> {
  const entries = Object.entries(call.headers ?? {})
  // Node frames the body of a DELETE only when it is told its length.
  if (call.body !== undefined) entries.push(['content-length', String(Buffer.byteLength(call.body))])
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  )
}

function readable(
  status: number,
  headers: Readonly<Record<string, string | string[] | number | undefined>>,
  stream: NodeJS.ReadableStream,
  cancel: () => void,
): OpenAnswer {
  const lines = linesOf(stream)
  return {
    status,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]),
    ),
    line: async () => {
      const next = await lines.next()
      return next.done === true ? undefined : next.value
    },
    rest: async () => Buffer.concat(await Array.fromAsync(stream, chunk => Buffer.from(chunk))),
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    cancel,
  }
}

async function* linesOf(stream: NodeJS.ReadableStream): AsyncGenerator<string, undefined> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of stream) {
    rest += decoder.write(Buffer.from(chunk))
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield rest.slice(0, end)
      rest = rest.slice(end + 1)
    }
  }
  if (rest !== '') yield rest
}

async function wholeAnswer(open: OpenAnswer): Promise<ApiAnswer> {
  const body = await open.rest()
  const text = body.toString('utf8')
  return { status: open.status, headers: open.headers, body, text, json: parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
