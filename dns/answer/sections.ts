/** Writes the decided records: rotated, cut to whole records where they do not fit, targets' addresses behind them. */
import {
  type Decision,
  type Query,
  type Random,
  type RecordSet,
  type Reply,
  rrType,
  type Zone,
} from '../contract.ts'
import { writeSoa } from './soa.ts'

/** Owner, type, class, TTL, and the length of what follows. */
const recordHeaderOctets = 12
const dataLengthOffset = 10

/** Pointers reach this far into a message (RFC 1035 §4.1.4). */
const pointerLimit = 0x4000

/** Fills the sections between question and OPT, of at most `reply.limit` octets in all. */
export function writeSections(reply: Reply, query: Query, decision: Decision, random: Random): void {
  const { zone, set } = decision
  if (zone === undefined) return
  if (set !== undefined) {
    const start = reply.length
    writeRotated(reply, set, random)
    if (!reply.truncated) writeTargets(reply, { set, start }, zone)
  } else if (decision.soa === 'answer') {
    writeSoa(reply, query, zone)
    reply.answers++
  } else if (decision.soa === 'authority') {
    writeSoa(reply, query, zone)
    reply.authorities++
  }
}

/** Begins at a random record and wraps around. A set that does not fit loses whole records and is marked as truncated. */
function writeRotated(reply: Reply, set: RecordSet, random: Random): void {
  const count = countOf(set)
  const first = count === 1 ? set.start : offsetOf(set, Math.floor(random() * count))
  if (reply.length + set.end - set.start <= reply.limit) {
    copy(reply, set.bytes, first, set.end)
    copy(reply, set.bytes, set.start, first)
    reply.answers += count
    return
  }
  reply.truncated = true
  if (copyWhole(reply, set, first, set.end)) copyWhole(reply, set, set.start, first)
}

function recordOctets(bytes: Buffer, at: number): number {
  const length = at + dataLengthOffset
  return recordHeaderOctets + ((bytes[length] ?? 0) << 8) + (bytes[length + 1] ?? 0)
}

/** Octets of each record of the set where they are all of one length, as addresses are; else 0. */
function uniformOctets(type: number): number {
  if (type === rrType.a) return recordHeaderOctets + 4
  return type === rrType.aaaa ? recordHeaderOctets + 16 : 0
}

function countOf(set: RecordSet): number {
  const octets = uniformOctets(set.type)
  if (octets > 0) return (set.end - set.start) / octets
  let count = 0
  for (let at = set.start; at < set.end; at += recordOctets(set.bytes, at)) count++
  return count
}

function offsetOf(set: RecordSet, index: number): number {
  const octets = uniformOctets(set.type)
  if (octets > 0) return set.start + index * octets
  let at = set.start
  for (let i = 0; i < index; i++) at += recordOctets(set.bytes, at)
  return at
}

function copy(reply: Reply, bytes: Buffer, from: number, to: number): void {
  if (from === to) return
  bytes.copy(reply.bytes, reply.length, from, to)
  reply.length += to - from
}

/** True when all of them fitted. */
function copyWhole(reply: Reply, set: RecordSet, from: number, to: number): boolean {
  for (let at = from; at < to; ) {
    const end = at + recordOctets(set.bytes, at)
    if (reply.length + end - at > reply.limit) return false
    copy(reply, set.bytes, at, end)
    reply.answers++
    at = end
  }
  return true
}

type Written = { readonly set: RecordSet; readonly start: number }

/** Octets of an SRV's or NS's data before the name in it. */
function targetOffset(type: number): number {
  if (type === rrType.srv) return recordHeaderOctets + 6
  return type === rrType.ns ? recordHeaderOctets : 0
}

/** The addresses of the targets, all of them or none: they are an offer, so leaving them out needs no TC (RFC 2181 §9). */
function writeTargets(reply: Reply, written: Written, zone: Zone): void {
  const offset = targetOffset(written.set.type)
  if (offset === 0) return
  const answersEnd = reply.length
  const done = new Set<string>()
  for (let at = written.start; at < answersEnd; at += recordOctets(reply.bytes, at)) {
    const target = { start: at + offset, end: at + recordOctets(reply.bytes, at) }
    const name = reply.bytes.toString('latin1', target.start, target.end - zone.origin.length)
    if (done.has(name)) continue
    done.add(name)
    if (writeAddresses(reply, target, zone.find(name))) continue
    reply.length = answersEnd
    reply.additionals = 0
    return
  }
}

/** False when they do not fit. */
function writeAddresses(
  reply: Reply,
  target: { readonly start: number; readonly end: number },
  first: RecordSet | undefined,
): boolean {
  for (let set = first; set !== undefined; set = set.next) {
    if (set.type !== rrType.a && set.type !== rrType.aaaa) continue
    for (let at = set.start; at < set.end; ) {
      const end = at + recordOctets(set.bytes, at)
      const owner = target.start < pointerLimit ? 2 : target.end - target.start
      if (reply.length + owner + end - at - 2 > reply.limit) return false
      writeOwner(reply, target)
      copy(reply, set.bytes, at + 2, end)
      reply.additionals++
      at = end
    }
  }
  return true
}

/** A pointer to the target's name, or the name again where no pointer reaches it. */
function writeOwner(reply: Reply, target: { readonly start: number; readonly end: number }): void {
  if (target.start < pointerLimit) {
    reply.bytes.writeUInt16BE(0xc000 | target.start, reply.length)
    reply.length += 2
  } else copy(reply, reply.bytes, target.start, target.end)
}
