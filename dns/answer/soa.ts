import { headerOctets, type Query, type Reply, rrType, type Zone } from '../contract.ts'

const refreshSeconds = 7200
const retrySeconds = 1800
const expireSeconds = 86_400
/** A longer TTL would keep a stale serial and negative answers alive. */
const maxSoaTtlSeconds = 300

/** Owner, `ns.dns` and `hostmaster` end in pointers to the zone's name inside the question, so its case is kept. */
const template = Buffer.concat([
  Buffer.from([0, 0, 0, rrType.soa, 0, 1, 0, 0, 0, 0, 0, 42]),
  Buffer.from('\x02ns\x03dns\0\0\x0ahostmaster\0\0', 'latin1'),
  Buffer.alloc(20),
])
const ttlAt = 6
const primaryPointerAt = 12 + 7
const mailboxPointerAt = primaryPointerAt + 2 + 11
const numbersAt = mailboxPointerAt + 2

/** There is always room: question, SOA and OPT stay under 512 octets. */
export function writeSoa(reply: Reply, query: Query, zone: Zone): void {
  const { bytes, length: start } = reply
  const pointer = 0xc000 | (headerOctets + query.nameOctets - zone.origin.length)
  template.copy(bytes, start)
  bytes.writeUInt16BE(pointer, start)
  bytes.writeUInt32BE(Math.min(zone.ttlSeconds, maxSoaTtlSeconds), start + ttlAt)
  bytes.writeUInt16BE(pointer, start + primaryPointerAt)
  bytes.writeUInt16BE(pointer, start + mailboxPointerAt)
  bytes.writeUInt32BE(zone.serial, start + numbersAt)
  bytes.writeUInt32BE(refreshSeconds, start + numbersAt + 4)
  bytes.writeUInt32BE(retrySeconds, start + numbersAt + 8)
  bytes.writeUInt32BE(expireSeconds, start + numbersAt + 12)
  bytes.writeUInt32BE(zone.negativeTtlSeconds, start + numbersAt + 16)
  reply.length = start + template.length
}
