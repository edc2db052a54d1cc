import { once } from 'node:events'
import { connect as connectHttp2, constants } from 'node:http2'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { listen } from '../../../../apiservice/http/listener.ts'
import { issueServing, makeAuthority } from '../../../../src/identity/certificate.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { silentLogger } from '../../../../src/kernel/log.ts'
import { protocols } from '../../../support/api-client.ts'
import { type HttpFront, httpFronts, lifetime, ok, recording, withBody } from '../../../support/http-front.ts'
import { type Field, frameTypes, largeFramesClient } from '../../../support/http2-frames.ts'

const { start: aFront, close } = httpFronts()
afterEach(close)

describe('malformed requests over HTTP/1.1', () => {
  const asStatus = (response: string) => {
    const [head = '', body = ''] = response.split('\r\n\r\n')
    return { line: head.split('\r\n')[0], head, status: JSON.parse(body) }
  }

  it.each([
    ['garbage', 'nonsense\r\n\r\n', 400],
    ['an unknown version', 'GET / HTTP/9.9\r\n\r\n', 400],
    ['a control character in a header', 'GET / HTTP/1.1\r\nhost: x\r\na: b\u0001c\r\n\r\n', 400],
    ['two lengths', 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n', 400],
    [
      'a length and chunks',
      'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      400,
    ],
    ['headers above 1 MiB', `GET / HTTP/1.1\r\nhost: x\r\na: ${'x'.repeat(1_100_000)}\r\n\r\n`, 431],
    ['no host', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['a tunnel', 'CONNECT x:443 HTTP/1.1\r\nhost: x\r\n\r\n', 405],
  ])('%s is answered with a Status, and the server lives on', async (_, sent, code) => {
    const front = await aFront(ok)
    const { line, head, status } = asStatus(await exchange(front, sent))
    expect(line).toMatch(new RegExp(`^HTTP/1.1 ${code} `))
    expect(head.toLowerCase()).toContain('content-type: application/json')
    expect(head).toMatch(/^audit-id: [-\da-f]{36}$/im)
    expect(status).toMatchObject({ kind: 'Status', apiVersion: 'v1', status: 'Failure', code })
    expect((await front.client('HTTP/1.1').send('/')).status).toBe(200)
  })

  it.each([
    ['the absolute form', 'GET https://host.test/version?a=b HTTP/1.1', '/version'],
    ['the absolute form without a path', 'GET http://host.test HTTP/1.1', '/'],
    ['the asterisk form', 'OPTIONS * HTTP/1.1', '*'],
  ])('%s of a target is understood', async (_, requestLine, path) => {
    const { requests, responder } = recording()
    const front = await aFront(responder)
    await exchange(front, `${requestLine}\r\nhost: x\r\nconnection: close\r\n\r\n`)
    expect(requests[0]?.path).toBe(path)
  })

  it('headers just below 1 MiB are read', async () => {
    const { requests, responder } = recording()
    const front = await aFront(responder)
    const value = 'x'.repeat(1_000_000)
    await front.client('HTTP/1.1').send('/', { headers: { 'x-long': value } })
    expect(requests[0]?.headers.get('x-long')).toEqual([value])
  })

  it('a connection that ends halfway through a request disturbs nobody', async () => {
    const front = await aFront(withBody)
    const socket = await tls(front)
    socket.write('POST /apis/g/v1/foos HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf')
    socket.destroy()
    expect((await front.client('HTTP/1.1').send('/', { method: 'POST', body: 'x' })).json).toEqual({
      length: 1,
    })
  })

  it('bytes that are no TLS disturb nobody', async () => {
    const front = await aFront(ok)
    const socket = connect(front.listener.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.resume().write('DELETE / HTTP/1.1\r\n\r\n')
    await once(socket, 'close')
    expect((await front.client('HTTP/2').send('/')).status).toBe(200)
  })
})

it.each([
  ['a request that is no HTTP', 'nonsense\r\n\r\n'],
  ['a refused request that it goes on with', 'GET / HTTP/9.9\r\n\r\n', 'more\r\n'],
  ['the last request of a connection', 'GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'],
])('a client that leaves its end open after %s is cut off', async (_, sent, more = '') => {
  const front = await aFront(ok, { lingerMs: 20 })
  const socket = await tls(front, 'http/1.1', true)
  socket.resume().write(sent)
  await once(socket, 'end')
  expect(socket.writable).toBe(true)
  socket.write(more)
  front.listener.stop()
  await front.listener.close(new AbortController().signal)
  socket.destroy()
})

describe.each(protocols)('%s', protocol => {
  it('takes many header lines and many groups', async () => {
    const { requests, responder } = recording()
    const client = (await aFront(responder)).client(protocol)
    const groups = Array.from({ length: 12_000 }, (_, i) => `group-${i}`)
    await client.send('/', { headers: { 'x-remote-group': groups } })
    expect(requests[0]?.headers.get('x-remote-group')).toEqual(groups)
  })

  it('answers a request that expects what nobody knows', async () => {
    const client = (await aFront(ok)).client(protocol)
    expect((await client.send('/', { headers: { expect: 'a-wonder' } })).status).toBe(200)
  })
})

describe('HTTP/2', () => {
  it('answers a CONNECT like any other request', async () => {
    const { requests, responder } = recording()
    const session = connectHttp2((await aFront(responder)).url, { rejectUnauthorized: false })
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'x' })
    const [headers] = await once(stream, 'response')
    expect(headers).toMatchObject({ ':status': 200, 'audit-id': expect.stringMatching(/^[-\da-f]{36}$/) })
    expect(requests[0]).toMatchObject({ method: 'CONNECT', path: '' })
    session.destroy()
  })

  const fields = (count: number): Field[] =>
    Array.from({ length: count }, (_, i) => [`x-${i}`, 'x'.repeat(50_000)])

  it('takes headers of almost 1 MiB', async () => {
    const { requests, responder } = recording()
    const client = await largeFramesClient((await aFront(responder)).listener.port)
    expect(await client.get(fields(20))).toMatchObject({ type: frameTypes.headers })
    expect(requests[0]?.headers.get('x-19')).toEqual(['x'.repeat(50_000)])
    client.close()
  })

  it('refuses headers above 1 MiB, and the connection lives on', async () => {
    const client = await largeFramesClient((await aFront(ok)).listener.port)
    const refused = await client.get(fields(22))
    expect(refused.type).toBe(frameTypes.reset)
    expect(refused.payload.readUInt32BE(0)).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM)
    expect(await client.get(fields(1))).toMatchObject({ type: frameTypes.headers })
    client.close()
  })

  it.each([
    [
      'without a path',
      { [constants.HTTP2_HEADER_METHOD]: 'CONNECT', [constants.HTTP2_HEADER_AUTHORITY]: 'x' },
    ],
    ['that is reset at once', { [constants.HTTP2_HEADER_PATH]: '/' }],
  ])('a stream %s disturbs nobody', async (_, headers) => {
    const front = await aFront(ok)
    const session = connectHttp2(front.url, { ca: front.authority.certificate })
    session.on('error', () => undefined)
    const stream = session.request(headers)
    stream.on('error', () => undefined)
    stream.close(constants.NGHTTP2_CANCEL)
    await once(stream, 'close')
    session.destroy()
    expect((await front.client('HTTP/2').send('/')).status).toBe(200)
  })
})

