/**
 * Who has a store in etcd: one process alone, or several that know of each other. Each has a key that goes when nothing is
 * heard of it, so that the next one need not be told. That alone keeps nobody from writing who stood still meanwhile: so
 * whoever takes the store alone changes the key `owner`, and every write depends on that key being as it was when its
 * process came.
 */
import { randomInt, randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { background, errorText, sleep } from '../../../src/kernel/abort.ts'
import { type Clock, toTime } from '../../../src/kernel/clock.ts'
import { every } from '../../../src/kernel/work-queue.ts'
import { StoreOpenError } from '../open-error.ts'
import { isSpaceExceeded } from './client.ts'
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
  /** No two claims have the same. */
  readonly id: string
}

/** Who has it, and the key that says so; no key where another one was faster and the next look tells. */
type Other = { readonly holder: Partial<Holder>; readonly key?: Buffer }

/** What was seen of a lease that is waited for. */
type Wait = { readonly left: number; readonly rises: number; readonly absences: number }

export class Claim {
  readonly #parts: LoadParts
  readonly #sharing: Sharing
  readonly #key: Buffer
  readonly #id = randomUUID()
  readonly #stop = new AbortController()
  /** The key `owner` as it is while this claim holds; absent where nobody ever had it alone. */
  #owner: KeyValue | undefined
  /** What it was before this process came. */
  #before: KeyValue | undefined
  #hasCome: boolean = false
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
    return asItIs(this.#parts.layout.owner, this.#owner)
  }

  /** Why nothing can be written, as far as it is known already. */
  get fault(): string | undefined {
    return this.#fault
  }

