import { once } from 'node:events'
import { connect, type TLSSocket } from 'node:tls'

/** RFC 9113 section 6. */
export const frameTypes = { headers: 1, reset: 3, settings: 4, goAway: 7, continuation: 9 } as const
const flags = { none: 0, endStream: 1, ack: 1, endHeaders: 4 } as const
const headBytes = 9
const maxFrameSizeSetting = 5

export type Frame = {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

export type Field = readonly [name: string, value: string]

/**
 * A client that sends header fields in frames as large as the server allows, which Go's does and Node's cannot.
 * `get` sends a GET on the next stream and resolves to the first frame on that stream, or to the one that ends the
 * connection.
 */
export async function largeFramesClient(port: number) {
  const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  await once(socket, 'secureConnect')
  const frames = framesOf(socket)
  const nothing = Buffer.alloc(0)
  const settings = { type: frameTypes.settings, flags: flags.none, stream: 0, payload: nothing }
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  socket.write(toBytes(settings))
  const first = await frames.next()
  const maxFrameBytes = first.done === true ? 0 : maxFrameBytesOf(first.value.payload)
  socket.write(toBytes({ ...settings, flags: flags.ack }))
  let stream = -1
  return {
    maxFrameBytes,
    async get(fields: readonly Field[]): Promise<Frame> {
      stream += 2
      for (const one of requestFrames(fields, stream, maxFrameBytes)) socket.write(toBytes(one))
      for (;;) {
        const { done, value } = await frames.next()
        if (done === true) throw new Error('the connection ended without an answer')
        if (value.stream === stream || value.type === frameTypes.goAway) return value
      }
    },
    close: () => socket.destroy(),
  }
}

function requestFrames(fields: readonly Field[], stream: number, maxFrameBytes: number): Frame[] {
  const target: Field[] = [
    [':method', 'GET'],
    [':scheme', 'https'],
    [':path', '/'],
    [':authority', 'x'],
  ]
  const block = Buffer.concat([...target, ...fields].map(([name, value]) => literal(name, value)))
  const count = Math.ceil(block.length / maxFrameBytes)
  return Array.from({ length: count }, (_, i) => ({
    type: i === 0 ? frameTypes.headers : frameTypes.continuation,
    flags: (i === 0 ? flags.endStream : 0) | (i === count - 1 ? flags.endHeaders : 0),
    stream,
    payload: block.subarray(i * maxFrameBytes, (i + 1) * maxFrameBytes),
  }))
}

async function* framesOf(socket: TLSSocket): AsyncGenerator<Frame, undefined> {
  let received = Buffer.alloc(0)
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk])
    while (received.length >= headBytes) {
      const end = headBytes + received.readUIntBE(0, 3)
      if (received.length < end) break
      yield {
        type: received.readUInt8(3),
        flags: received.readUInt8(4),
        stream: received.readUInt32BE(5),
        payload: received.subarray(headBytes, end),
      }
      received = received.subarray(end)
    }
  }
}

function maxFrameBytesOf(settings: Buffer): number {
  for (let at = 0; at < settings.length; at += 6) {
    if (settings.readUInt16BE(at) === maxFrameSizeSetting) return settings.readUInt32BE(at + 2)
  }
  return 16 * 1024
}

function toBytes({ type, flags: bits, stream, payload }: Frame): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUIntBE(payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(bits, 4)
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** RFC 7541 section 6.2.2: a literal without indexing, with a new name. */
function literal(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0), text(name), text(value)])
}

/** RFC 7541 sections 5.1 and 5.2, without Huffman coding. */
function text(value: string): Buffer {
  const length = [Math.min(value.length, 127)]
  if (value.length >= 127) {
    let rest = value.length - 127
    for (; rest >= 128; rest >>= 7) length.push((rest & 127) | 128)
    length.push(rest)
  }
  return Buffer.concat([Buffer.from(length), Buffer.from(value, 'latin1')])
}
