import { type Address, bitsOf, type Family, parseAddress, textOf } from './address.ts'

/** A block of addresses. */
export type Cidr = {
  readonly family: Family
  /** The canonical text: `10.96.0.0/12`. */
  readonly text: string
  readonly prefix: number
  readonly first: bigint
  readonly last: bigint
}

/**
 * The block that the text is, or undefined. As strict as `parseAddress`; the bits behind the prefix must be zero, so that
 * a typing mistake does not become another network.
 */
export function parseCidr(text: string): Cidr | undefined {
  const [head = '', length, ...more] = text.split('/')
  const address = parseAddress(head)
  if (address === undefined || length === undefined || more.length > 0) return undefined
  if (!/^(0|[1-9]\d{0,2})$/.test(length)) return undefined
  const prefix = Number(length)
  if (prefix > bitsOf[address.family]) return undefined
  const hostMask = (1n << BigInt(bitsOf[address.family] - prefix)) - 1n
  if ((address.value & hostMask) !== 0n) return undefined
  return {
    family: address.family,
    text: `${address.text}/${prefix}`,
    prefix,
    first: address.value,
    last: address.value | hostMask,
  }
}

/** How many addresses the block holds. */
export function sizeOf(cidr: Cidr): bigint {
  return cidr.last - cidr.first + 1n
}

export function contains(cidr: Cidr, address: Address): boolean {
  return cidr.family === address.family && cidr.first <= address.value && address.value <= cidr.last
}

export function overlaps(one: Cidr, other: Cidr): boolean {
  return one.family === other.family && one.first <= other.last && other.first <= one.last
}

/** The same addresses in as few blocks as they make; texts that are none are left out. */
export function joined(texts: readonly string[]): readonly string[] {
  const blocks = texts.map(parseCidr).filter(block => block !== undefined)
  const kept: Cidr[] = []
  for (const block of blocks.sort(byStart)) {
    const last = kept.at(-1)
    if (last !== undefined && overlaps(last, block)) continue
    kept.push(block)
    for (let both = pairOf(kept); both !== undefined; both = pairOf(kept)) kept.splice(-2, 2, both)
  }
  return kept.map(({ text }) => text)
}

/** Larger ones first where they begin together: what they hold is behind them. */
function byStart(a: Cidr, b: Cidr): number {
  if (a.family !== b.family) return a.family < b.family ? -1 : 1
  return a.first === b.first ? a.prefix - b.prefix : Number(a.first > b.first) * 2 - 1
}

/** The block that the last two make together. */
function pairOf(blocks: readonly Cidr[]): Cidr | undefined {
  const [one, other] = blocks.slice(-2)
  if (one === undefined || other === undefined || one.family !== other.family) return undefined
  if (one.prefix !== other.prefix || one.last + 1n !== other.first) return undefined
  return parseCidr(`${textOf(one.family, one.first)}/${one.prefix - 1}`)
}
