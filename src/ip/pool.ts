/**
 * A pool of addresses: who owns which is the caller's business. An address is handed out by a cursor that moves on, so
 * that one that was released is not at once given to somebody else.
 */
import { type Family, parseAddress, textOf } from './address.ts'
import { type Cidr, overlaps, parseCidr } from './cidr.ts'

export type PoolOptions = {
  /**
   * Keep the lowest addresses of each block, a sixteenth and at most 256, for `reserve` until all others are taken, as
   * kube-apiserver does so that users can choose addresses (KEP-3070).
   */
  readonly lowestLast?: boolean
}

type Range = { readonly first: bigint; readonly last: bigint }

/** After so many refusals by `avoid`, one call gives up; the next goes on from there. */
const maxRefusals = 16_384

export class AddressPool {
  readonly #lowestLast: boolean
  readonly #cidrs: Cidr[] = []
  readonly #taken = new TakenAddresses()
  readonly #preferred = new Band(this.#taken)
  readonly #lowest = new Band(this.#taken)
  #size = 0n

  /** Throws when a text is no CIDR, when families differ or blocks overlap. */
  constructor(cidrs: readonly string[], options: PoolOptions = {}) {
    this.#lowestLast = options.lowestLast ?? false
    for (const cidr of cidrs) this.add(cidr)
  }

  /** Absent while the pool has no block. */
  get family(): Family | undefined {
    return this.#cidrs[0]?.family
  }

  get cidrs(): readonly string[] {
    return this.#cidrs.map(cidr => cidr.text)
  }

  /** How many addresses are taken. */
  get used(): number {
    return this.#taken.count
  }

  /** How many addresses can be taken: all but the first, and in IPv4 the last, of each block. */
  get size(): bigint {
    return this.#size
  }

  /** Grows the pool. */
  add(text: string): void {
    const cidr = parseCidr(text)
    if (cidr === undefined) throw new Error(`${JSON.stringify(text)} is not a CIDR`)
    if (cidr.family !== (this.family ?? cidr.family)) throw new Error(`${text} is not of ${this.family}`)
    const other = this.#cidrs.find(known => overlaps(known, cidr))
    if (other !== undefined) throw new Error(`${text} overlaps ${other.text}`)
    this.#cidrs.push(cidr)
    const usable = usableOf(cidr)
    const size = usable.last - usable.first + 1n
    const offset = this.#lowestLast ? lowestOf(size) : 0n
    this.#size += size
    this.#preferred.add({ first: usable.first + offset, last: usable.last })
    if (offset > 0n) this.#lowest.add({ first: usable.first, last: usable.first + offset - 1n })
  }

  /**
   * Takes a free address; undefined when there is none. `avoid` refuses candidates. IPv4 addresses that end in `.0` are
   * only given to who asks for them: some devices take them for networks.
   */
  allocate(avoid?: (ip: string) => boolean): string | undefined {
    let refusals = 0
    for (const { value, ip } of this.#candidates()) {
      if (avoid?.(ip) !== true) {
        this.#taken.set(value)
        return ip
      }
      if (++refusals === maxRefusals) return undefined
    }
    return undefined
  }

  /** Takes this address; false when it is taken already or not of this pool. */
  reserve(ip: string): boolean {
    const value = this.#valueOf(ip)
    if (value === undefined || this.#taken.has(value)) return false
    this.#taken.set(value)
    return true
  }

  /** Gives the address back; false when it was not taken. */
  release(ip: string): boolean {
    const value = this.#valueOf(ip)
    return value !== undefined && this.#taken.delete(value)
  }

  /** Whether the address is taken. */
  has(ip: string): boolean {
    const value = this.#valueOf(ip)
    return value !== undefined && this.#taken.has(value)
  }

  /** Whether the address can be taken from this pool at all. */
  contains(ip: string): boolean {
    return this.#valueOf(ip) !== undefined
  }

  *#candidates(): Generator<{ readonly value: bigint; readonly ip: string }> {
    const family = this.family
    if (family === undefined) return
    for (const band of [this.#preferred, this.#lowest]) {
      for (const value of band.candidates()) {
        if (family === 'IPv6' || (value & 0xffn) !== 0n) yield { value, ip: textOf(family, value) }
      }
    }
  }

  #valueOf(ip: string): bigint | undefined {
    const address = parseAddress(ip)
    if (address === undefined || address.family !== this.family) return undefined
    const inside = this.#cidrs.some(cidr => {
      const usable = usableOf(cidr)
      return usable.first <= address.value && address.value <= usable.last
    })
    return inside ? address.value : undefined
  }
}

