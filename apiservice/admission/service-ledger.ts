/**
 * Which Service holds which address and node port. What is stored is known from the store's own watch; what a write under
 * way was given is reserved until the write is seen, or for a minute when it failed.
 */
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { canonicalAddress, type Family } from '../../src/ip/address.ts'
import { AddressPool } from '../../src/ip/pool.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Follower, StoredObject, StoreEvent } from '../store-contract.ts'
import { PortPool } from './port-pool.ts'
import { specOf } from './service-spec.ts'

export type LedgerOptions = {
  /** The blocks that Services get addresses from, at most one of each family; the first family is the default. */
  readonly cidrs: readonly string[]
  readonly nodePorts: { readonly first: number; readonly last: number }
  readonly clock: Clock
  readonly log: Logger
}

/** Longer than any request may take. */
const reservationMs = 60_000

type Pool = { allocate(): string | undefined; reserve(text: string): boolean; release(text: string): boolean }
type Entry = { owner: string; readonly pool: Pool; stored: boolean; reservedUntilMs: number }

export type Refusal = 'taken' | 'outside'

export class ServiceLedger {
  readonly families: readonly Family[]
  readonly follower: Follower
  readonly #clock: Clock
  readonly #log: Logger
  readonly #pools = new Map<Family, AddressPool>()
  readonly #ports: PortPool
  /** By address, or by port as decimal number. */
  readonly #entries = new Map<string, Entry>()
  /** In the order in which they expire. */
  readonly #reserved = new Set<string>()

  /** Throws when a text is no CIDR or a family is there twice. */
  constructor({ cidrs, nodePorts, clock, log }: LedgerOptions) {
    this.#clock = clock
    this.#log = log
    this.#ports = new PortPool(nodePorts.first, nodePorts.last)
    for (const cidr of cidrs) {
      const pool = new AddressPool([cidr], { lowestLast: true })
      if (pool.family === undefined) continue
      if (this.#pools.has(pool.family)) throw new Error(`${cidr} is the second block of ${pool.family}`)
      this.#pools.set(pool.family, pool)
    }
    this.families = [...this.#pools.keys()]
    this.follower = { reset: items => this.#reset(items), events: batch => this.#events(batch) }
  }

  rangeOf(family: Family): string {
    return this.#pools.get(family)?.cidrs.join() ?? ''
  }

  get portRange(): string {
    return this.#ports.range
  }

  /** Reserves a free address; undefined when none is left. */
  takeAddress(family: Family, owner: string): string | undefined {
    return this.#take(this.#pools.get(family), owner)
  }

  takePort(owner: string): number | undefined {
    const taken = this.#take(this.#ports, owner)
    return taken === undefined ? undefined : Number(taken)
  }

  /** Reserves this address; answers why not when it cannot. */
  claimAddress(family: Family, ip: string, owner: string): Refusal | undefined {
    const pool = this.#pools.get(family)
    return pool?.contains(ip) === true ? this.#claim(pool, tokenOf(ip), owner) : 'outside'
  }

  claimPort(port: number, owner: string): Refusal | undefined {
    return this.#ports.contains(port) ? this.#claim(this.#ports, String(port), owner) : 'outside'
  }

  /** Takes back what was reserved and is not stored. */
  giveBack(addressOrPort: string): void {
    const token = tokenOf(addressOrPort)
    const entry = this.#entries.get(token)
    if (entry === undefined) return
    entry.reservedUntilMs = 0
    this.#reserved.delete(token)
    this.#dropUnlessHeld(token, entry)
  }

  #take(pool: Pool | undefined, owner: string): string | undefined {
    this.#expire()
    const token = pool?.allocate()
    if (pool === undefined || token === undefined) return undefined
    this.#entries.set(token, { owner, pool, stored: false, reservedUntilMs: this.#reserve(token) })
    return token
  }

  #claim(pool: Pool, token: string, owner: string): Refusal | undefined {
    this.#expire()
    const entry = this.#entries.get(token)
    if (entry === undefined) pool.reserve(token)
    else if (entry.owner !== owner) return 'taken'
    const stored = entry?.stored ?? false
    this.#entries.set(token, { owner, pool, stored, reservedUntilMs: this.#reserve(token) })
    return undefined
  }

  #reserve(token: string): number {
    this.#reserved.delete(token)
    this.#reserved.add(token)
    return this.#clock.now() + reservationMs
  }

  #expire(): void {
    const nowMs = this.#clock.now()
    for (const token of this.#reserved) {
      const entry = this.#entries.get(token)
      if (entry !== undefined && entry.reservedUntilMs > nowMs) return
      this.#reserved.delete(token)
      if (entry !== undefined) this.#dropUnlessHeld(token, entry)
    }
  }

  #dropUnlessHeld(token: string, entry: Entry): void {
    if (entry.stored || entry.reservedUntilMs > this.#clock.now()) return
    this.#entries.delete(token)
    entry.pool.release(token)
  }

  #reset(items: readonly StoredObject[]): void {
    for (const entry of this.#entries.values()) entry.stored = false
    for (const item of items) this.#hold(item)
    for (const [token, entry] of this.#entries) this.#dropUnlessHeld(token, entry)
  }

  #events(batch: readonly StoreEvent[]): void {
    for (const { type, object, previous } of batch) {
      const kept = new Set(type === 'PUT' ? tokensOf(object) : [])
      if (type === 'PUT') this.#hold(object)
      for (const token of tokensOf(previous ?? object))
        if (!kept.has(token)) this.#letGo(token, ownerOf(object))
    }
  }

  #hold(object: StoredObject): void {
    const owner = ownerOf(object)
    for (const token of tokensOf(object)) {
      const entry = this.#entries.get(token)
      if (entry?.stored === true && entry.owner !== owner) {
        this.#log.error('two services have the same address or port', { token, owner, other: entry.owner })
        continue
      }
      const pool = this.#poolOf(token)
      if (entry === undefined) pool.reserve(token)
      this.#reserved.delete(token)
      this.#entries.set(token, { owner, pool, stored: true, reservedUntilMs: 0 })
    }
  }

  #letGo(token: string, owner: string): void {
    const entry = this.#entries.get(token)
    if (entry?.owner !== owner) return
    entry.stored = false
    this.#dropUnlessHeld(token, entry)
  }

  #poolOf(token: string): Pool {
    const family: Family = token.includes(':') ? 'IPv6' : 'IPv4'
    const isPort = !token.includes(':') && !token.includes('.')
    return (isPort ? this.#ports : this.#pools.get(family)) ?? nowhere
  }
}

/** For addresses of a family that is no longer configured. */
const nowhere: Pool = { allocate: () => undefined, reserve: () => false, release: () => false }

function ownerOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}

/** The addresses and node ports that a Service has, each once. */
function tokensOf(stored: StoredObject): readonly string[] {
  const spec = specOf(decodeBody('v1', 'Service', stored))
  const addresses = (spec.clusterIPs ?? []).filter(ip => ip !== '' && ip !== 'None').map(tokenOf)
  const ports = [...(spec.ports ?? []).map(port => port.nodePort ?? 0), spec.healthCheckNodePort ?? 0]
  return [...new Set([...addresses, ...ports.filter(port => port !== 0).map(String)])]
}

/** One address has one token, however it is written. */
function tokenOf(addressOrPort: string): string {
  return canonicalAddress(addressOrPort) ?? addressOrPort
}
