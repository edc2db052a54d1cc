/** Damaged queries, and what must hold of whatever is said to them. */
import { Packet } from 'dns2'
import { opt, question, typeNumber } from '../support/dns-message.ts'
import { exampleObjects } from '../support/dns-objects.ts'
import { askerOf, loadedZone, originOf } from '../support/dns-zone.ts'
import type { Next } from './random.ts'

const asker = askerOf(loadedZone(exampleObjects()), { nsid: Buffer.from('dns-0') })

/** Single datagrams that killed or stalled other servers, and the ordinary ones that they are made of. */
export const seeds: readonly Buffer[] = [
  ...['web.prod', 'big.prod', 'db.prod', 'anon.prod', 'nope.prod', 'two.prod'].flatMap(name =>
    ['A', 'AAAA', 'SRV', 'ANY', 'IXFR'].map(type =>
      question(`${name}.svc.clusterset.local`, type, { edns: {} }),
    ),
  ),
  question('clusterset.local', 'NS'),
  question('clusterset.local', 'SOA', { edns: { version: 1, dnssecOk: true } }),
  question('h-0.c1.reg.two.prod.svc.clusterset.local', 'A', {
    edns: {
      size: 512,
      options: [
        [3, Buffer.alloc(0)],
        [8, Buffer.alloc(8)],
      ],
    },
  }),
  Buffer.concat([question('a'.repeat(60), 'A'), opt({}), opt({})]),
  ...[
    '123401000000000000000000',
    '123401000001000000000000',
    '123401000001000000000000c00c00010001',
    '123401000001000000000000cfff00010001',
    '1234010000010000000000003f61',
    '12340100000100000000000081610000010001',
    '12340100000100000000000008737663312e6e7331037376630a636c7573746572736574056c6f63616c0000010001',
    '12340000000000030000000000000a00010000000000300000c017c019c01bc01dc01fc021c023c025c027c029c02bc02dc02fc031c033c035c037c039c03bc03dc03fc041c043c045000a0001000000000000c045000a0001000000000000',
  ].map(hex => Buffer.from(hex, 'hex')),
]

const interesting = [0, 1, 2, 0x0b, 0x0c, 0x10, 0x29, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xfa, 0xfb, 0xfc, 0xff]

const mutations: readonly ((packet: Buffer, next: Next) => Buffer)[] = [
  (packet, next) => {
    const copy = Buffer.from(packet)
    copy[next(copy.length || 1)] = next(256)
    return copy
  },
  (packet, next) => {
    const copy = Buffer.from(packet)
    copy[next(copy.length || 1)] = interesting[next(interesting.length)] ?? 0
    return copy
  },
  // The header's flags and counts, where a little changes much.
  (packet, next) => {
    const copy = Buffer.from(packet)
    copy[2 + next(10)] = interesting[next(interesting.length)] ?? 0
    return copy
  },
  (packet, next) => packet.subarray(0, next(packet.length + 1)),
  (packet, next) => Buffer.concat([packet, Buffer.alloc(next(40), next(256))]),
  (packet, next) => {
    const at = next(packet.length + 1)
    return Buffer.concat([packet.subarray(0, at), Buffer.alloc(next(8), next(256)), packet.subarray(at)])
  },
  (packet, next) => {
    const other = seeds[next(seeds.length)] ?? packet
    return Buffer.concat([
      packet.subarray(0, next(packet.length + 1)),
      other.subarray(next(other.length + 1)),
    ])
  },
]

/** A seed with one to five mutations. */
export function mutated(next: Next): Buffer {
  let packet = seeds[next(seeds.length)] ?? Buffer.alloc(0)
  for (let left = 1 + next(5); left > 0; left--)
    packet = mutations[next(mutations.length)]?.(packet, next) ?? packet
  return packet
}

/** Throws when what is said to the packet must not be said. */
export function check(packet: Buffer): void {
  for (const transport of ['udp', 'tcp'] as const) {
    const reply = asker.raw(packet, transport)
    const silent = packet.length < 12 || (packet.readUInt8(2) & 0x80) !== 0
    if (silent !== (reply === undefined))
      throw new Error(`${transport}: ${silent ? 'said something' : 'said nothing'}`)
    if (asker.observer.faults.length > 0)
      throw new Error('a fault inside', { cause: asker.observer.faults.pop() })
    if (reply !== undefined) checkReply(packet, reply, transport)
  }
  // Strangers get less, whatever they say.
  const octets = asker.chain.respond(packet, { ...originOf('udp'), octets: 512 })
  if (octets > 512) throw new Error(`${octets} octets to a stranger`)
  asker.observer.seen.length = 0
}

function checkReply(packet: Buffer, reply: Buffer, transport: 'udp' | 'tcp'): void {
  const flags = reply.readUInt16BE(2)
  const wanted = 0x8000 | (packet.readUInt16BE(2) & 0x7900)
  if ((flags & 0xf9f0) !== wanted) throw new Error(`flags ${flags.toString(16)}`)
  if (reply.readUInt16BE(0) !== packet.readUInt16BE(0)) throw new Error('another id')
  const questions = reply.readUInt16BE(4)
  const parsed = Packet.parse(reply)
  if (parsed.errors.length > 0) throw new Error(`undecodable: ${parsed.errors.map(String).join()}`)
  const edns = parsed.additionals.some(record => record.type === typeNumber('OPT'))
  const limit = transport === 'tcp' ? 65_535 : edns ? Math.min(Math.max(sizeOf(packet), 512), 1232) : 512
  if (reply.length > limit) throw new Error(`${reply.length} octets over ${transport}`)
  if (transport === 'tcp' && (flags & 0x0200) !== 0) throw new Error('TC over TCP')
  if (questions > 1) throw new Error(`${questions} questions`)
  const end = questions === 0 ? 12 : nameEnd(reply) + 4
  if (!reply.subarray(12, end).equals(packet.subarray(12, end))) throw new Error('another question')
}

/** What the query's OPT says that its client takes; dns2 finds it in its own way. */
function sizeOf(packet: Buffer): number {
  const opts = Packet.parse(packet).additionals.filter(record => record.type === typeNumber('OPT'))
  return opts.length === 1 ? Number(opts[0]?.class) : 65_535
}

function nameEnd(message: Buffer): number {
  let at = 12
  while (message.readUInt8(at) !== 0) at += 1 + message.readUInt8(at)
  return at + 1
}
