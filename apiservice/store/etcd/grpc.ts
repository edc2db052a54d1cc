/** gRPC to one server, over one connection that is made when it is needed. */
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import {
  type ChannelCredentials,
  Client,
  type ClientOptions,
  credentials,
  Metadata,
  status,
} from '@grpc/grpc-js'
import { errorText } from '../../../src/kernel/abort.ts'
import type { Clock } from '../../../src/kernel/clock.ts'

/** The codes of gRPC that somebody here looks at. */
export const grpcCode = {
  ok: status.OK,
  unknown: status.UNKNOWN,
  invalidArgument: status.INVALID_ARGUMENT,
  deadlineExceeded: status.DEADLINE_EXCEEDED,
  resourceExhausted: status.RESOURCE_EXHAUSTED,
  outOfRange: status.OUT_OF_RANGE,
  unavailable: status.UNAVAILABLE,
} as const

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
export type TlsFiles = { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer }

/** What is called, and how its messages are written and read. */
export type Method<Question, Answer> = {
  readonly path: string
  readonly requestSerialize: (question: Question) => Buffer
  readonly responseDeserialize: (bytes: Buffer) => Answer
}

export type GrpcOptions = {
  readonly server: URL
  /** Asked for each connection, so that new files are used when they are there. */
  readonly tls: () => TlsFiles
  readonly clock: Clock
}

/** A call that goes on in both directions. */
export type GrpcStream<Question> = {
  send(message: Question): void
  /** Stops reading until `resume`. */
  pause(): void
  resume(): void
  cancel(): void
}

type Listener<Answer> = {
  message(message: Answer): void
  /** The last call; without an error when the server has ended the call well. */
  end(error: GrpcError | undefined): void
}

type Call = { cancel(): void }

const options: ClientOptions = {
  // Connections belong to their channel, and what has failed is tried again by those who call.
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_retries': 0,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // Proxies and services of the name are for strangers.
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  // A peer that is gone without a word is noticed. etcd takes more than one ping in 5 s for an attack.
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 5_000,
  'grpc.keepalive_permit_without_calls': 1,
  // etcd bounds what it sends.
  'grpc.max_receive_message_length': -1,
  'grpc-node.flow_control_window': 4 * 1024 * 1024,
  'grpc-node.max_session_memory': 256,
}

/** How `@grpc/grpc-js` says that a call never reached a server. */
const notBegun = /^(?:No connection established|Name resolution failed|Channel closed before call started)/

export class GrpcChannel {
  readonly #options: GrpcOptions
  readonly #calls = new Set<Call>()
  readonly #streams = new Set<Call>()
  #client: Client | undefined

  constructor(grpcOptions: GrpcOptions) {
    this.#options = grpcOptions
  }

  /** One request, one answer. Rejects with `GrpcError`. */
  call<Question, Answer>(
    method: Method<Question, Answer>,
    question: Question,
    withinMs: number,
  ): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const { path, requestSerialize, responseDeserialize } = method
      let client: Client
      try {
        client = this.#connected()
      } catch (thrown) {
        reject(neverBegan(thrown))
        return
      }
      let isLate = false
      const call = client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        question,
        metadata,
        (failed, answer) => {
          cancelTimer()
          this.#calls.delete(call)
          if (answer !== undefined) resolve(answer)
          else if (isLate) {
            reject(new GrpcError(grpcCode.deadlineExceeded, `no answer within ${withinMs / 1000} s`))
          } else
            reject(this.#failure(client, failed?.code ?? grpcCode.unknown, failed?.details ?? 'no answer'))
        },
      )
      this.#calls.add(call)
      const cancelTimer = this.#options.clock.after(withinMs, () => {
        isLate = true
        this.#forget(client)
        call.cancel()
      })
    })
  }

  /** Never throws: what keeps it from beginning is its end. */
  open<Question, Answer>(method: Method<Question, Answer>, listener: Listener<Answer>): GrpcStream<Question> {
    try {
      return this.#stream(method, listener)
    } catch (thrown) {
      const error = neverBegan(thrown)
      queueMicrotask(() => listener.end(error))
      const ignore = (): void => undefined
      return { send: ignore, pause: ignore, resume: ignore, cancel: ignore }
    }
  }

  #stream<Question, Answer>(
    { path, requestSerialize, responseDeserialize }: Method<Question, Answer>,
    listener: Listener<Answer>,
  ): GrpcStream<Question> {
    const client = this.#connected()
    const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata)
    this.#streams.add(stream)
    stream.on('data', (answer: Answer) => listener.message(answer))
    // The status says the same.
    stream.on('error', () => undefined)
    stream.on('status', ({ code, details }) => {
      this.#streams.delete(stream)
      listener.end(code === grpcCode.ok ? undefined : this.#failure(client, code, details))
    })
    return {
      send: message => {
        if (stream.writable) stream.write(message)
      },
      pause: () => stream.pause(),
      resume: () => stream.resume(),
      cancel: () => stream.cancel(),
    }
  }

  /** Ends the connection and every call on it. */
  drop(): void {
    this.#forget(this.#client)
    for (const call of this.#calls) call.cancel()
    this.endStreams()
  }

  /** Calls with one answer go on. */
  endStreams(): void {
    for (const stream of this.#streams) stream.cancel()
  }

  #connected(): Client {
    const { server, tls } = this.#options
    if (this.#client !== undefined) return this.#client
    const { hostname, host, protocol } = server
    const files = tls()
    const name = hostname.replace(/^\[|\]$/g, '')
    const isEncrypted = protocol === 'https:'
    const byAddress = isEncrypted && isIP(name) !== 0 ? { 'grpc.ssl_target_name_override': noName } : {}
    this.#client = new Client(
      `dns:${host}`,
      isEncrypted ? encrypted(files, name) : credentials.createInsecure(),
      { ...options, ...byAddress },
    )
    return this.#client
  }

  /** Later calls make another connection; those under way go on. */
  #forget(client: Client | undefined): void {
    if (client !== undefined && this.#client === client) {
      this.#client = undefined
      client.close()
    }
  }

  #failure(client: Client, code: number, message: string): GrpcError {
    if (code === grpcCode.unavailable) this.#forget(client)
    const isOurs = code === status.CANCELLED
    return new GrpcError(isOurs ? grpcCode.unavailable : code, message, !notBegun.test(message))
  }
}

/** The files for a connection may be missing while they are replaced. */
function neverBegan(thrown: unknown): GrpcError {
  return new GrpcError(grpcCode.unavailable, errorText(thrown), false)
}

/** Addresses may not stand where TLS names a server, and the library puts the one that it dials there. */
const noName = 'localhost'

/** Whatever is put there, the certificate has to name whom we dial. */
function encrypted({ ca, cert, key }: TlsFiles, name: string): ChannelCredentials {
  return credentials.createSsl(ca, key, cert, {
    checkServerIdentity: (_named, shown) => checkServerIdentity(name, shown),
  })
}

const metadata = new Metadata()
// A member that has lost its leader says so, instead of letting the call wait.
metadata.set('hasleader', 'true')
