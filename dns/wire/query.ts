/**
 * Reads a query from the network. Strict, linear in the length of the message, follows no pointers: a question needs
 * none, and names further back are only stepped over.
 */
import { headerOctets, type Query, rrType } from '../contract.ts'

/**
 * - `query`: to be answered.
 * - `drop`: not a query at all; say nothing.
 * - `notimp`, `formerr`: a header says it.
 * - `badopt`: FORMERR, and the question could be read.
 * - `badvers`: EDNS of a version that nobody knows yet.
 * - `signed`: TSIG or SIG(0), and we have no keys.
 */
export type Parsed = 'query' | 'drop' | 'notimp' | 'formerr' | 'badopt' | 'badvers' | 'signed'

const maxNameOctets = 255
const maxAdditionals = 3
const optionNsid = 3

/** ASCII only (RFC 4343). */
const folded = Uint8Array.from({ length: 256 }, (_, octet) =>
  octet >= 0x41 && octet <= 0x5a ? octet + 0x20 : octet,
)

export function emptyQuery(): Query {
  return {
    id: 0,
    opcode: 0,
    recursionDesired: false,
    name: Buffer.alloc(maxNameOctets + 1),
    nameOctets: 0,
    labelStarts: new Uint8Array(128),
    labels: 0,
    questionEnd: 0,
    type: 0,
    class: 0,
    edns: false,
    ednsVersion: 0,
    udpOctets: 0,
    dnssecOk: false,
    nsid: false,
  }
}

/** What `readUInt16BE` reads, without its checks: callers have looked how long the message is. */
function uint16(message: Buffer, at: number): number {
  return ((message[at] ?? 0) << 8) | (message[at + 1] ?? 0)
}

/** Fills `query` from the message. What it holds is valid as far as the result says. */
export function parseQuery(message: Buffer, query: Query): Parsed {
  if (message.length < headerOctets) return 'drop'
  const flags = message[2] ?? 0
  if (flags >= 0x80) return 'drop'
  query.id = uint16(message, 0)
  query.opcode = (flags >> 3) & 0xf
  query.recursionDesired = (flags & 1) === 1
  query.questionEnd = 0
  query.edns = false
  query.ednsVersion = 0
  query.udpOctets = 0
  query.dnssecOk = false
  query.nsid = false
  if (query.opcode !== 0) return 'notimp'
  // RFC 9619: exactly one question. Answers have no place in a query.
  if (uint16(message, 4) !== 1 || uint16(message, 6) !== 0) return 'formerr'
  if (uint16(message, 10) > maxAdditionals) return 'formerr'
  if (!readQuestion(message, query)) return 'formerr'
  return readRest(message, query)
}

function readQuestion(message: Buffer, query: Query): boolean {
  const at = readName(message, query)
  if (at === 0 || at + 4 > message.length) return false
  query.type = uint16(message, at)
  query.class = uint16(message, at + 2)
  query.questionEnd = at + 4
  return true
}

/**
 * Folds the question's name into the query and answers the octet after it, 0 when it is none. A length octet of 64 or
 * more is a pointer or an extended label: nothing stands before the question that a pointer could mean.
 */
function readName(message: Buffer, query: Query): number {
  let at = headerOctets
  query.nameOctets = 0
  query.labels = 0
  while (at < message.length) {
    const length = message[at] ?? 0
    const end = at + 1 + length
    if (length >= 0x40 || end > message.length || end - headerOctets > maxNameOctets) return 0
    readLabel(message, at, end, query)
    if (length === 0) return end
    at = end
  }
  return 0
}

function readLabel(message: Buffer, start: number, end: number, query: Query): void {
  const { name } = query
  let written = query.nameOctets
  if (end > start + 1) query.labelStarts[query.labels++] = written
  // A length octet is below 64: folding leaves it alone.
  for (let at = start; at < end; at++) name[written++] = folded[message[at] ?? 0] ?? 0
  query.nameOctets = written
}

/** Steps over what IXFR brings in its authority section (RFC 1995 §3), then reads the additional section. */
function readRest(message: Buffer, query: Query): Parsed {
  const authorities = uint16(message, 8)
  const additionals = uint16(message, 10)
  let at = query.questionEnd
  if (authorities !== 0) {
    if (query.type !== rrType.ixfr) return malformed(query)
    for (let i = 0; i < authorities && at > 0; i++) at = recordEnd(message, at)
    if (at === 0) return 'badopt'
  }
  return additionals === 0 && at === message.length ? 'query' : readAdditional(message, at, query)
}

function malformed(query: Query): Parsed {
  query.questionEnd = 0
  return 'formerr'
}

function readAdditional(message: Buffer, start: number, query: Query): Parsed {
  let at = start
  let signed = false
  for (let left = uint16(message, 10); left > 0; left--) {
    const end = recordEnd(message, at)
    if (end === 0) return badOpt(query)
    const fields = nameEnd(message, at)
    const type = uint16(message, fields)
    if (type === rrType.opt && !(fields === at + 1 && readOpt(message, fields, end, query)))
      return badOpt(query)
    signed ||= type === rrType.tsig || type === rrType.sig
    at = end
  }
  if (at !== message.length) return badOpt(query)
  if (signed) return 'signed'
  return query.ednsVersion === 0 ? 'query' : 'badvers'
}

/** `fields` is the octet after the owner. False for a second OPT, and when its options do not fill it. */
function readOpt(message: Buffer, fields: number, end: number, query: Query): boolean {
  if (query.edns) return false
  query.edns = true
  query.udpOctets = uint16(message, fields + 2)
  query.ednsVersion = message.readUInt8(fields + 5)
  query.dnssecOk = message.readUInt8(fields + 6) >= 0x80
  return readOptions(message, fields + 10, end, query)
}

/** An OPT that cannot be trusted is not answered with one. */
function badOpt(query: Query): Parsed {
  query.edns = false
  return 'badopt'
}

/** False when an option reaches beyond the record. Options other than NSID are passed over, as RFC 6891 §6.1.2 wants. */
function readOptions(message: Buffer, start: number, end: number, query: Query): boolean {
  let at = start
  while (at + 4 <= end) {
    if (uint16(message, at) === optionNsid) query.nsid = true
    at += 4 + uint16(message, at + 2)
  }
  return at === end
}

/** The octet after the record at `at`, or 0 when the message ends before it. */
function recordEnd(message: Buffer, at: number): number {
  const fields = nameEnd(message, at)
  if (fields === 0 || fields + 10 > message.length) return 0
  const end = fields + 10 + uint16(message, fields + 8)
  return end > message.length ? 0 : end
}

/** The octet after the name at `at`, or 0 when it is none. A pointer ends a name and is not followed. */
function nameEnd(message: Buffer, start: number): number {
  let at = start
  while (at < message.length && at - start < maxNameOctets) {
    const length = message[at] ?? 0
    if (length === 0) return at + 1
    if (length >= 0xc0) return at + 2
    if (length >= 0x40) return 0
    at += length + 1
  }
  return 0
}
