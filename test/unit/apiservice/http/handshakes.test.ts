import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { type HttpFront, httpFronts, ok } from '../../../support/http-front.ts'

const { start, close } = httpFronts()
afterEach(close)

const never = new AbortController().signal
const aFront = (limits = {}): Promise<HttpFront> =>
  start(ok, { handshakes: { handshakeMs: 60_000, maxHandshakes: 1_000, ...limits } })

async function tcp(front: HttpFront): Promise<Socket> {
  const socket = connect({ port: front.listener.port, host: '127.0.0.1' })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

describe('a connection that does not do its TLS handshake', () => {
  it.each([
    ['sends nothing', ''],
    ['stops after the head of a record', '\u0016\u0003\u0001'],
  ])('and %s is closed when its time is over', async (_, sent) => {
    const front = await aFront({ handshakeMs: 20 })
    const socket = await tcp(front)
    socket.resume().write(sent)
    await once(socket, 'close')
    expect(front.log.lines.filter(line => line.level === 'error')).toEqual([])
  })

  it('is freed when its client has gone, and holds up no end of the server', async () => {
    const front = await aFront({ handshakeMs: 20 })
    const sockets = await Promise.all(Array.from({ length: 20 }, () => tcp(front)))
    for (const socket of sockets.slice(10)) socket.destroy()
    front.listener.stop()
    await front.listener.close(never)
    await expect(tcp(front).then(socket => once(socket, 'data'))).rejects.toThrow()
  })

  it('is the one to go, the oldest first, when there are too many', async () => {
    const front = await aFront({ maxHandshakes: 2 })
    const [first, second] = [await tcp(front), await tcp(front)]
    const [firstClosed, secondClosed] = [once(first, 'close'), once(second, 'close')]
    const client = front.client('HTTP/1.1')
    expect((await client.send('/')).status).toBe(200)
    await firstClosed
    expect(second.destroyed).toBe(false)
    await tcp(front)
    await tcp(front)
    await secondClosed
    // The handshake that is done no longer counts.
    expect((await client.send('/')).status).toBe(200)
  })
})

it.each([
  ['a GET', 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a POST with its body', `POST /apis HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{"a":"b"}`],
])('%s without TLS is told what is wrong', async (_, sent) => {
  const front = await aFront()
  const socket = await tcp(front)
  socket.write(sent)
  expect(await text(socket)).toBe(
    'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
  )
})

it('a client that refuses the certificate disturbs nobody', async () => {
  const front = await aFront()
  const socket = connectTls({ port: front.listener.port, host: '127.0.0.1', ca: [] })
  const [error] = await once(socket, 'error')
  expect(String(error)).toContain('certificate')
  front.listener.stop()
  await front.listener.close(never)
})
