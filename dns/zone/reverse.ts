/** Names of addresses in `in-addr.arpa` and `ip6.arpa` (RFC 1035 §3.5, RFC 3596 §2.5). */
import { bytesOf, parseAddress } from '../../src/ip/address.ts'
import type { Cidr } from '../../src/ip/cidr.ts'

const suffixes = { IPv4: 'in-addr.arpa', IPv6: 'ip6.arpa' } as const
const labelBits = { IPv4: 8, IPv6: 4 } as const

/** One label for each octet of an IPv4 address, for each nibble of an IPv6 address, as the address is written. */
function labelsOf(family: Cidr['family'], bytes: Uint8Array): readonly string[] {
  if (family === 'IPv4') return [...bytes].map(String)
  return [...bytes].flatMap(byte => [(byte >> 4).toString(16), (byte & 0xf).toString(16)])
}

/** The zone of a block, dotted; undefined when the block does not end between two labels. */
export function reverseZone({ family, prefix, text }: Cidr): string | undefined {
  const address = parseAddress(text.split('/')[0] ?? '')
  if (address === undefined || prefix === 0 || prefix % labelBits[family] !== 0) return undefined
  const labels = labelsOf(family, bytesOf(address)).slice(0, prefix / labelBits[family])
  return [...labels.toReversed(), suffixes[family]].join('.')
}

/** The whole reverse name of an address, dotted; undefined when the text is none. */
export function reverseName(text: string): string | undefined {
  const address = parseAddress(text)
  if (address === undefined) return undefined
  return [...labelsOf(address.family, bytesOf(address)).toReversed(), suffixes[address.family]].join('.')
}
