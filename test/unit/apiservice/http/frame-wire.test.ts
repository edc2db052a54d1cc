import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { writeFrames } from '../../../../apiservice/http/frame-wire.ts'

let server: Server
let client: Socket
let received: string
const ignore = (): void => undefined

beforeEach(async () => {
  server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  client = connect(address !== null && typeof address === 'object' ? address.port : 0, '127.0.0.1')
  received = ''
  client.on('data', data => {
    received += data.toString('latin1')
  })
  await once(client, 'connect')
})

afterEach(() => {
  client.destroy()
  server.close()
})

/** The answer to a request, its head sent. */
async function answerTo(head: string): Promise<ServerResponse> {
  const asked = new Promise<ServerResponse>(resolve => {
    server.once('request', (_, response) => resolve(response))
  })
  client.write(`${head}\r\nhost: h\r\n\r\n`)
  const response = await asked
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
  return response
}

async function bodyWhen(isWhole: (body: string) => boolean): Promise<string> {
  const body = (): string => received.slice(received.indexOf('\r\n\r\n') + 4)
  while (!isWhole(body())) await once(client, 'data')
  return body()
}

it('frames are one chunk, and what comes by the response follows them', async () => {
  const response = await answerTo('GET / HTTP/1.1')
  const frames = Buffer.from('0123456789abcdef')
  expect(writeFrames(response, frames, ignore)).toBe(true)
  writeFrames(response, frames, ignore)
  response.write('by itself')
  response.end()
  const body = await bodyWhen(text => text.endsWith('0\r\n\r\n'))
  const chunk = '10\r\n0123456789abcdef\r\n'
  expect(body).toBe(`${chunk}${chunk}9\r\nby itself\r\n0\r\n\r\n`)
})

it('a client of HTTP/1.0 gets no chunks', async () => {
  const response = await answerTo('GET / HTTP/1.0')
  writeFrames(response, Buffer.from('frame'), ignore)
  response.end()
  expect(await bodyWhen(text => text.length > 0)).toBe('frame')
})

it('an answer waits for the one before it on the connection', async () => {
  const first = await answerTo('GET /first HTTP/1.1')
  const second = await answerTo('GET /second HTTP/1.1')
  writeFrames(second, Buffer.from('second'), ignore)
  writeFrames(first, Buffer.from('first'), ignore)
  first.end()
  writeFrames(second, Buffer.from('third'), ignore)
  second.end()
  const body = await bodyWhen(text => text.endsWith('third\r\n0\r\n\r\n'))
  expect(body.indexOf('first')).toBeLessThan(body.indexOf('HTTP/1.1 200'))
  expect(body.indexOf('HTTP/1.1 200')).toBeLessThan(body.indexOf('6\r\nsecond\r\n'))
})

it('tells when a full connection takes more, each time once', async () => {
  const response = await answerTo('GET / HTTP/1.1')
  client.pause()
  const frames = Buffer.alloc(1_000_000, 'x')
  let calls = 0
  const drained = Promise.withResolvers<void>()
  const onDrain = (): void => {
    calls++
    drained.resolve()
  }
  let written = 1
  while (writeFrames(response, frames, onDrain)) written++
  client.resume()
  await drained.promise
  response.end()
  await bodyWhen(text => text.endsWith('\r\n0\r\n\r\n'))
  expect(received.length).toBeGreaterThan(written * frames.length)
  expect(calls).toBe(1)
})
