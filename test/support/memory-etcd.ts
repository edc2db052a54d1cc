import type { EtcdRequests, EtcdWatch, WatchListener } from '../../apiservice/store/etcd/client.ts'
import { GrpcError, grpcCode } from '../../apiservice/store/etcd/grpc.ts'
import {
  isMet,
  type KeyRange,
  type KeyValue,
  type Operation,
  type RangeAnswer,
  type RangeQuery,
  type StatusAnswer,
  type Transaction,
  type TransactionAnswer,
  type WatchAnswer,
  type WatchedEvent,
} from '../../apiservice/store/etcd/messages.ts'
import { type Clock, systemClock } from '../../src/kernel/clock.ts'

type Watching = { readonly range: KeyRange; readonly from: number; readonly listener: WatchListener }

type State = {
  readonly revision: number
  readonly compacted: number
  readonly events: readonly WatchedEvent[]
}

/** What may stand before an answer: it waits for it, and fails with it. */
type Before = {
  range?: (query: RangeQuery) => Promise<void> | void
  transact?: (transaction: Transaction) => Promise<void> | void
  soundMember?: () => void
}

const answer: WatchAnswer = {
  newest: 0,
  created: false,
  canceled: undefined,
  compacted: 0,
  isFragment: false,
  events: [],
}

/** Revisions, transactions, watches and compaction as etcd has them, in this process. */
export class MemoryEtcd implements EtcdRequests {
  readonly clock: Clock = systemClock
  readonly before: Before = {}
  /** What may stand between what was done and its answer. */
  readonly after: Pick<Before, 'transact'> = {}
  /** How many requests have come, of each method. */
  readonly asked = { range: 0, transact: 0, compact: 0 }
  isFull: boolean = false
  /** Whether watches are opened. */
  isWatchable: boolean = true
  #state: State = { revision: 1, compacted: 0, events: [] }
  readonly #watches = new Set<Watching>()
  /** Seconds left, by number. They run out when a test says so. */
  readonly leases = new Map<number, number>()
  readonly #bound = new Map<string, number>()

  get watches(): number {
    return this.#watches.size
  }

  /** What a snapshot holds; nothing at first. */
  get state(): State {
    return this.#state
  }

  /** Is put back from a snapshot. Watches do not learn of it. */
  set state(state: State) {
    this.#state = state
  }

  async range({ key, end, revision, limit = 0, ...query }: RangeQuery): Promise<RangeAnswer> {
    this.asked.range++
    await this.before.range?.({ key, ...(end && { end }), ...(revision && { revision }), limit, ...query })
    const { revision: newest, compacted } = this.#state
    const at = revision ?? newest
    if (at > newest) throw outOfRange('etcdserver: mvcc: required revision is a future revision')
    if (at < compacted) throw outOfRange('etcdserver: mvcc: required revision has been compacted')
    const all = this.#at(at).filter(item => isIn(item.key, { key, ...(end && { end }) }))
    const items = query.countOnly ? [] : all.slice(0, limit === 0 ? all.length : limit)
    return { newest, items, hasMore: items.length < all.length && !query.countOnly, count: all.length }
  }

