/** Headers, questions and OPT of what we send. The sections between them are written by the answer stage. */
import {
  type Decision,
  extendedError,
  headerOctets,
  maxUdpOctets,
  minUdpOctets,
  type Origin,
  type Query,
  type Reply,
  rrType,
} from '../contract.ts'

const tcpOctets = 65_535

const optOctets = 11
const optionHeaderOctets = 4
const optionNsid = 3
const optionExtendedError = 15
const flagResponse = 0x80
const flagAuthoritative = 0x04
const flagTruncated = 0x02

/** Room for the largest message. */
export function emptyReply(): Reply {
  return {
    bytes: Buffer.alloc(tcpOctets + 1),
    length: 0,
    limit: 0,
    answers: 0,
    authorities: 0,
    additionals: 0,
    truncated: false,
  }
}

/** The most octets that this client may be sent, OPT included. */
export function sizeLimit(query: Query, { transport, octets }: Origin): number {
  return transport === 'tcp' ? octets : Math.min(Math.max(query.udpOctets, minUdpOctets), octets)
}

/** Copies the question as it came, case and all, and leaves room for the header. */
export function beginReply(reply: Reply, message: Buffer, query: Query): void {
  const end = Math.max(query.questionEnd, headerOctets)
  if (end > headerOctets) message.copy(reply.bytes, headerOctets, headerOctets, end)
  reply.length = end
  reply.answers = 0
  reply.authorities = 0
  reply.additionals = 0
  reply.truncated = false
}

/** Octets that `endReply` will add. */
export function optSize(query: Query, decision: Decision, nsid: Buffer | undefined): number {
  if (!query.edns) return 0
  let octets = optOctets
  if (query.nsid && nsid !== undefined) octets += optionHeaderOctets + nsid.length
  if (decision.extendedError !== extendedError.none) octets += optionHeaderOctets + 2
  return octets
}

export function writeOpt(reply: Reply, query: Query, decision: Decision, nsid: Buffer | undefined): void {
  if (!query.edns) return
  reply.additionals++
  const { bytes } = reply
  const start = reply.length
  bytes[start] = 0
  bytes.writeUInt16BE(rrType.opt, start + 1)
  bytes.writeUInt16BE(maxUdpOctets, start + 3)
  bytes[start + 5] = decision.rcode >> 4
  bytes[start + 6] = 0
  bytes[start + 7] = query.dnssecOk ? 0x80 : 0
  bytes[start + 8] = 0
  let at = start + optOctets
  if (query.nsid && nsid !== undefined) {
    bytes.writeUInt16BE(optionNsid, at)
    bytes.writeUInt16BE(nsid.length, at + 2)
    nsid.copy(bytes, at + optionHeaderOctets)
    at += optionHeaderOctets + nsid.length
  }
  if (decision.extendedError !== extendedError.none) {
    bytes.writeUInt16BE(optionExtendedError, at)
    bytes.writeUInt16BE(2, at + 2)
    bytes.writeUInt16BE(decision.extendedError, at + 4)
    at += optionHeaderOctets + 2
  }
  bytes.writeUInt16BE(at - start - optOctets, start + 9)
  reply.length = at
}

function putUint16(bytes: Buffer, at: number, value: number): void {
  bytes[at] = value >> 8
  bytes[at + 1] = value & 0xff
}

/**
 * Goes last. RA, Z, AD and CD are never set: we neither recurse nor sign. TC is said over UDP only: over TCP what was left
 * out has no other way either.
 */
export function writeHeader(reply: Reply, query: Query, decision: Decision, { transport }: Origin): void {
  const { bytes } = reply
  putUint16(bytes, 0, query.id)
  bytes[2] =
    flagResponse |
    (query.opcode << 3) |
    (decision.authoritative ? flagAuthoritative : 0) |
    (reply.truncated && transport === 'udp' ? flagTruncated : 0) |
    (query.recursionDesired ? 1 : 0)
  bytes[3] = decision.rcode & 0xf
  putUint16(bytes, 4, query.questionEnd > 0 ? 1 : 0)
  putUint16(bytes, 6, reply.answers)
  putUint16(bytes, 8, reply.authorities)
  putUint16(bytes, 10, reply.additionals)
}
