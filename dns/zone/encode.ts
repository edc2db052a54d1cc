/**
 * Records in wire form, as strings of one character an octet, so that equal ones are found by a Set. dns2 encodes the
 * types that it encodes well; it compresses SRV targets, which RFC 2782 forbids, so SRV is ours.
 */
import { isIPv4, isIPv6 } from 'node:net'
import { Packet } from 'dns2'
import { classIn, rrType } from '../contract.ts'

/** A pointer to the question's name, which follows the header (RFC 1035 §4.1.4). */
const questionOwner = '\xc0\x0c'

type Fields = Exclude<ConstructorParameters<typeof Packet.Resource>[0], string | undefined>

/** dns2 writes the root, one octet, as the owner. */
function encoded(fields: Fields): string {
  const record = new Packet.Resource({ ...fields, name: '', class: classIn }).toBuffer()
  return questionOwner + record.toString('latin1', 1)
}

export type AddressRecord = { readonly type: number; readonly record: string }

/** A or AAAA; undefined when the text is no address. Zones and dotted IPv6 forms are none: they do not survive encoding. */
export function addressRecord(address: string, ttlSeconds: number): AddressRecord | undefined {
  if (isIPv4(address))
    return { type: rrType.a, record: encoded({ type: rrType.a, ttl: ttlSeconds, address }) }
  if (!isIPv6(address) || /[.%]/.test(address)) return undefined
  return { type: rrType.aaaa, record: encoded({ type: rrType.aaaa, ttl: ttlSeconds, address }) }
}

/** One string of at most 255 octets. */
export function textRecord(text: string, ttlSeconds: number): string {
  if (text.length === 0 || text.length > 255) throw new RangeError('a TXT string has 1 to 255 octets')
  return encoded({ type: rrType.txt, ttl: ttlSeconds, data: [text] })
}

export function nameServerRecord(dotted: string, ttlSeconds: number): string {
  return encoded({ type: rrType.ns, ttl: ttlSeconds, ns: dotted })
}

/** `target` is in wire form, root included. */
export function pointerRecord(target: string, ttlSeconds: number): string {
  return questionOwner + head([rrType.ptr, classIn, ...ttl(ttlSeconds), target.length]) + target
}

const priority = 0
const weight = 100

/**
 * `target` is in wire form, root included. All records have one priority and one weight: a weight that depended on the
 * number of endpoints would change every record when one comes, and zero starves (RFC 2782).
 */
export function serviceRecord(port: number, target: string, ttlSeconds: number): string {
  const numbers = [rrType.srv, classIn, ...ttl(ttlSeconds), 6 + target.length, priority, weight, port]
  return questionOwner + head(numbers) + target
}

function ttl(seconds: number): readonly number[] {
  return [seconds >>> 16, seconds & 0xffff]
}

/** Numbers of two octets. */
function head(numbers: readonly number[]): string {
  return String.fromCharCode(...numbers.flatMap(number => [number >> 8, number & 0xff]))
}