  async transact(transaction: Transaction): Promise<TransactionAnswer> {
    this.asked.transact++
    await this.before.transact?.(transaction)
    const { conditions, operations } = transaction
    if (this.isFull && operations.some(operation => 'put' in operation)) {
      throw new GrpcError(grpcCode.resourceExhausted, 'etcdserver: mvcc: database space exceeded')
    }
    const items = this.#at(this.#state.revision)
    const found = conditions.map(range => items.find(item => isIn(item.key, range)))
    if (conditions.some((condition, at) => !isMet(condition, found[at]))) {
      return { done: false, found }
    }
    this.#apply(operations)
    await this.after.transact?.(transaction)
    return { done: true, revision: this.#state.revision }
  }

  async compact(revision: number): Promise<void> {
    this.asked.compact++
    const { compacted, revision: newest } = this.#state
    if (revision <= compacted || revision > newest) throw outOfRange('etcdserver: mvcc: cannot be compacted')
    this.#state = { ...this.#state, compacted: revision }
  }

  async grantLease(id: number, seconds: number): Promise<void> {
    if (this.isFull)
      throw new GrpcError(grpcCode.resourceExhausted, 'etcdserver: mvcc: database space exceeded')
    this.leases.set(id, seconds)
  }

  async keepLease(id: number): Promise<boolean> {
    return this.leases.has(id)
  }

  async leaseTime(id: number): Promise<number> {
    return this.leases.get(id) ?? -1
  }

  async revokeLease(id: number): Promise<void> {
    this.leases.delete(id)
    for (const [key, lease] of this.#bound) {
      if (lease !== id) continue
      this.#bound.delete(key)
      this.#apply([{ delete: Buffer.from(key) }])
    }
  }

  async status(): Promise<StatusAnswer> {
    return { version: '3.6.0', bytes: 1, errors: this.isFull ? ['NOSPACE'] : [] }
  }

  requireSound(): Promise<void> {
    return Promise.resolve()
  }

  async soundMember(): Promise<number> {
    await this.before.soundMember?.()
    return 0
  }

  watch(range: KeyRange, from: number, listener: WatchListener): EtcdWatch {
    const watching = { range, from, listener }
    queueMicrotask(() => this.#begin(watching))
    const ignore = (): void => undefined
    return {
      pause: ignore,
      resume: ignore,
      cancel: () => this.#end(watching, 'cancelled'),
      askProgress: () => {
        if (this.#watches.has(watching) && this.isWatchable) {
          listener.answer({ ...answer, newest: this.#state.revision })
        }
      },
    }
  }

  /** Ends every watch, as a connection that is lost does. */
  cut(): void {
    for (const watching of this.#watches) this.#end(watching, 'cut')
  }

  close(): void {
    this.cut()
  }

  #begin(watching: Watching): void {
    const { range, from, listener } = watching
    this.#watches.add(watching)
    if (!this.isWatchable) return
    const { revision: newest, compacted, events } = this.#state
    listener.answer({ ...answer, newest, created: true })
    if (from <= compacted) listener.answer({ ...answer, newest, canceled: 'compacted', compacted })
    else
      this.#tell(
        watching,
        events.filter(event => event.revision >= from && isIn(event.key, range)),
      )
  }

  #end(watching: Watching, why: string): void {
    queueMicrotask(() => {
      if (this.#watches.delete(watching)) watching.listener.end(why)
    })
  }

  #apply(operations: readonly Operation[]): void {
    const revision = this.#state.revision + 1
    for (const operation of operations) {
      if ('put' in operation && operation.lease) this.#bound.set(operation.put.toString(), operation.lease)
    }
    const events = operations.map(operation =>
      'delete' in operation
        ? { key: operation.delete, value: Buffer.alloc(0), revision, isDeletion: true }
        : { key: operation.put, value: operation.value, revision, isDeletion: false },
    )
    this.#state = { ...this.#state, revision, events: [...this.#state.events, ...events] }
    for (const watching of this.#watches) {
      if (revision < watching.from || !this.isWatchable) continue
      this.#tell(
        watching,
        events.filter(({ key }) => isIn(key, watching.range)),
      )
    }
  }

  #tell({ listener }: Watching, events: readonly WatchedEvent[]): void {
    if (events.length > 0) listener.answer({ ...answer, newest: this.#state.revision, events })
  }

  /** Every key as it was, in order. */
  #at(revision: number): readonly KeyValue[] {
    const items = new Map<string, KeyValue>()
    for (const event of this.#state.events) {
      if (event.revision > revision) break
      const { isDeletion, ...item } = event
      if (isDeletion) items.delete(item.key.toString())
      else items.set(item.key.toString(), item)
    }
    return [...items.values()].sort((a, b) => a.key.compare(b.key))
  }
}

function isIn(key: Buffer, range: KeyRange): boolean {
  if (range.end === undefined) return key.equals(range.key)
  return key.compare(range.key) >= 0 && key.compare(range.end) < 0
}

function outOfRange(message: string): GrpcError {
  return new GrpcError(grpcCode.outOfRange, message)
}
