// Bytes that a server in front may read as one request and we as another: what follows the first request must never be
// taken for a request of its own unless it is one.
import { afterEach, describe, expect, it } from 'vitest'
import { type HttpFront, httpFronts, withBody } from '../support/http-front.ts'
import { type Field, frameTypes, largeFramesClient } from '../support/http2-frames.ts'
import { codesOf, exchange } from '../support/raw-http.ts'

const { start, close } = httpFronts()
afterEach(close)

/** The listener with a note of what reached it, after the body has been read. */
async function front(): Promise<HttpFront & { readonly seen: string[]; readonly headers: string[] }> {
  const seen: string[] = []
  const headers: string[] = []
  const one = await start(async (request, signal) => {
    seen.push(`${request.method} ${request.path}`)
    headers.push(...request.headers.keys())
    return withBody(request, signal)
  })
  return Object.assign(one, { seen, headers })
}

const smuggled = 'DELETE /victim HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n'
const post = (...lines: readonly string[]): string =>
  ['POST /outer HTTP/1.1', 'host: x', ...lines, '', ''].join('\r\n')
const chunked = 'transfer-encoding: chunked'
const empty = '0\r\n\r\n'
const asChunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

describe('HTTP/1.1', () => {
  it.each([
    ['CL.TE', post('content-length: 5', chunked) + empty + smuggled],
    ['TE.CL', post(chunked, 'content-length: 4') + asChunk(smuggled) + empty],
    [
      'a coding before chunked',
      post('transfer-encoding: x, chunked', 'content-length: 5') + empty + smuggled,
    ],
    ['a coding that is none', post('transfer-encoding: xchunked', 'content-length: 5') + empty + smuggled],
    ['chunked in quotes', post('transfer-encoding: "chunked"', 'content-length: 5') + empty + smuggled],
    ['a space before the colon', post('transfer-encoding : chunked', 'content-length: 5') + empty + smuggled],
    ['a tab before the colon', post('transfer-encoding\t: chunked', 'content-length: 5') + empty + smuggled],
    ['a space before the name', post(' transfer-encoding: chunked', 'content-length: 5') + empty + smuggled],
    [
      'a vertical tab before the value',
      post('transfer-encoding: \u000bchunked', 'content-length: 5') + empty + smuggled,
    ],
    ['a NUL in the value', post('transfer-encoding: chunked\u0000', 'content-length: 5') + empty + smuggled],
    [
      'a control character in the name',
      post('transfer-encoding\u0001: chunked', 'content-length: 5') + empty + smuggled,
    ],
    ['two codings', post(chunked, 'transfer-encoding: identity') + empty + smuggled],
    ['chunked twice', post(chunked, chunked, 'content-length: 5') + empty + smuggled],
    ['chunked and then identity', post('transfer-encoding: chunked, identity') + empty + smuggled],
    ['identity and a length', post('transfer-encoding: identity', 'content-length: 5') + empty + smuggled],
    [
      'a coding on a folded line',
      post('transfer-encoding:', ' chunked', 'content-length: 5') + empty + smuggled,
    ],
    [
      'a coding behind a bare LF',
      post('x: y\ntransfer-encoding: chunked', 'content-length: 5') + empty + smuggled,
    ],
    [
      'a coding behind a bare CR',
      post('x: y\rtransfer-encoding: chunked', 'content-length: 5') + empty + smuggled,
    ],
    ['two lengths', post('content-length: 0', `content-length: ${smuggled.length}`) + smuggled],
    ['two lengths in one line', post(`content-length: 0, ${smuggled.length}`) + smuggled],
    ['the same length twice', post('content-length: 5', 'content-length: 5') + empty + smuggled],
    ['a length with a sign', post('content-length: +5') + empty + smuggled],
    ['a length below zero', post('content-length: -5') + empty + smuggled],
    ['a length in hex', post('content-length: 0x5') + empty + smuggled],
    ['a length with a fraction', post('content-length: 5.0') + empty + smuggled],
    ['a length of two numbers', post('content-length: 5 5') + empty + smuggled],
    ['a length beyond 64 bits', post('content-length: 18446744073709551621') + empty + smuggled],
    ['an empty length', post('content-length:') + empty + smuggled],
    ['a chunk size with a sign', `${post(chunked)}+5\r\nhello\r\n${empty}${smuggled}`],
    ['a chunk size in hex with its mark', `${post(chunked)}0x5\r\nhello\r\n${empty}${smuggled}`],
    ['a chunk size with a space', `${post(chunked)}5 \r\nhello\r\n${empty}${smuggled}`],
    ['a chunk size beyond 64 bits', `${post(chunked)}10000000000000005\r\nhello\r\n${empty}${smuggled}`],
    ['an empty chunk size', `${post(chunked)}\r\nhello\r\n${empty}${smuggled}`],
    ['a chunk longer than its size', `${post(chunked)}5\r\nhelloX\r\n${empty}${smuggled}`],
    ['a chunk that ends with a bare LF', `${post(chunked)}5\r\nhello\n${empty}${smuggled}`],
    ['a chunk size that ends with a bare LF', `${post(chunked)}5\nhello\r\n${empty}${smuggled}`],
    ['a chunk extension with a bare LF', `${post(chunked)}5;a\nhello\r\n${empty}${smuggled}`],
    [
      'a chunk extension of 64 KiB',
      `${post(chunked)}5;${'a'.repeat(65_536)}\r\nhello\r\n${empty}${smuggled}`,
    ],
    [
      'ten thousand chunk extensions',
      `${post(chunked)}5${';a=b'.repeat(10_000)}\r\nhello\r\n${empty}${smuggled}`,
    ],
    ['lines that end with a bare LF', `POST /outer HTTP/1.1\nhost: x\ncontent-length: 5\n\nhello${smuggled}`],
    ['lines that end with a bare CR', `POST /outer HTTP/1.1\rhost: x\rcontent-length: 5\r\rhello${smuggled}`],
    ['a header without a colon', post('x', 'content-length: 5') + empty + smuggled],
    ['a header without a name', post(': y', 'content-length: 5') + empty + smuggled],
    [
      'a target with a space',
      `POST /outer /victim HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n${empty}${smuggled}`,
    ],
    ['another version', `POST /outer HTTP/2.0\r\nhost: x\r\ncontent-length: 5\r\n\r\n${empty}${smuggled}`],
    ['HTTP/0.9', `GET /outer\r\n${smuggled}`],
    ['chunks of HTTP/1.0', `POST /outer HTTP/1.0\r\n${chunked}\r\n\r\n${empty}${smuggled}`],
  ])('%s', async (_, sent) => {
    const { listener, seen } = await front()
    expect(codesOf(await exchange(listener.port, sent))).toEqual([400])
    expect(seen).not.toContain('DELETE /victim')
  })

  it.each([
    ['a length', post('content-length: 5') + empty + smuggled],
    ['chunks', post(chunked) + asChunk('hello') + empty + smuggled],
    ['chunks with an extension', `${post(chunked)}5;a="b"\r\nhello\r\n${empty}${smuggled}`],
    ['chunks, whatever the case', post('Transfer-Encoding: Chunked') + asChunk('hello') + empty + smuggled],
    [
      'chunks and a trailer',
      `${post(chunked)}${asChunk('hello')}0\r\nx-remote-user: root\r\n\r\n${smuggled}`,
    ],
    ['no body', post() + smuggled],
  ])('a request with %s ends where it ends, and the next one is one', async (_, sent) => {
    const { listener, seen, headers } = await front()
    expect(codesOf(await exchange(listener.port, sent))).toEqual([200, 200])
    expect(seen).toEqual(['POST /outer', 'DELETE /victim'])
    expect(headers).not.toContain('x-remote-user')
  })

  it('what follows a request for HTTP/2 without TLS is not read at all', async () => {
    const { listener, seen } = await front()
    const upgrade = post(
      'connection: upgrade, http2-settings',
      'upgrade: h2c',
      'http2-settings: AAMAAABkAAQAAP__',
    )
    expect(codesOf(await exchange(listener.port, upgrade + smuggled, { ends: 'answered' }))).toEqual([200])
    expect(seen).toEqual(['POST /outer'])
  })

  it('a body that has not come is no request', async () => {
    const { listener, seen } = await front()
    const sent = post('content-length: 1000') + smuggled
    expect(codesOf(await exchange(listener.port, sent, { ends: 'sent' }))).toEqual([400])
    expect(seen).toEqual(['POST /outer'])
  })

  it('what is sent as a body stays one, whatever it looks like', async () => {
    const { listener, seen } = await front()
    const sent =
      post(`content-length: ${smuggled.length}`) +
      smuggled +
      post('connection: close', chunked) +
      asChunk(smuggled) +
      empty
    expect(codesOf(await exchange(listener.port, sent))).toEqual([200, 200])
    expect(seen).toEqual(['POST /outer', 'POST /outer'])
  })
})