/** Without the network's own address (in IPv6 the subnet-router anycast address, RFC 4291 2.6.1) and the broadcast. */
function usableOf(cidr: Cidr): Range {
  if (cidr.last - cidr.first < 2n) return cidr
  return { first: cidr.first + 1n, last: cidr.family === 'IPv4' ? cidr.last - 1n : cidr.last }
}

function lowestOf(size: bigint): bigint {
  const sixteenth = size / 16n
  if (sixteenth < 16n) return 0n
  return sixteenth > 256n ? 256n : sixteenth
}

/** Ranges that are handed out from in turn, and where that goes on. */
class Band {
  readonly #taken: TakenAddresses
  readonly #ranges: Range[] = []
  #index = 0
  #next = 0n

  constructor(taken: TakenAddresses) {
    this.#taken = taken
  }

  add(range: Range): void {
    if (this.#ranges.length === 0) this.#next = range.first
    this.#ranges.push(range)
  }

  /** Free addresses from the cursor on and once around; the cursor stays behind the last one that was looked at. */
  *candidates(): Generator<bigint> {
    for (const { index, first, last } of this.#lap()) {
      for (let value = this.#taken.nextFree(first, last); value !== undefined; ) {
        this.#index = index
        this.#next = value + 1n
        yield value
        value = this.#taken.nextFree(value + 1n, last)
      }
    }
  }

  #lap(): (Range & { readonly index: number })[] {
    const numbered = this.#ranges.map((range, index) => ({ ...range, index }))
    const start = numbered[this.#index]
    if (start === undefined) return []
    return [
      { ...start, first: this.#next },
      ...numbered.slice(this.#index + 1),
      ...numbered.slice(0, this.#index),
      { ...start, last: this.#next - 1n },
    ]
  }
}

const blockBits = 8n
const blockSize = 256n

/** A set of addresses in blocks of 256, so that what is full is passed over quickly. */
class TakenAddresses {
  readonly #blocks = new Map<bigint, { readonly bits: Uint8Array; used: number }>()
  #count = 0

  get count(): number {
    return this.#count
  }

  has(value: bigint): boolean {
    return this.#blocks.get(value >> blockBits)?.bits[Number(value % blockSize)] === 1
  }

  set(value: bigint): void {
    const key = value >> blockBits
    const block = this.#blocks.get(key) ?? { bits: new Uint8Array(Number(blockSize)), used: 0 }
    const offset = Number(value % blockSize)
    if (block.bits[offset] === 1) return
    block.bits[offset] = 1
    block.used++
    this.#count++
    this.#blocks.set(key, block)
  }

  delete(value: bigint): boolean {
    const key = value >> blockBits
    const block = this.#blocks.get(key)
    const offset = Number(value % blockSize)
    if (block === undefined || block.bits[offset] !== 1) return false
    block.bits[offset] = 0
    block.used--
    this.#count--
    if (block.used === 0) this.#blocks.delete(key)
    return true
  }

  /** The lowest address that is not in the set, from `first` to `last`. */
  nextFree(first: bigint, last: bigint): bigint | undefined {
    for (let at = first; at <= last; at = ((at >> blockBits) + 1n) << blockBits) {
      const block = this.#blocks.get(at >> blockBits)
      if (block === undefined) return at
      const offset = block.used === Number(blockSize) ? -1 : block.bits.indexOf(0, Number(at % blockSize))
      if (offset < 0) continue
      const value = ((at >> blockBits) << blockBits) + BigInt(offset)
      return value <= last ? value : undefined
    }
    return undefined
  }
}
