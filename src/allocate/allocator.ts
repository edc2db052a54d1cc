import type { AddressAllocator, AddressProblem, Assigned } from '../contract.ts'
import { type Family, familyOf } from '../ip/address.ts'
import { parseCidr } from '../ip/cidr.ts'
import { AddressPool } from '../ip/pool.ts'

/**
 * Stage `allocate`, on the hub: who holds which ClusterSetIP. Holds nothing on disk: what is handed out is written down with the ClusterSetService
 * before anybody else sees it, and read back through `adopt` after a restart.
 */
export class Allocator implements AddressAllocator {
  #pools: ReadonlyMap<Family, AddressPool>
  readonly #held = new Map<string, readonly string[]>()
  readonly #owners = new Map<string, string>()
  /** Owners that were not given all they wanted, longest waiting first. */
  readonly #waiting = new Set<string>()
  readonly #listeners: ((owner: string) => void)[] = []

  /** Blocks of either family. Throws when a text is no CIDR or when blocks overlap. */
  constructor(cidrs: readonly string[]) {
    this.#pools = poolsOf(cidrs)
  }

  /** The blocks that addresses are given out of. */
  get blocks(): readonly string[] {
    return [...this.#pools.values()].flatMap(pool => pool.cidrs)
  }

  /** Services with addresses of no block, which they keep: the block was taken out. */
  get outside(): readonly string[] {
    return [...this.#held].filter(([, held]) => held.some(ip => !this.#isInside(ip))).map(([owner]) => owner)
  }

  /**
   * Other blocks from now on, more or fewer; throws as the constructor does, and then nothing has changed. What services
   * hold stays theirs, also of a block that is gone, of which nothing more is given out.
   */
  setBlocks(cidrs: readonly string[]): void {
    const pools = poolsOf(cidrs)
    for (const address of this.#owners.keys()) {
      const family = familyOf(address)
      if (family !== undefined) pools.get(family)?.reserve(address)
    }
    this.#pools = pools
    this.#tellWaiting()
  }

  /**
   * What was written down for an owner is its own again; also addresses that no pool holds any more. An address that
   * another owner has already stays with that one: adopt the older owner first.
   */
  adopt(owner: string, addresses: readonly string[]): void {
    for (const address of addresses) {
      if (this.#owners.has(address)) continue
      this.#poolOf(address)?.reserve(address)
      this.#hold(owner, address)
    }
  }

  assign(owner: string, families: readonly Family[], requested: readonly string[]): Assigned {
    const found = families.map(family => this.#find(owner, family, requested))
    const ips = found.flatMap(({ ip }) => (ip === undefined ? [] : [ip]))
    if (found.some(({ ip, problem }) => ip === undefined && problem !== undefined)) this.#waiting.add(owner)
    else this.#waiting.delete(owner)
    return {
      ips,
      ipFamilies: ips.length === 0 ? families : families.filter(f => ips.some(ip => familyOf(ip) === f)),
      addresses: this.#held.get(owner) ?? [],
      problem: problemOf(families, found),
    }
  }

  release(owner: string): void {
    this.#waiting.delete(owner)
    const addresses = this.#held.get(owner) ?? []
    this.#held.delete(owner)
    for (const address of addresses) {
      this.#owners.delete(address)
      this.#poolOf(address)?.release(address)
    }
    if (addresses.length > 0) this.#tellWaiting()
  }

  holds(owner: string): boolean {
    return this.#held.has(owner)
  }

  /** Called with each waiting owner, longest waiting first, when addresses have become free. */
  onFree(listener: (owner: string) => void): void {
    this.#listeners.push(listener)
  }

  /** Addresses in use and in all, by family. */
  usage(): readonly { readonly family: Family; readonly used: number; readonly size: bigint }[] {
    return [...this.#pools].map(([family, pool]) => ({ family, used: pool.used, size: pool.size }))
  }

  #tellWaiting(): void {
    for (const owner of [...this.#waiting]) for (const listener of this.#listeners) listener(owner)
  }

  #heldOf(owner: string, family: Family): string | undefined {
    return this.#held.get(owner)?.find(address => familyOf(address) === family)
  }

  #take(owner: string, family: Family, wanted: string | undefined): string | undefined {
    const pool = this.#pools.get(family)
    // An address of an owner from another time may lie in a pool that did not hold it when it was adopted.
    const isTaken = (candidate: string): boolean => this.#owners.has(candidate)
    const ip = wanted === undefined ? pool?.allocate(isTaken) : this.#reserved(pool, wanted)
    if (ip !== undefined) this.#hold(owner, ip)
    return ip
  }

  #reserved(pool: AddressPool | undefined, wanted: string): string | undefined {
    return !this.#owners.has(wanted) && pool?.reserve(wanted) === true ? wanted : undefined
  }

  #hold(owner: string, address: string): void {
    this.#owners.set(address, owner)
    this.#held.set(owner, [...(this.#held.get(owner) ?? []), address])
  }

  #isInside(address: string): boolean {
    return this.#poolOf(address)?.contains(address) ?? false
  }

  #poolOf(address: string): AddressPool | undefined {
    const family = familyOf(address)
    return family === undefined ? undefined : this.#pools.get(family)
  }

  #find(owner: string, family: Family, requested: readonly string[]): Found {
    const wanted = requested.find(ip => familyOf(ip) === family)
    const held = this.#heldOf(owner, family)
    if (held !== undefined) {
      if (wanted === undefined || wanted === held) return { ip: held }
      return {
        ip: held,
        problem: `${wanted} was asked for, but a service keeps the address that it has: ${held}`,
      }
    }
    const ip = this.#take(owner, family, wanted)
    return ip === undefined ? { problem: this.#refusal(family, wanted) } : { ip }
  }

  /** Undefined: there is no pool that could ever give one. */
  #refusal(family: Family, wanted: string | undefined): string | undefined {
    const pool = this.#pools.get(family)
    const blocks = pool?.cidrs.join(', ') ?? 'none'
    if (pool?.contains(wanted ?? '') === true) return `${wanted} was asked for, and another service has it`
    if (wanted !== undefined)
      return `${wanted} was asked for, and is not in the ClusterSet's pool of ${family} addresses (${blocks})`
    return pool && `no free ${family} address in the ClusterSet's pool (${blocks})`
  }
}

function poolsOf(cidrs: readonly string[]): ReadonlyMap<Family, AddressPool> {
  const pools = new Map<Family, AddressPool>()
  for (const text of cidrs) {
    const family = parseCidr(text)?.family
    if (family === undefined) throw new Error(`${JSON.stringify(text)} is not a CIDR`)
    const pool = pools.get(family) ?? new AddressPool([], { lowestLast: true })
    pool.add(text)
    pools.set(family, pool)
  }
  return pools
}

/** What there is of one family: an address, or why not, or why it is another than the one that was asked for. */
type Found = { readonly ip?: string; readonly problem?: string | undefined }

function problemOf(families: readonly Family[], found: readonly Found[]): AddressProblem | undefined {
  const problems = found.map(({ problem }) => problem).filter(problem => problem !== undefined)
  if (problems.length > 0) return { reason: 'Pending', message: problems.join('; ') }
  if (families.length === 0 || found.some(({ ip }) => ip !== undefined)) return undefined
  const message = `the ClusterSet has no pool of ${families.join(' or ')} addresses`
  return { reason: 'IPFamilyNotSupported', message }
}