describe('HTTP/2', () => {
  it.each<[string, readonly Field[]]>([
    ['a coding', [['transfer-encoding', 'chunked']]],
    ['a field of the connection', [['connection', 'keep-alive']]],
    ['keep-alive', [['keep-alive', 'timeout=5']]],
    ['a proxy connection', [['proxy-connection', 'close']]],
    ['an upgrade', [['upgrade', 'h2c']]],
    ['te', [['te', 'gzip']]],
    ['a length without a body', [['content-length', '5']]],
    [
      'two lengths',
      [
        ['content-length', '0'],
        ['content-length', '5'],
      ],
    ],
    ['upper case', [['X-Remote-User', 'root']]],
    ['a second path', [[':path', '/victim']]],
    ['a second method', [[':method', 'DELETE']]],
    ['a second authority', [[':authority', 'y']]],
    ['a pseudo field of answers', [[':status', '200']]],
    ['a pseudo field that nobody knows', [[':user', 'root']]],
    [
      'a pseudo field behind a field',
      [
        ['x', 'y'],
        [':protocol', 'websocket'],
      ],
    ],
  ])('%s is no request', async (_, fields) => {
    const { listener, seen } = await front()
    const client = await largeFramesClient(listener.port)
    const answer = await client.get(fields)
    client.close()
    expect([frameTypes.reset, frameTypes.goAway]).toContain(answer.type)
    expect(seen).toEqual([])
  })

  it.each<[string, readonly Field[]]>([
    ['a line end in a name', [['x\r\nx-remote-user', 'root']]],
    ['a line end in a value', [['x', 'y\r\nx-remote-user: root']]],
    ['a bare LF in a value', [['x', 'y\nx-remote-user: root']]],
    ['a NUL in a value', [['x', 'y\u0000z']]],
    ['a colon in a name', [['x-remote-user: root', 'y']]],
    ['a space in a name', [['x remote-user', 'root']]],
    ['no name', [['', 'root']]],
  ])('%s: the field is not there', async (_, fields) => {
    const { listener, seen, headers } = await front()
    const client = await largeFramesClient(listener.port)
    expect(await client.get(fields)).toMatchObject({ type: frameTypes.headers })
    client.close()
    expect(seen).toEqual(['GET /'])
    expect(headers).toEqual([])
  })
})
