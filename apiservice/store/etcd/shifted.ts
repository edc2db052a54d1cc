/**
 * An etcd whose revisions all count from further on. A store that was brought here from elsewhere goes on above every
 * revision that was given out there, and no write of ours moves etcd's own revision that far.
 */
import type { Clock } from '../../../src/kernel/clock.ts'
import type { Revision } from '../../store-contract.ts'
import type { EtcdRequests, EtcdWatch, WatchListener } from './client.ts'
import type {
  KeyRange,
  KeyValue,
  RangeAnswer,
  RangeQuery,
  StatusAnswer,
  Transaction,
  TransactionAnswer,
} from './messages.ts'

/** No key is ever at it. */
const nowhere = -1

export class ShiftedEtcd implements EtcdRequests {
  readonly clock: Clock
  readonly #etcd: EtcdRequests
  readonly #by: Revision

  constructor(etcd: EtcdRequests, by: Revision) {
    this.clock = etcd.clock
    this.#etcd = etcd
    this.#by = by
  }

  async range({ revision, ...query }: RangeQuery, signal: AbortSignal): Promise<RangeAnswer> {
    const at = revision === undefined ? {} : { revision: this.#inEtcd(revision) }
    const { newest, items, ...answer } = await this.#etcd.range({ ...query, ...at }, signal)
    return { ...answer, newest: newest + this.#by, items: items.map(item => this.#shifted(item)) }
  }

  async transact({ conditions, operations }: Transaction, signal: AbortSignal): Promise<TransactionAnswer> {
    const own = conditions.map(condition => ({ ...condition, revision: this.#inEtcd(condition.revision) }))
    const answer = await this.#etcd.transact({ conditions: own, operations }, signal)
    if (answer.done) return { done: true, revision: answer.revision + this.#by }
    return { done: false, found: answer.found.map(item => item && this.#shifted(item)) }
  }

  compact(revision: Revision, signal: AbortSignal): Promise<void> {
    return this.#etcd.compact(this.#inEtcd(revision), signal)
  }

  grantLease(id: number, seconds: number, signal: AbortSignal): Promise<void> {
    return this.#etcd.grantLease(id, seconds, signal)
  }

  keepLease(id: number, signal: AbortSignal): Promise<boolean> {
    return this.#etcd.keepLease(id, signal)
  }

  leaseTime(id: number, signal: AbortSignal): Promise<number> {
    return this.#etcd.leaseTime(id, signal)
  }

  revokeLease(id: number): Promise<void> {
    return this.#etcd.revokeLease(id)
  }

  status(signal: AbortSignal): Promise<StatusAnswer> {
    return this.#etcd.status(signal)
  }

  requireSound(): Promise<void> {
    return this.#etcd.requireSound()
  }

  soundMember(): Promise<number> {
    return this.#etcd.soundMember()
  }

  watch(range: KeyRange, from: Revision, listener: WatchListener, at?: number): EtcdWatch {
    const by = this.#by
    const own: WatchListener = {
      answer: answer => {
        const { newest, compacted, events } = answer
        listener.answer({
          ...answer,
          newest: newest + by,
          compacted: compacted === 0 ? 0 : compacted + by,
          events: events.map(event => ({ ...event, revision: event.revision + by })),
        })
      },
      end: why => listener.end(why),
    }
    return this.#etcd.watch(range, Math.max(1, from - by), own, at)
  }

  close(): void {
    this.#etcd.close()
  }

  /** 0 says that a key is not there; what was given out before the store came here is at no key. */
  #inEtcd(revision: Revision): Revision {
    if (revision === 0) return 0
    return revision > this.#by ? revision - this.#by : nowhere
  }

  #shifted(item: KeyValue): KeyValue {
    return { ...item, revision: item.revision + this.#by }
  }
}
