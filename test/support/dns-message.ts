/** Queries as octets, and replies as text that reads like `dig +noall`. */
import { Packet, type Resource } from 'dns2'

export type Ask = {
  readonly id?: number
  readonly opcode?: number
  readonly recursionDesired?: boolean
  readonly class?: number
  /** The second half of the flags: RA, Z, AD, CD, RCODE. */
  readonly lowFlags?: number
  readonly edns?: {
    readonly size?: number
    readonly version?: number
    readonly dnssecOk?: boolean
    readonly options?: readonly (readonly [code: number, data: Buffer])[]
  }
}

/** Type numbers by the names that tables use; `TYPE123` is understood too. */
export function typeNumber(name: string): number {
  const extra: Record<string, number> = {
    DS: 43,
    HTTPS: 65,
    NAPTR: 35,
    NSEC: 47,
    IXFR: 251,
    OPT: 41,
    TYPE0: 0,
  }
  const known = new Map<string, number>([...Object.entries(Packet.TYPE), ...Object.entries(extra)])
  const number = known.get(name) ?? Number(/^TYPE(\d+)$/.exec(name)?.[1])
  if (Number.isNaN(number)) throw new Error(`no type ${name}`)
  return number
}

/** A dotted name, or its labels where dots are not to separate. Case is kept. */
export function wire(name: string | readonly string[]): Buffer {
  const labels = typeof name === 'string' ? name.split('.').filter(label => label !== '') : name
  const parts = labels.map(label => Buffer.from(String.fromCharCode(label.length) + label, 'latin1'))
  return Buffer.concat([...parts, Buffer.from([0])])
}

export function question(name: string | readonly string[], type: string, ask: Ask = {}): Buffer {
  const fields = Buffer.alloc(4)
  fields.writeUInt16BE(typeNumber(type), 0)
  fields.writeUInt16BE(ask.class ?? 1, 2)
  const parts = [header(ask), wire(name), fields]
  if (ask.edns !== undefined) parts.push(opt(ask.edns))
  return Buffer.concat(parts)
}

function header(ask: Ask): Buffer {
  const octets = Buffer.alloc(12)
  octets.writeUInt16BE(ask.id ?? 0x1234, 0)
  octets[2] = ((ask.opcode ?? 0) << 3) | (ask.recursionDesired === false ? 0 : 1)
  octets[3] = ask.lowFlags ?? 0
  octets.writeUInt16BE(1, 4)
  octets.writeUInt16BE(ask.edns === undefined ? 0 : 1, 10)
  return octets
}

export function opt(edns: NonNullable<Ask['edns']>): Buffer {
  const options = (edns.options ?? []).map(([code, data]) => {
    const head = Buffer.alloc(4)
    head.writeUInt16BE(code, 0)
    head.writeUInt16BE(data.length, 2)
    return Buffer.concat([head, data])
  })
  const data = Buffer.concat(options)
  const fixed = Buffer.alloc(11)
  fixed.writeUInt16BE(41, 1)
  fixed.writeUInt16BE(edns.size ?? 1232, 3)
  fixed[6] = edns.version ?? 0
  fixed[7] = edns.dnssecOk === true ? 0x80 : 0
  fixed.writeUInt16BE(data.length, 9)
  return Buffer.concat([fixed, data])
}

/** The message with its 2-octet length, as over TCP. */
export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(message.length)
  return Buffer.concat([length, message])
}

const rcodeNames = [
  'NOERROR',
  'FORMERR',
  'SERVFAIL',
  'NXDOMAIN',
  'NOTIMP',
  'REFUSED',
  '6',
  '7',
  '8',
  'NOTAUTH',
]

export type Shown = {
  /** `NODATA` stands for NOERROR without an answer and with SOA. */
  readonly status: string
  readonly flags: string
  readonly answer: readonly string[]
  readonly authority: readonly string[]
  readonly additional: readonly string[]
  /** Absent without OPT: `1232 v0`, `do` behind it, then options as `code:hex`. */
  readonly edns: string | undefined
}

/** What a reply says. Record sets are sorted: their order is random by design. */
export function shown(reply: Buffer): Shown {
  const packet = Packet.parse(reply)
  if (packet.errors.length > 0) throw new Error(`undecodable: ${packet.errors.map(String).join()}`)
  const flags = reply.readUInt16BE(2)
  const names: [number, string][] = [
    [0x8000, 'qr'],
    [0x0400, 'aa'],
    [0x0200, 'tc'],
    [0x0100, 'rd'],
    [0x0080, 'ra'],
    [0x0040, 'z'],
    [0x0020, 'ad'],
    [0x0010, 'cd'],
  ]
  const authority = packet.authorities.map(record).sort()
  const answer = packet.answers.map(record).sort()
  const edns = ednsOf(
    reply,
    packet.additionals.some(r => r.type === 41),
  )
  return {
    status: statusOf(flags & 0xf, edns, answer.length === 0 && authority.some(r => r.includes(' SOA '))),
    flags: names.flatMap(([bit, name]) => ((flags & bit) === 0 ? [] : [name])).join(' '),
    answer,
    authority,
    additional: packet.additionals
      .filter(r => r.type !== 41)
      .map(record)
      .sort(),
    edns: edns?.text,
  }
}

function statusOf(code: number, edns: { readonly extended: number } | undefined, negative: boolean): string {
  if (edns?.extended === 1 && code === 0) return 'BADVERS'
  if (code === 0 && negative) return 'NODATA'
  return rcodeNames[code] ?? String(code)
}

/** Ours is always the last record, with the root as its owner. */
function ednsOf(
  reply: Buffer,
  present: boolean,
): { readonly extended: number; readonly text: string } | undefined {
  if (!present) return undefined
  for (let at = reply.length - 11; at >= 12; at--) {
    if (reply.readUIntBE(at, 3) !== 41 || at + 11 + reply.readUInt16BE(at + 9) !== reply.length) continue
    const data = reply.subarray(at + 11)
    const options: string[] = []
    for (let i = 0; i < data.length; i += 4 + data.readUInt16BE(i + 2)) {
      options.push(`${data.readUInt16BE(i)}:${data.toString('hex', i + 4, i + 4 + data.readUInt16BE(i + 2))}`)
    }
    const text = [
      `${reply.readUInt16BE(at + 3)} v${reply[at + 6]}`,
      ...(reply[at + 7] === 0x80 ? ['do'] : []),
    ]
    return { extended: reply[at + 5] ?? 0, text: [...text, ...options].join(' ') }
  }
  throw new Error('OPT is not the last record')
}

function record(r: Resource): string {
  const type = Object.entries(Packet.TYPE).find(([, number]) => number === r.type)?.[0] ?? `TYPE${r.type}`
  return `${r.name}. ${r.ttl} ${type} ${data(r)}`
}

function data(r: Resource): string {
  switch (r.type) {
    case Packet.TYPE.SRV:
      return `${r.priority} ${r.weight} ${r.port} ${r.target}.`
    case Packet.TYPE.SOA:
      return `${r.primary}. ${r.admin}. ${[r.serial, r.refresh, r.retry, r.expiration, r.minimum].join(' ')}`
    case Packet.TYPE.NS:
      return `${r.ns}.`
    case Packet.TYPE.PTR:
      return `${r.domain}.`
    case Packet.TYPE.TXT:
      return JSON.stringify(r.data)
    default:
      return String(r.address)
  }
}
