/** One question to one server, as a client asks it. */
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { Packet } from 'dns2'
import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Transport } from '../contract.ts'

export type Server = { readonly host: string; readonly port: number }

export type Said =
  | {
      readonly kind: 'answer'
      /** `NOERROR`, `NXDOMAIN`… */
      readonly status: string
      /** The data of the answer section, as text, sorted. */
      readonly data: readonly string[]
    }
  | { readonly kind: 'silence'; readonly why: string }

export type Question = { readonly name: string; readonly type: 'A' | 'AAAA' | 'SRV' | 'TXT' }

export type Asking = { readonly clock: Clock; readonly timeoutMs: number }

const statuses = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']
const recursionDesired = 1
/** In the third octet of a message. */
const truncated = 2

/** Never rejects: that nobody answers is an answer too. What does not fit into a datagram is asked for again over TCP. */
export async function ask(
  server: Server,
  question: Question,
  transport: Transport,
  asking: Asking,
): Promise<Said> {
  const message = messageOf(question)
  try {
    if (transport === 'tcp') return read(await overTcp(server, message, asking))
    const reply = await overUdp(server, message, asking)
    return isTruncated(reply) ? await inFull(server, message, asking) : read(reply)
  } catch (thrown) {
    return { kind: 'silence', why: errorText(thrown) }
  }
}

function isTruncated(reply: Buffer): boolean {
  return (reply.readUInt8(2) & truncated) !== 0
}

async function inFull(server: Server, message: Buffer, asking: Asking): Promise<Said> {
  try {
    return read(await overTcp(server, message, asking))
  } catch (thrown) {
    throw new Error(`its answer does not fit into a datagram, and over TCP ${errorText(thrown)}`, {
      cause: thrown,
    })
  }
}

/** All addresses of a name. */
export async function askAddresses(server: Server, name: string, asking: Asking): Promise<Said> {
  const ipv4 = await ask(server, { name, type: 'A' }, 'udp', asking)
  if (ipv4.kind === 'silence' || ipv4.status !== 'NOERROR') return ipv4
  const ipv6 = await ask(server, { name, type: 'AAAA' }, 'udp', asking)
  if (ipv6.kind === 'silence') return ipv6
  const same = ipv6.status === ipv4.status
  const status = same ? ipv4.status : `${ipv4.status} for A and ${ipv6.status} for AAAA`
  return { kind: 'answer', status, data: [...ipv4.data, ...ipv6.data] }
}

function messageOf({ name, type }: Question): Buffer {
  const packet = new Packet()
  packet.header.id = Math.floor(Math.random() * 0x10000)
  packet.header.rd = recursionDesired
  packet.questions.push(new Packet.Question(name, Packet.TYPE[type], Packet.CLASS.IN))
  return packet.toBuffer()
}

function read(reply: Buffer): Said {
  const packet = Packet.parse(reply)
  const status = statuses[packet.header.rcode] ?? `RCODE${packet.header.rcode}`
  const data = packet.answers.map(dataText).filter(text => text !== '')
  return { kind: 'answer', status, data: data.toSorted((one, other) => (one < other ? -1 : 1)) }
}

function dataText(record: (typeof Packet.prototype.answers)[number]): string {
  if (record.type === Packet.TYPE.TXT) return String(record.data)
  if (record.type === Packet.TYPE.SRV) return `${record.port} ${record.target}`
  return String(record.address ?? '')
}

function overUdp({ host, port }: Server, message: Buffer, asking: Asking): Promise<Buffer> {
  const socket = createSocket(isIPv6(host) ? 'udp6' : 'udp4')
  const answered = new Promise<Buffer>((resolve, reject) => {
    socket.once('error', reject)
    socket.on('message', reply => {
      if (isReplyTo(reply, message)) resolve(reply)
    })
    // Connected, so that nobody else can answer, and that a port that nobody has is told at once.
    socket.connect(port, host, () => socket.send(message))
  })
  return inTime(answered, asking).finally(() => socket.close())
}

function overTcp({ host, port }: Server, message: Buffer, asking: Asking): Promise<Buffer> {
  const socket = connect({ host, port })
  const answered = new Promise<Buffer>((resolve, reject) => {
    let held = Buffer.alloc(0)
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed')))
    socket.on('data', (chunk: Buffer) => {
      held = Buffer.concat([held, chunk])
      const length = held.length < 2 ? Number.POSITIVE_INFINITY : 2 + held.readUInt16BE(0)
      if (held.length >= length && isReplyTo(held.subarray(2, length), message))
        resolve(held.subarray(2, length))
    })
    const length = Buffer.alloc(2)
    length.writeUInt16BE(message.length)
    socket.write(Buffer.concat([length, message]))
  })
  return inTime(answered, asking).finally(() => socket.destroy())
}

function isReplyTo(reply: Buffer, message: Buffer): boolean {
  return reply.length >= 12 && reply.readUInt16BE(0) === message.readUInt16BE(0) && reply.readUInt8(2) >= 0x80
}

async function inTime<T>(promise: Promise<T>, { clock, timeoutMs }: Asking): Promise<T> {
  const late = Promise.withResolvers<never>()
  const cancel = clock.after(timeoutMs, () => late.reject(new Error(`no answer within ${timeoutMs} ms`)))
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    cancel()
  }
}