  /** Waits for another process to be gone, and keeps it until its release; throws `StoreOpenError` when it lives. */
  async take(signal: AbortSignal): Promise<void> {
    const { client, settings } = this.#parts
    const waits = new Map<number, Wait>()
    for (;;) {
      const other = await this.#try(signal)
      if (other === undefined) break
      if (other.key !== undefined) await this.#lookAt(other, waits, signal)
      await sleep(client.clock, lookEveryMs, signal)
    }
    this.#hasCome = true
    background('claim of the store', settings.log, this.#stop.signal, stopped => this.#keep(stopped))
  }

  /** Others need not wait. */
  async release(): Promise<void> {
    this.#stop.abort()
    await this.#revoke()
  }

  async #lookAt({ holder, key }: Other, waits: Map<number, Wait>, signal: AbortSignal): Promise<void> {
    const { client, place, settings } = this.#parts
    const { lease = 0 } = holder
    const before = waits.get(lease)
    const left = await client.leaseTime(lease, signal)
    const wait = waitOf(before, left)
    // Only a process that lives makes it more again and again; a new leader of etcd does it once.
    if (wait.rises === 2) throw new StoreOpenError(place, 'locked', this.#inUse(holder))
    if (wait.absences === 3) throw new StoreOpenError(place, 'locked', this.#endless(holder, key))
    if (before === undefined) {
      settings.log.warn('the store is in use, waiting for its end', { by: nameOf(holder) })
    }
    waits.set(lease, wait)
  }

  #keep(signal: AbortSignal): Promise<void> {
    const { client, settings } = this.#parts
    const task = {
      name: 'claim of the store',
      intervalMs: keepEveryMs,
      clock: client.clock,
      log: settings.log,
    }
    return every(task, inner => this.#keepOn(inner), signal)
  }

  async #revoke(): Promise<void> {
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
    this.#adopt(owner)
    const isKept = this.#lease !== 0 && (await client.keepLease(this.#lease, signal))
    if (isKept && isSame(owner, this.#owner)) {
      this.#fault = undefined
      return
    }
    await this.#again(signal)
  }

  /** The answer to a claim may have been lost. */
  #adopt(owner: KeyValue | undefined): void {
    const holder = holderIn(owner)
    if (holder.id !== this.#id || isSame(owner, this.#owner)) return
    this.#owner = owner
    this.#lease = holder.lease ?? 0
  }

  /** It stood still for too long, or etcd was put back to a time before it came. */
  async #again(signal: AbortSignal): Promise<void> {
    const { place, settings } = this.#parts
    await this.#revoke()
    const other = await this.#try(signal)
    const before = this.#fault
    this.#fault = other && `${this.#inUse(other.holder)}${this.#isLost ? ', and start this one again' : ''}`
    if (this.#fault === before) return
    settings.log.error('another process has taken the store', { place, by: nameOf(other?.holder ?? {}) })
  }

  /** Answers who has it; undefined when it is taken now. */
  async #try(signal: AbortSignal): Promise<Other | undefined> {
    const { layout, place } = this.#parts
    const owner = await this.#read(layout.owner, signal)
    // What it has decided while another process had the store must not be written, also when that one is gone.
    this.#isLost = this.#hasCome && this.#isOfAnother(owner)
    if (this.#isLost) return { holder: holderIn(owner) }
    const other = await this.#other(signal)
    if (other !== undefined) return { holder: holderIn(other), key: other.key }
    const format = await this.#read(layout.format, signal)
    if (format === undefined) throw new Error(`etcd holds nothing below ${place}`)
    const conditions = [
      { key: layout.format, revision: format.revision },
      asItIs(layout.owner, owner),
      { key: layout.lock, revision: 0 },
      ...(this.#sharing === 'alone' ? [{ ...layout.servers, revision: 0 }] : []),
    ]
    // This process is to be known from whoever it followed, also when the answer is lost.
    if (holderIn(owner).id !== this.#id) this.#before = owner
    try {
      return await this.#put(conditions, owner, signal)
    } catch (thrown) {
      // A full etcd takes no claim, but deletions; whoever claims the store first when there is space keeps the others out.
      if (!isSpaceExceeded(thrown)) throw thrown
      this.#owner = owner
      return undefined
    }
  }

  /** Whether another process has taken it since. One from before this process came is there again in an etcd put back. */
  #isOfAnother(owner: KeyValue | undefined): boolean {
    if (this.#sharing === 'shared' || owner === undefined || holderIn(owner).id === this.#id) return false
    return owner.revision >= (this.#before?.revision ?? 0) && !isSame(owner, this.#before)
  }

  async #put(
    conditions: readonly Condition[],
    owner: KeyValue | undefined,
    signal: AbortSignal,
  ): Promise<Other | undefined> {
    const { client, layout } = this.#parts
    const lease = randomInt(1, 2 ** 47)
    await client.grantLease(lease, leaseSeconds, signal)
    const value = Buffer.from(JSON.stringify(ownName(client.clock, lease, this.#id)))
    const own = { put: this.#key, value, lease }
    const operations: readonly Operation[] =
      this.#sharing === 'alone' ? [own, { put: layout.owner, value }] : [own]
    const answer = await client.transact({ conditions, operations }, signal)
    // Whoever was faster is seen by the next look.
    if (!answer.done) return { holder: {} }
    this.#lease = lease
    this.#owner = this.#sharing === 'alone' ? { key: layout.owner, value, revision: answer.revision } : owner
    return undefined
  }

  async #other(signal: AbortSignal): Promise<KeyValue | undefined> {
    const { client, layout } = this.#parts
    const lock = await this.#read(layout.lock, signal)
    if (lock !== undefined || this.#sharing === 'shared') return lock
    return (await client.range({ ...layout.servers, limit: 1 }, signal)).items[0]
  }

  async #read(key: Buffer, signal: AbortSignal): Promise<KeyValue | undefined> {
    return (await this.#parts.client.range({ key }, signal)).items[0]
  }

  #inUse(holder: Partial<Holder>): string {
    const why = this.#sharing === 'alone' ? 'and this one' : 'which'
    return `the store in ${this.#parts.place} is in use by ${nameOf(holder)}, ${why} must have it alone: stop the other process first`
  }

  #endless(holder: Partial<Holder>, key: Buffer | undefined): string {
    return `the store in ${this.#parts.place} is held by ${nameOf(holder)}, with a key that does not end by itself: if that process does not run, remove the key ${key} from etcd`
  }
}

function waitOf(before: Wait | undefined, left: number): Wait {
  if (before === undefined) return { left, rises: 0, absences: left < 0 ? 1 : 0 }
  const isStill = left < 0 && (before.left >= 0 || left === before.left)
  return {
    left,
    rises: before.rises + (left > before.left ? 1 : 0),
    absences: isStill ? before.absences + 1 : 0,
  }
}

/** With its value: an etcd that was put back gives the same revision to another process. */
function asItIs(key: Buffer, item: KeyValue | undefined): Condition {
  return { key, revision: item?.revision ?? 0, value: item?.value }
}

function isSame(a: KeyValue | undefined, b: KeyValue | undefined): boolean {
  return a === undefined || b === undefined ? a === b : a.revision === b.revision && a.value.equals(b.value)
}

function ownName(clock: Clock, lease: number, id: string): Holder {
  return { process: process.pid, machine: hostname(), since: toTime(clock.now()), lease, id }
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
