import { once } from 'node:events'
import { createServer, type Http2Server, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer as createSilentServer } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GrpcChannel, grpcCode, type Method } from '../../../../../apiservice/store/etcd/grpc.ts'
import { systemClock } from '../../../../../src/kernel/clock.ts'
import { eventually } from '../../../../support/eventually.ts'

const echo: Method<string, string> = {
  path: '/test.Echo/Say',
  requestSerialize: text => Buffer.from(text),
  responseDeserialize: bytes => bytes.toString(),
}

/** What the server does with a call: answers with a text, or leaves it alone. */
type Behaviour = (session: Http2Session | undefined) => string | undefined | Promise<string>

let server: Http2Server
let url: URL
let behave: Behaviour
let read = 0
const sessions: Http2Session[] = []

function channel(): GrpcChannel {
  return new GrpcChannel({
    server: url,
    clock: systemClock,
    tls: () => {
      read++
      return {}
    },
  })
}

function reply(stream: ServerHttp2Stream, text: string | undefined): void {
  if (text === undefined) return
  stream.respond({ ':status': 200, 'content-type': 'application/grpc' }, { waitForTrailers: true })
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
  const head = Buffer.alloc(5)
  head.writeUInt32BE(text.length, 1)
  stream.end(Buffer.concat([head, Buffer.from(text)]))
}

async function listen(port = 0): Promise<void> {
  server = createServer()
  server.on('session', session => sessions.push(session))
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.on('error', () => undefined)
    stream.resume()
    void Promise.resolve(behave(stream.session)).then(text => reply(stream, text))
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  url = new URL(`http://127.0.0.1:${address.port}`)
}

async function shut(): Promise<void> {
  for (const session of sessions.splice(0)) session.destroy()
  if (!server.listening) return
  server.close()
  await once(server, 'close')
}

beforeEach(async () => {
  read = 0
  behave = () => 'heard'
  await listen()
})
afterEach(shut)

describe('a channel', () => {
  it('carries a question and its answer', async () => {
    const open = channel()
    expect(await open.call(echo, 'hello', 5_000)).toBe('heard')
    open.drop()
  })

  it('knows what has surely not happened', async () => {
    await shut()
    await expect(channel().call(echo, 'hello', 5_000)).rejects.toMatchObject({
      code: grpcCode.unavailable,
      mayHaveHappened: false,
    })
  })

  it('does not know what has come of a call whose connection is lost', async () => {
    behave = session => {
      session?.destroy()
      return undefined
    }
    await expect(channel().call(echo, 'hello', 5_000)).rejects.toMatchObject({
      code: grpcCode.unavailable,
      mayHaveHappened: true,
    })
  })

  it('does not wait longer than it is told', async () => {
    behave = () => undefined
    const open = channel()
    await expect(open.call(echo, 'hello', 200)).rejects.toMatchObject({
      code: grpcCode.deadlineExceeded,
      mayHaveHappened: true,
    })
    open.drop()
  })

  it('waits for the other calls when one is late', async () => {
    const later = Promise.withResolvers<string>()
    const answers = [undefined, later.promise]
    behave = () => answers.shift()
    const open = channel()
    const late = open.call(echo, 'hello', 500)
    const other = open.call(echo, 'hello', 60_000)
    await expect(late).rejects.toMatchObject({ code: grpcCode.deadlineExceeded })
    later.resolve('heard at last')
    expect(await other).toBe('heard at last')
    behave = () => 'heard'
    expect(await open.call(echo, 'hello', 5_000)).toBe('heard')
    // The late one may have waited for a connection that is gone.
    expect(read).toBe(2)
    open.drop()
  })

  it('knows that what waits for a connection that is given up has not happened', async () => {
    const silent = createSilentServer()
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo // it listens on TCP
    const open = new GrpcChannel({
      server: new URL(`http://127.0.0.1:${port}`),
      clock: systemClock,
      tls: () => ({}),
    })
    const late = open.call(echo, 'hello', 500)
    const other = open.call(echo, 'hello', 60_000)
    await expect(late).rejects.toMatchObject({ code: grpcCode.deadlineExceeded })
    await expect(other).rejects.toMatchObject({ code: grpcCode.unavailable, mayHaveHappened: false })
    open.drop()
    silent.close()
  })

  it('has surely not begun when its files cannot be read', async () => {
    const open = new GrpcChannel({
      server: url,
      clock: systemClock,
      tls: () => {
        throw new Error('no such file')
      },
    })
    await expect(open.call(echo, 'hello', 5_000)).rejects.toMatchObject({
      name: 'GrpcError',
      code: grpcCode.unavailable,
      message: 'no such file',
      mayHaveHappened: false,
    })
  })

  it('ends its calls when it is dropped', async () => {
    behave = () => undefined
    const open = channel()
    const ended: unknown[] = []
    open.open(echo, { message: () => undefined, end: error => ended.push(error) })
    const call = open.call(echo, 'hello', 60_000)
    await eventually(() => expect(sessions).toHaveLength(1))
    open.drop()
    await expect(call).rejects.toMatchObject({ code: grpcCode.unavailable, mayHaveHappened: true })
    await eventually(() => expect(ended).toMatchObject([{ code: grpcCode.unavailable }]))
  })

  it('reads its files again for a connection that is made again', async () => {
    const open = channel()
    await open.call(echo, 'hello', 5_000)
    await open.call(echo, 'hello', 5_000)
    expect(read).toBe(1)
    const { port } = url
    await shut()
    await expect(open.call(echo, 'hello', 5_000)).rejects.toMatchObject({ code: grpcCode.unavailable })
    await listen(Number(port))
    expect(await open.call(echo, 'hello', 5_000)).toBe('heard')
    expect(read).toBe(2)
    open.drop()
  })
})
