/**
 * Who has a store in etcd: one process alone, or several that know of each other. Each has a key that goes when nothing is
 * heard of it, so that the next one need not be told. That alone keeps nobody from writing who stood still meanwhile: so
 * whoever takes the store alone changes the key `owner`, and every write depends on that key being as it was when its
 * process came.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { errorText, sleep } from '../../../src/kernel/abort.ts'
import { type Clock, toTime } from '../../../src/kernel/clock.ts'
import { every } from '../../../src/kernel/work-queue.ts'
import type { Revision } from '../../store-contract.ts'
import { StoreOpenError } from '../open-error.ts'
import { GrpcError, grpcCode } from './grpc.ts'
import type { LoadParts } from './loading.ts'
import type { Condition, KeyValue, Operation } from './messages.ts'

export type Sharing = 'alone' | 'shared'

/** Whoever is not heard of for so long is gone. */
const leaseSeconds = 10
const keepEveryMs = 3_000
const lookEveryMs = 1_000

/** What a process says of itself. */
type Holder = {
  readonly process: number
  readonly machine: string
  readonly since: string
  readonly lease: number
}

export class Claim {
  readonly #parts: LoadParts
  readonly #sharing: Sharing
  readonly #key: Buffer
  #owner: Revision = 0
  #lease = 0
  #fault: string | undefined
  #isLost: boolean = false

  constructor(parts: LoadParts, sharing: Sharing) {
    this.#parts = parts
    this.#sharing = sharing
    this.#key = sharing === 'alone' ? parts.layout.lock : parts.layout.serverOf(randomUUID())
  }

  /** What every write depends on. */
  get condition(): Condition {
    return { key: this.#parts.layout.owner, revision: this.#owner }
  }

  /** Why nothing can be written, as far as it is known already. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** Waits for another process to be gone; throws `StoreOpenError` when it lives. */
  async take(signal: AbortSignal): Promise<void> {
    const { client, place, settings } = this.#parts
    const left = new Map<number, number>()
    for (;;) {
      const other = await this.#try(signal)
      if (other === undefined) return
      const { lease = 0 } = other
      const before = left.get(lease)
      const now = await client.leaseTime(lease, signal)
      // Only a process that lives makes it more again.
      if (before !== undefined && now > before) throw new StoreOpenError(place, 'locked', this.#inUse(other))
      if (before === undefined) {
        settings.log.warn('the store is in use, waiting for its end', { by: nameOf(other) })
      }
      left.set(lease, now)
      await sleep(client.clock, lookEveryMs, signal)
    }
  }

  /** Keeps it until the signal aborts. */
  keep(signal: AbortSignal): Promise<void> {
    const { client, settings } = this.#parts
    const task = {
      name: 'claim of the store',
      intervalMs: keepEveryMs,
      clock: client.clock,
      log: settings.log,
    }
    return every(task, inner => this.#keepOn(inner), signal)
  }

  /** Others need not wait. */
  async release(): Promise<void> {
    const lease = this.#lease
    this.#lease = 0
    if (lease === 0) return
    try {
      await this.#parts.client.revokeLease(lease)
    } catch (thrown) {
      // It runs out by itself.
      this.#parts.settings.log.debug('the claim of the store is left to end', { error: errorText(thrown) })
    }
  }

  async #keepOn(signal: AbortSignal): Promise<void> {
    const { client, layout } = this.#parts
    if (this.#isLost) return
    const owner = await this.#read(layout.owner, signal)
    const isKept = this.#lease !== 0 && (await client.keepLease(this.#lease, signal))
    if (isKept && (owner?.revision ?? 0) === this.#owner) {
      this.#fault = undefined
      return
    }
    await this.#again(owner, signal)
  }

  /** It stood still for too long, or etcd was put back to a time before it came. */
  async #again(owner: KeyValue | undefined, signal: AbortSignal): Promise<void> {
    const { place, settings } = this.#parts
    await this.release()
    // What it has decided while another process had the store must not be written.
    this.#isLost = this.#sharing === 'alone' && (owner?.revision ?? 0) > this.#owner
    const other = this.#isLost ? holderIn(owner) : await this.#try(signal)
    const before = this.#fault
    this.#fault = other && `${this.#inUse(other)}${this.#isLost ? ', and start this one again' : ''}`
    if (this.#fault === before) return
    settings.log.error('another process has taken the store', { place, by: nameOf(other ?? {}) })
  }

  /** Answers who has it; undefined when it is taken now. */
  async #try(signal: AbortSignal): Promise<Partial<Holder> | undefined> {
    const { layout, place } = this.#parts
    const other = await this.#other(signal)
    if (other !== undefined) return other
    const [owner, format] = [await this.#read(layout.owner, signal), await this.#read(layout.format, signal)]
    if (format === undefined) throw new Error(`etcd holds nothing below ${place}`)
    const known = owner?.revision ?? 0
    const conditions = [
      { key: layout.format, revision: format.revision },
      { key: layout.owner, revision: known },
      { key: layout.lock, revision: 0 },
      ...(this.#sharing === 'alone' ? [{ ...layout.servers, revision: 0 }] : []),
    ]
    try {
      return await this.#put(conditions, known, signal)
    } catch (thrown) {
      // A full etcd takes no claim, but deletions; whoever claims the store first when there is space keeps the others out.
      if (!(thrown instanceof GrpcError) || thrown.code !== grpcCode.resourceExhausted) throw thrown
      this.#owner = known
      return undefined
    }
  }

  async #put(
    conditions: readonly Condition[],
    known: Revision,
    signal: AbortSignal,
  ): Promise<Partial<Holder> | undefined> {
    const { client, layout } = this.#parts
    const lease = randomInt(1, 2 ** 47)
    await client.grantLease(lease, leaseSeconds, signal)
    const value = Buffer.from(JSON.stringify(ownName(client.clock, lease)))
    const own = { put: this.#key, value, lease }
    const operations: readonly Operation[] =
      this.#sharing === 'alone' ? [own, { put: layout.owner, value }] : [own]
    const answer = await client.transact({ conditions, operations }, signal)
    // Whoever was faster is seen by the next look.
    if (!answer.done) return {}
    this.#lease = lease
    this.#owner = this.#sharing === 'alone' ? answer.revision : known
    return undefined
  }

  async #other(signal: AbortSignal): Promise<Partial<Holder> | undefined> {
    const { client, layout } = this.#parts
    const lock = await this.#read(layout.lock, signal)
    if (lock !== undefined) return holderIn(lock)
    if (this.#sharing === 'shared') return undefined
    const [server] = (await client.range({ ...layout.servers, limit: 1 }, signal)).items
    return server && holderIn(server)
  }

  async #read(key: Buffer, signal: AbortSignal): Promise<KeyValue | undefined> {
    return (await this.#parts.client.range({ key }, signal)).items[0]
  }

  #inUse(holder: Partial<Holder>): string {
    const why = this.#sharing === 'alone' ? 'and this one' : 'which'
    return `the store in ${this.#parts.place} is in use by ${nameOf(holder)}, ${why} must have it alone: stop the other process first`
  }
}

function ownName(clock: Clock, lease: number): Holder {
  return { process: process.pid, machine: hostname(), since: toTime(clock.now()), lease }
}

function holderIn(item: KeyValue | undefined): Partial<Holder> {
  try {
    return Object(JSON.parse(item?.value.toString() ?? ''))
  } catch {
    return {}
  }
}

function nameOf({ process: pid = 0, machine = 'unknown', since = 'unknown' }: Partial<Holder>): string {
  return `process ${pid} on ${machine} since ${since}`
}