describe('random bytes inside TLS', () => {
  const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
  const start = Buffer.from('POST /apis HTTP/1.1\r\nhost: x\r\n')

  it.each([
    ['h2', preface],
    ['http/1.1', start],
  ] as const)('over %s disturb nobody', async (protocol, beginning) => {
    const front = await aFront(withBody)
    const inputs = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 300 }), { numRuns: 60, seed: 7 })
    for (const input of inputs) {
      const socket = await tls(front, protocol)
      socket.end(Buffer.concat([beginning, input]))
      socket.resume()
      await once(socket, 'close')
    }
    for (const one of ['HTTP/1.1', 'HTTP/2'] as const) {
      expect((await front.client(one).send('/', { method: 'POST', body: 'x' })).json).toEqual({ length: 1 })
    }
  })
})

describe('the listener', () => {
  it('says in one sentence that a port is in use', async () => {
    const front = await aFront(ok)
    const authority = await makeAuthority('other', lifetime)
    const serving = await issueServing(authority, ['127.0.0.1'], lifetime)
    const again = listen({
      host: '127.0.0.1',
      port: front.listener.port,
      tls: { cert: serving.certificate, key: serving.key, clientCa: [] },
      clock: systemClock,
      log: silentLogger,
      handle: () => undefined,
    })
    await expect(again).rejects.toThrow(
      `cannot listen on 127.0.0.1 port ${front.listener.port}: the port is in use by another process`,
    )
  })

  it('shows new connections a new certificate, and keeps the open ones', async () => {
    const front = await aFront(ok)
    const before = await tls(front)
    const authority = await makeAuthority('rotated', lifetime)
    const serving = await issueServing(authority, ['127.0.0.1'], lifetime)
    front.listener.setSecureContext({ cert: serving.certificate, key: serving.key, clientCa: [] })
    const after = await tls(front)
    expect(before.getPeerCertificate().issuer.CN).toBe('test')
    expect(after.getPeerCertificate().issuer.CN).toBe('rotated')
    before.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(String((await once(before, 'data'))[0])).toMatch(/^HTTP\/1.1 200/)
    before.destroy()
    after.destroy()
  })

  it('speaks no TLS below 1.2', async () => {
    const front = await aFront(ok)
    const socket = connectTls({
      port: front.listener.port,
      host: '127.0.0.1',
      rejectUnauthorized: false,
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
    })
    const [error] = await once(socket, 'error')
    expect(String(error)).toMatch(/protocol|version|alert/i)
  })
})

async function tls(front: HttpFront, protocol = 'http/1.1', allowHalfOpen = false) {
  const socket = connectTls({
    port: front.listener.port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: [protocol],
    // Not in the types.
    ...{ allowHalfOpen },
  })
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return socket
}

/** Sends bytes and reads until the server closes. */
async function exchange(front: HttpFront, sent: string): Promise<string> {
  const socket = await tls(front)
  socket.write(sent)
  let received = ''
  socket.setEncoding('utf8').on('data', text => {
    received += text
  })
  await once(socket, 'close')
  return received
}
