/** IP addresses as values. The only folder that knows how addresses are written. */
import { isIP } from 'node:net'
import { Address4, Address6 } from 'ip-address'

/** As `Service.spec.ipFamilies` and `EndpointSlice.addressType` name them. */
export type Family = 'IPv4' | 'IPv6'

export type Address = {
  readonly family: Family
  /** The address as a number: below 2^32 or 2^128. */
  readonly value: bigint
  /** The canonical text: dotted decimal, or RFC 5952. Equal addresses have equal texts. */
  readonly text: string
}

export const bitsOf: Readonly<Record<Family, 32 | 128>> = { IPv4: 32, IPv6: 128 }

const mappedPrefix = 0xffffn

/**
 * The address that the text is, or undefined. Takes what Kubernetes takes in new fields: no leading zeros, no zone, no
 * prefix length, no IPv4-mapped IPv6 address.
 */
export function parseAddress(text: string): Address | undefined {
  const version = isIP(text)
  if (version === 0 || text.includes('%')) return undefined
  // Without leading zeros an IPv4 address is written in one way.
  if (version === 4) return { family: 'IPv4', value: new Address4(text).bigInt(), text }
  const value = new Address6(text).bigInt()
  return value >> 32n === mappedPrefix ? undefined : addressOf('IPv6', value)
}

/** The canonical text of an address, or undefined when the text is none. */
export function canonicalAddress(text: string): string | undefined {
  return isIP(text) === 4 ? text : parseAddress(text)?.text
}

/** The family of an address, or undefined when the text is none. */
export function familyOf(text: string): Family | undefined {
  return isIP(text) === 4 ? 'IPv4' : parseAddress(text)?.family
}

/** The address that is this number. Throws a RangeError when the family has no such address. */
export function addressOf(family: Family, value: bigint): Address {
  return { family, value, text: textOf(family, value) }
}

/** The canonical text of the address that is this number. Throws a RangeError when the family has no such address. */
export function textOf(family: Family, value: bigint): string {
  if (value < 0n || value >> BigInt(bitsOf[family]) !== 0n) {
    throw new RangeError(`${value} is no ${family} address`)
  }
  return family === 'IPv4'
    ? Address4.fromBigInt(value).correctForm()
    : Address6.fromBigInt(value).correctForm()
}

/** 4 or 16 bytes in network order. */
export function bytesOf(address: Address): Uint8Array {
  const bytes = new Uint8Array(bitsOf[address.family] / 8)
  let rest = address.value
  for (let index = bytes.length - 1; index >= 0; index--) {
    bytes[index] = Number(rest & 0xffn)
    rest >>= 8n
  }
  return bytes
}
