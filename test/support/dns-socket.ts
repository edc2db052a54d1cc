/** Sockets that speak DNS to a server under test. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { framed } from './dns-message.ts'

/** Sends datagrams from one port and gathers what comes back. */
export async function udpClient(port: number, host = '127.0.0.1') {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
  const replies: Buffer[] = []
  const waiting: ((reply: Buffer) => void)[] = []
  socket.on('message', reply => {
    const next = waiting.shift()
    if (next === undefined) replies.push(reply)
    else next(reply)
  })
  await new Promise<void>(resolve => socket.bind(0, host, () => resolve()))
  return {
    port: socket.address().port,
    replies,
    send: (message: Buffer): void => socket.send(message, port, host),
    next: (): Promise<Buffer> => {
      const reply = replies.shift()
      return reply === undefined ? new Promise(resolve => waiting.push(resolve)) : Promise.resolve(reply)
    },
    /** The reply to this message. */
    ask(message: Buffer): Promise<Buffer> {
      this.send(message)
      return this.next()
    },
    close: (): Promise<void> => new Promise(resolve => socket.close(() => resolve())),
  }
}

export type TcpClient = {
  readonly socket: Socket
  /** Whole messages that came and were not asked for yet. */
  readonly replies: Buffer[]
  next(): Promise<Buffer>
  ask(message: Buffer): Promise<Buffer>
  /** Resolves when the server has closed its side, or reset the connection. */
  readonly closed: Promise<void>
}

/** A connection that takes messages apart. */
export async function tcpClient(
  port: number,
  options: { readonly host?: string; readonly from?: string; readonly allowHalfOpen?: boolean } = {},
): Promise<TcpClient> {
  const socket = connect({
    port,
    host: options.host ?? '127.0.0.1',
    ...(options.from === undefined ? {} : { localAddress: options.from }),
    allowHalfOpen: options.allowHalfOpen ?? false,
  })
  const replies: Buffer[] = []
  const waiting: ((reply: Buffer) => void)[] = []
  let held = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    held = Buffer.concat([held, chunk])
    while (held.length >= 2 && held.length >= 2 + held.readUInt16BE(0)) {
      const reply = held.subarray(2, 2 + held.readUInt16BE(0))
      held = held.subarray(2 + reply.length)
      const next = waiting.shift()
      if (next === undefined) replies.push(reply)
      else next(reply)
    }
  })
  const closed = new Promise<void>(resolve => {
    socket.once('end', () => resolve())
    socket.once('close', () => resolve())
    socket.on('error', () => resolve())
  })
  await once(socket, 'connect')
  const next = (): Promise<Buffer> => {
    const reply = replies.shift()
    return reply === undefined ? new Promise(resolve => waiting.push(resolve)) : Promise.resolve(reply)
  }
  return {
    socket,
    replies,
    next,
    closed,
    ask(message) {
      socket.write(framed(message))
      return next()
    },
  }
}
