import { background, errorText, never } from '../../../src/kernel/abort.ts'
import { objectTooLarge, tooManyRequests, unavailable } from '../../../src/kernel/errors.ts'
import type { ObjectKey, StoredObject, WriteResult } from '../../store-contract.ts'
import { idOf, type Write } from '../batch.ts'
import type { StoreSettings } from '../options.ts'
import { type EtcdRequests, hasSurelyNotHappened, isSpaceExceeded } from './client.ts'
import { GrpcError, grpcCode } from './grpc.ts'
import { decodeValue, type EtcdLayout, encodeValue } from './layout.ts'
import {
  type Condition,
  isMet,
  type KeyValue,
  type Operation,
  type Transaction,
  type TransactionAnswer,
} from './messages.ts'

type Waiter = {
  readonly write: Write
  /** Writes of one key have it in common. */
  readonly lane: string
  resolve(result: WriteResult): void
  reject(reason: unknown): void
}

export type WriteParts = {
  readonly client: EtcdRequests
  readonly layout: EtcdLayout
  readonly settings: StoreSettings
  /** What every write depends on, so that a process whose place another one has taken writes nothing more. */
  claim(): Condition | undefined
  /** Resolves when a change is in memory. */
  seen(revision: number): Promise<void>
  /** A version as memory has it; undefined when it does not. */
  version(key: ObjectKey, revision: number): StoredObject | undefined
  current(key: ObjectKey): Promise<StoredObject | undefined>
  committed(durationMs: number): void
  failed(why: string): void
}

/** What etcd takes in one request unless told otherwise, without what is around it. */
const maxRequestBytes = 1.5 * 1024 * 1024
const aroundBytes = 1024
/** Names are at most so long, whatever they are escaped to. */
const longestKeyBytes = 4096
/** What fits whatever its key is. */
export const maxBodyBytes = maxRequestBytes - aroundBytes - longestKeyBytes
/** Transactions on the way to etcd at once. */
const maxInFlight = 256

/**
 * Writes, each a transaction of its own. Those to different keys are on the way at once; those to one key follow one
 * another, so that they are judged in the order in which they came.
 */
export class Writes {
  readonly #parts: WriteParts
  readonly #ready: Waiter[] = []
  /** What waits for the write of the same key before it. */
  readonly #behind = new Map<string, Waiter[]>()
  readonly #settled: (() => void)[] = []
  #count = 0
  #bytes = 0
  #inFlight = 0

  constructor(parts: WriteParts) {
    this.#parts = parts
  }

  submit(write: Write): Promise<WriteResult> {
    const { queuedWrites, queuedBytes } = this.#parts.settings
    if (this.#count >= queuedWrites || this.#bytes >= queuedBytes) {
      return Promise.reject(tooManyRequests('too many writes are waiting for the store', 1))
    }
    return new Promise((resolve, reject) => {
      this.#count++
      this.#bytes += write.body?.length ?? 0
      this.#queue({ write, lane: idOf(write.key), resolve, reject })
    })
  }

  /** Resolves when all writes that were taken are answered. */
  settled(): Promise<void> {
    return this.#count === 0 ? Promise.resolve() : new Promise(resolve => this.#settled.push(resolve))
  }

