/** Requests to an etcd of one or more members. A member that does not answer is left for the next. */
import { errorText, sleep } from '../../../src/kernel/abort.ts'
import type { Clock } from '../../../src/kernel/clock.ts'
import type { Logger } from '../../../src/kernel/log.ts'
import type { Metrics } from '../../../src/kernel/metrics.ts'
import type { Revision } from '../../store-contract.ts'
import { GrpcChannel, GrpcError, type GrpcStream, grpcCode, type Method, type TlsFiles } from './grpc.ts'
import { EtcdInstruments } from './instruments.ts'
import {
  type KeyRange,
  progressRequest,
  type RangeAnswer,
  type RangeQuery,
  rangeAnswer,
  rangeRequest,
  type StatusAnswer,
  statusAnswer,
  type Transaction,
  type TransactionAnswer,
  transactionAnswer,
  txnRequest,
  type WatchAnswer,
  watchAnswer,
  watchRequest,
} from './messages.ts'
import { methods } from './methods.ts'
import { requireRelease } from './release.ts'

export type EtcdClientOptions = {
  /** `http://host:port` or `https://host:port` of each member that is asked. */
  readonly servers: readonly URL[]
  /** What the store is called in sentences. */
  readonly place: string
  readonly tls: () => TlsFiles
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

export type WatchListener = {
  answer(answer: WatchAnswer): void
  end(why: string): void
}

export type EtcdWatch = Pick<GrpcStream<never>, 'pause' | 'resume' | 'cancel'> & {
  /** The next answer without events tells how far the watch has come. */
  askProgress(): void
}

/** What changes nothing is asked of another member when one does not answer. */
const readWithinMs = 4_000
const writeWithinMs = 10_000
/** While a leader is elected, requests are tried again. */
const persistMs = 8_000
const retryMs = 100

export class EtcdClient {
  readonly clock: Clock
  readonly #options: EtcdClientOptions
  readonly #instruments: EtcdInstruments
  readonly #channels: readonly GrpcChannel[]
  #current = 0

  constructor(options: EtcdClientOptions) {
    const { servers, tls, clock } = options
    this.#options = options
    this.clock = clock
    this.#instruments = new EtcdInstruments(options.metrics, clock)
    this.#channels = servers.map(server => new GrpcChannel({ server, tls, clock }))
  }

  /** Linearizable: everything that was answered before, by whichever member, is in it. */
  async range(query: RangeQuery, signal: AbortSignal): Promise<RangeAnswer> {
    return rangeAnswer(await this.#persist(methods.range, rangeRequest(query), signal))
  }

  /** Rejects with a `GrpcError` that tells whether it may have happened. */
  async transact(transaction: Transaction, signal: AbortSignal): Promise<TransactionAnswer> {
    return transactionAnswer(await this.#persist(methods.txn, txnRequest(transaction), signal))
  }

  async compact(revision: Revision, signal: AbortSignal): Promise<void> {
    await this.#persist(methods.compact, { revision }, signal)
  }

  async status(signal: AbortSignal): Promise<StatusAnswer> {
    const status = statusAnswer(await this.#persist(methods.status, {}, signal))
    this.#instruments.size(status.bytes)
    return status
  }

  /** A lease of this number, which must be new; what is bound to it goes when nobody has kept it for so long. */
  async grantLease(id: number, seconds: number, signal: AbortSignal): Promise<void> {
    await this.#persist(methods.grantLease, { ID: id, TTL: seconds }, signal)
  }

  /** False when it is no longer there. A stream of one question and one answer is what a single request is. */
  async keepLease(id: number, signal: AbortSignal): Promise<boolean> {
    return (await this.#persist(methods.keepLease, { ID: id }, signal)).TTL > 0
  }

  /** How many seconds it lasts if nobody keeps it; below 0 when it is no longer there. */
  async leaseTime(id: number, signal: AbortSignal): Promise<number> {
    return (await this.#persist(methods.leaseTime, { ID: id }, signal)).TTL
  }

  async revokeLease(id: number): Promise<void> {
    await this.#ask(this.#current, methods.revokeLease, { ID: id })
  }

  /** Throws `StoreOpenError` when a member that answers is too old, and `GrpcError` when none answers. */
  async requireSound(): Promise<void> {
    const asked = this.#channels.map((_, at) => this.#ask(at, methods.status, {}))
    for (const member of await Promise.allSettled(asked)) {
      if (member.status === 'fulfilled') requireRelease(member.value.version, this.#options.place)
    }
    await Promise.any(asked).catch(() => asked[0])
  }

  /** The member for the next watch. Throws when it does not answer or is too old; later it is another one. */
  async soundMember(): Promise<number> {
    const at = this.#current
    const { version } = await this.#ask(at, methods.status, {})
    try {
      requireRelease(version, this.#options.place)
    } catch (thrown) {
      if (at === this.#current) this.#current++
      throw thrown
    }
    return at
  }

  /** Every change of the keys from a revision on. */
  watch(range: KeyRange, from: Revision, listener: WatchListener, at = this.#current): EtcdWatch {
    const done = this.#instruments.began('Watch')
    let isCancelled = false
    const stream = this.#channel(at).open(methods.watch, {
      message: answer => listener.answer(watchAnswer(answer)),
      end: error => {
        done(error)
        if (error !== undefined && !isCancelled) this.#leave(at, error)
        listener.end(error?.message ?? 'etcd has ended the watch')
      },
    })
    stream.send(watchRequest(range, from))
    return {
      pause: () => stream.pause(),
      resume: () => stream.resume(),
      cancel: () => {
        isCancelled = true
        stream.cancel()
      },
      askProgress: () => stream.send(progressRequest),
    }
  }

  close(): void {
    for (const channel of this.#channels) channel.drop()
  }

  /** Tries again, with the next member, what has surely not happened or changes nothing. */
  async #persist<Q, Answer>(method: Method<Q, Answer>, question: Q, signal: AbortSignal): Promise<Answer> {
    const { clock } = this
    for (const until = clock.now() + persistMs; ; ) {
      try {
        return await this.#ask(this.#current, method, question)
      } catch (thrown) {
        const mayTry = thrown instanceof GrpcError && mayTryAgain(method, thrown)
        if (!mayTry || clock.now() >= until) throw thrown
      }
      await sleep(clock, retryMs, signal)
    }
  }

  /** Asks one member once. Rejects with `GrpcError`. */
  async #ask<Q, Answer>(at: number, method: Method<Q, Answer>, question: Q): Promise<Answer> {
    const done = this.#instruments.began(nameOf(method))
    try {
      const withinMs = isWrite(method) ? writeWithinMs : readWithinMs
      const answer = await this.#channel(at).call(method, question, withinMs)
      done(undefined)
      return answer
    } catch (thrown) {
      const error = thrown instanceof GrpcError ? thrown : new GrpcError(grpcCode.unknown, errorText(thrown))
      done(error)
      this.#leave(at, error)
      throw error
    }
  }

  #channel(at: number): GrpcChannel {
    const channel = this.#channels[at % this.#channels.length]
    if (channel === undefined) throw new Error('no member of etcd is named')
    return channel
  }

  /** Later requests go to the next member. */
  #leave(at: number, error: GrpcError): void {
    if (error.code !== grpcCode.unavailable && error.code !== grpcCode.deadlineExceeded) return
    if (at !== this.#current) return
    this.#current++
    if (this.#channels.length === 1) return
    // A watch at a member that stands still goes on at another; writes there may yet be answered.
    if (error.code === grpcCode.deadlineExceeded) this.#channel(at).endStreams()
    this.#options.log.debug('next etcd member', { error: error.message })
  }
}

/** What is asked of etcd. */
export type EtcdRequests = Pick<EtcdClient, keyof EtcdClient>

type AnyMethod = Pick<Method<never, unknown>, 'path'>

function nameOf({ path }: AnyMethod): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

function isWrite({ path }: AnyMethod): boolean {
  return path === methods.txn.path || path === methods.grantLease.path
}

function mayTryAgain(method: AnyMethod, error: GrpcError): boolean {
  if (isWrite(method)) return error.code === grpcCode.unavailable && hasSurelyNotHappened(error)
  return error.code === grpcCode.unavailable || error.code === grpcCode.deadlineExceeded
}

/** A member without a leader refuses before it proposes anything. */
export function hasSurelyNotHappened({ mayHaveHappened, message }: GrpcError): boolean {
  return !mayHaveHappened || message === 'etcdserver: no leader'
}

/** Whether etcd is full; of the same code is one that has too much to do. */
export function isSpaceExceeded(thrown: unknown): boolean {
  if (!(thrown instanceof GrpcError)) return false
  return thrown.code === grpcCode.resourceExhausted && thrown.message.includes('space exceeded')
}
