/** One question to one server, as a client asks it. */
import { createSocket } from 'node:dgram'
import { connect, isIPv6 } from 'node:net'
import { Packet } from 'dns2'
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

/** Never rejects: that nobody answers is an answer too. */
export async function ask(
  server: Server,
  question: Question,
  transport: Transport,
  asking: Asking,
): Promise<Said> {
  try {
    const message = messageOf(question)
    const reply =
      transport === 'udp' ? await overUdp(server, message, asking) : await overTcp(server, message, asking)
    return read(reply)
  } catch (thrown) {
    return { kind: 'silence', why: thrown instanceof Error ? thrown.message : String(thrown) }
  }
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