  #queue(waiter: Waiter): void {
    const behind = this.#behind.get(waiter.lane)
    if (behind !== undefined) {
      behind.push(waiter)
      return
    }
    this.#behind.set(waiter.lane, [])
    this.#ready.push(waiter)
    this.#start()
  }

  #start(): void {
    while (this.#inFlight < maxInFlight) {
      const waiter = this.#ready.shift()
      if (waiter === undefined) return
      this.#inFlight++
      background('write to etcd', this.#parts.settings.log, never, () => this.#run(waiter))
    }
  }

  async #run(waiter: Waiter): Promise<void> {
    try {
      waiter.resolve(await this.#write(waiter.write, () => this.#next(waiter)))
    } catch (thrown) {
      waiter.reject(thrown)
    }
    this.#count--
    this.#bytes -= waiter.write.body?.length ?? 0
    if (this.#count === 0) for (const resolve of this.#settled.splice(0)) resolve()
  }

  /** The next write of the same key, and of any. */
  #next({ lane }: Waiter): void {
    const next = this.#behind.get(lane)?.shift()
    if (next === undefined) this.#behind.delete(lane)
    else this.#ready.push(next)
    this.#inFlight--
    this.#start()
  }

  /** `decided` is called when etcd has decided, or nobody knows. */
  async #write(write: Write, decided: () => void): Promise<WriteResult> {
    const { settings, committed } = this.#parts
    const startedAt = settings.clock.now()
    let answer: TransactionAnswer
    let last: Buffer | undefined
    let transaction: Transaction
    try {
      const refused = await this.#refused(write)
      if (refused !== undefined) return refused
      const made = this.#transactionOf(write)
      transaction = made.transaction
      last = made.body
      answer = await this.#transact(transaction)
    } catch (thrown) {
      throw this.#failure(thrown)
    } finally {
      decided()
    }
    if (!answer.done) return this.#denied(write, transaction.conditions, answer.found)
    committed(settings.clock.now() - startedAt)
    await this.#parts.seen(answer.revision).catch(thrown => {
      throw unavailable(`${errorText(thrown)}: it is unknown what came of the change`)
    })
    const made = this.#parts.version(write.key, answer.revision)
    return { done: true, object: made ?? { ...write.key, revision: answer.revision, body: last ?? nothing } }
  }

  /** A full etcd takes deletions, but not the last state of what is deleted: it goes without then. */
  async #transact(transaction: Transaction): Promise<TransactionAnswer> {
    const { client } = this.#parts
    const { conditions, operations } = transaction
    try {
      return await client.transact(transaction, never)
    } catch (thrown) {
      const deletions = operations.filter(operation => 'delete' in operation)
      const isMixed = deletions.length > 0 && deletions.length < operations.length
      if (!isMixed || !isSpaceExceeded(thrown)) throw thrown
      this.#parts.failed(full)
      const answer = await client.transact({ conditions, operations: deletions }, never)
      // Perhaps the first one was done: the one that fills etcd is.
      if (!answer.done) throw thrown
      return answer
    }
  }

  /** etcd takes the revision 0 for a key that is not there. */
  async #refused(write: Write): Promise<WriteResult | undefined> {
    if ((write.guard?.revision ?? 1) <= 0) return isGuarded
    if (write.verb === 'create' || write.expected > 0) return undefined
    const { current } = this.#parts
    if (write.guard !== undefined && (await current(write.guard.key))?.revision !== write.guard.revision) {
      return isGuarded
    }
    return { done: false, current: await current(write.key) }
  }

  async #denied(
    { key, guard }: Write,
    conditions: readonly Condition[],
    found: readonly (KeyValue | undefined)[],
  ): Promise<WriteResult> {
    const broken = conditions.findLastIndex((condition, at) => !isMet(condition, found[at]))
    const isOfGuard = guard !== undefined && broken === conditions.length - 1
    if (isOfGuard) return isGuarded
    if (broken > 0)
      throw unavailable('the store cannot write: another process has taken it, or etcd was put back')
    return { done: false, current: await this.#found(key, found[0]) }
  }

  #transactionOf(write: Write): { readonly body: Buffer | undefined; readonly transaction: Transaction } {
    const { layout, settings } = this.#parts
    const key = layout.keyOf(write.key)
    const at = settings.clock.now()
    const { guard } = write
    const claim = this.#parts.claim()
    const besides: readonly Condition[] = [
      ...(claim === undefined ? [] : [claim]),
      ...(guard === undefined ? [] : [{ key: layout.keyOf(guard.key), revision: guard.revision }]),
    ]
    const size = aroundBytes + 4 * key.length + (write.body?.length ?? 0)
    if (size > maxRequestBytes)
      throw objectTooLarge(write.body?.length ?? 0, maxRequestBytes - aroundBytes - 4 * key.length)
    if (write.verb !== 'delete') {
      const operations = [{ put: key, value: encodeValue({ at, body: write.body }) }]
      const revision = write.verb === 'create' ? 0 : write.expected
      return { body: write.body, transaction: { conditions: [{ key, revision }, ...besides], operations } }
    }
    const stored = this.#parts.version(write.key, write.expected)?.body
    const body = write.body ?? stored
    const differs = body !== undefined && (stored === undefined || !body.equals(stored))
    const operations: readonly Operation[] = [
      ...(differs ? [{ put: layout.last, value: encodeValue({ at, body }) }] : []),
      { delete: key },
    ]
    const conditions = [{ key, revision: write.expected }, ...besides]
    return { body, transaction: { conditions, operations } }
  }

  async #found(key: ObjectKey, found: KeyValue | undefined): Promise<StoredObject | undefined> {
    if (found === undefined) return undefined
    await this.#parts.seen(found.revision)
    const known = this.#parts.version(key, found.revision)
    return known ?? { ...key, revision: found.revision, body: decodeValue(found.value)?.body ?? nothing }
  }

  #failure(thrown: unknown): unknown {
    if (!(thrown instanceof GrpcError)) return thrown
    const { code, message } = thrown
    if (code === grpcCode.invalidArgument && message.includes('too large')) {
      return objectTooLarge(maxRequestBytes, maxRequestBytes)
    }
    const isFull = isSpaceExceeded(thrown)
    const why = isFull ? full : `etcd: ${message}`
    this.#parts.failed(why)
    if (hasSurelyNotHappened(thrown)) {
      return unavailable(`the store cannot write at the moment: ${why}`)
    }
    // The write that fills it is done, and answered so all the same.
    if (code === grpcCode.resourceExhausted && !isFull)
      return tooManyRequests(`etcd has too much to do: ${message}`, 1)
    return unavailable(`the store failed to write, ${why}: it is unknown whether the change was made`)
  }
}

/** What keeps a store from writing while the alarm NOSPACE of etcd is on. */
export const full = 'etcd is full'

const nothing = Buffer.alloc(0)
const isGuarded = { done: false, current: undefined, isGuarded: true } as const
