import { gunzipSync, gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from 'vitest'
import type { Reply, Responder } from '../../../../apiservice/contract.ts'
import { recovery } from '../../../../apiservice/http/recover.ts'
import { render } from '../../../../apiservice/negotiation/stage.ts'
import { issueClient } from '../../../../src/identity/certificate.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { prometheus } from '../../../../src/telemetry/prometheus.ts'
import { protocols } from '../../../support/api-client.ts'
import { eventually } from '../../../support/eventually.ts'
import { bytes, httpFronts, lifetime, ok, recording, withBody } from '../../../support/http-front.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { aWidget, widgets } from '../../../support/widget.ts'

const { start: aFront, close } = httpFronts()
afterEach(close)

function* generated(slices: readonly Buffer[]): Generator<Buffer, number> {
  yield* slices
  return 5
}

describe.each(protocols)('over %s', protocol => {
  it('a request is read whole: path decoded once, query, headers line by line in UTF-8', async () => {
    const { requests, responder } = recording()
    const client = (await aFront(responder)).client(protocol)
    await client.send('/apis/g/v1/foos/a%2520b%3Ac?x=1&x=2&y=a+b', {
      headers: {
        'x-group': ['one, still one', 'two'],
        'x-name': Buffer.from('žlutý', 'utf8').toString('latin1'),
      },
    })
    const [request] = requests
    expect(request).toMatchObject({
      method: 'GET',
      path: '/apis/g/v1/foos/a%20b:c',
      info: { verb: 'get', name: 'a%20b:c' },
      peer: { address: '127.0.0.1', certificates: [] },
      user: { name: 'system:anonymous' },
    })
    expect(request?.query.getAll('x')).toEqual(['1', '2'])
    expect(request?.query.get('y')).toBe('a b')
    expect(request?.headers.get('x-group')).toEqual(['one, still one', 'two'])
    expect(request?.headers.get('x-name')).toEqual(['žlutý'])
  })

  it('a request is read by its own headers, whatever came before it on the connection', async () => {
    const { requests, responder } = recording()
    const client = (await aFront(responder)).client(protocol)
    const long = 'x'.repeat(9_000)
    const sent: readonly Readonly<Record<string, string | string[]>>[] = [
      { authorization: 'Bearer aaa' },
      { authorization: 'Bearer aaa' },
      { authorization: 'Bearer aab' },
      {},
      { authorization: 'Bearer aaa' },
      { authorizatiom: 'Bearer aaa' },
      { 'x-remote-user': 'ada', 'x-remote-group': ['dev', 'ops'] },
      { 'x-remote-user': 'ada', 'x-remote-group': ['ops', 'dev'] },
      { 'x-remote-user': 'bob', 'x-remote-group': ['ops', 'dev'] },
      { 'x-long': long },
      { 'x-long': `${long.slice(1)}y` },
      { authorization: 'Bearer aaa' },
    ]
    for (const headers of sent) await client.send('/apis/g/v1/foos', { headers })
    const names = ['authorization', 'authorizatiom', 'x-remote-user', 'x-remote-group', 'x-long']
    expect(requests.map(({ headers }) => names.map(name => headers.get(name)))).toEqual(
      sent.map(headers =>
        names.map(name => {
          const value = headers[name]
          return typeof value === 'string' ? [value] : value
        }),
      ),
    )
    expect(new Set(requests.map(({ peer }) => peer)).size).toBe(1)
  })

  it('names of 253 characters, and query strings of tens of KB', async () => {
    const { requests, responder } = recording()
    const client = (await aFront(responder)).client(protocol)
    const name = 'n'.repeat(253)
    const selector = `k in (${'v,'.repeat(20_000)}v)`
    await client.send(`/apis/g/v1/foos/${name}?labelSelector=${encodeURIComponent(selector)}`)
    expect(requests[0]?.info).toMatchObject({ name })
    expect(requests[0]?.query.get('labelSelector')).toBe(selector)
  })

  it.each(['PROPFIND', 'OPTIONS', 'TRACE', 'QUERY'])('the method %s arrives like any other', async method => {
    const { requests, responder } = recording()
    const client = (await aFront(responder)).client(protocol)
    const answer = await client.send('/apis/g/v1/foos', { method })
    expect(answer.status).toBe(200)
    expect(requests[0]).toMatchObject({ method, info: { verb: '' } })
  })

  it('a body of any content type is handed on as it is, also one that looks poisoned', async () => {
    const client = (await aFront(withBody)).client(protocol)
    for (const type of [
      'application/json',
      'text/plain',
      'nonsense;;',
      'application/x-www-form-urlencoded',
    ]) {
      const body = '{"__proto__":{"constructor":1}}'
      const answer = await client.send('/apis/g/v1/foos', {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
      expect(answer.json).toEqual({ length: body.length })
    }
  })

  it('a body of 3 MiB is read, one byte more is 413, and the connection goes on', async () => {
    const client = (await aFront(withBody)).client(protocol)
    const limit = 3 * 1024 * 1024
    const send = (size: number) =>
      client.send('/apis/g/v1/foos', { method: 'POST', body: Buffer.alloc(size) })
    expect((await send(limit)).json).toEqual({ length: limit })
    expect((await send(limit + 1)).json).toMatchObject({
      kind: 'Status',
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: 'Request entity too large: limit is 3145728',
    })
    expect((await send(1)).json).toEqual({ length: 1 })
  })

  it('a path that is not properly encoded is a Status', async () => {
    const client = (await aFront(ok)).client(protocol)
    const answer = await client.send('/apis/%zz')
    expect(answer).toMatchObject({ status: 400, json: { kind: 'Status', reason: 'BadRequest', code: 400 } })
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
      'audit-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('every response carries Audit-Id and Cache-Control, and those of the reply win', async () => {
    const client = (await aFront(async () => bytes('', 200, { 'cache-control': 'public' }))).client(protocol)
    const answer = await client.send('/', { headers: { 'audit-id': 'from-client' } })
    expect(answer.headers).toMatchObject({ 'audit-id': 'from-client', 'cache-control': 'public' })
    const other = (await aFront(ok)).client(protocol)
    expect((await other.send('/')).headers).toMatchObject({ 'cache-control': 'no-cache, private' })
  })

  it('a text of bytes is sent as they are', async () => {
    const text = '{"name":"ü€😀"}\n'
    const body = Buffer.from(text).toString('latin1')
    const client = (await aFront(async () => ({ ...bytes(''), body, encoding: 'latin1' }))).client(protocol)
    const answer = await client.send('/')
    expect(answer.body.toString()).toBe(text)
    expect(answer.headers['content-length']).toBe(String(body.length))
  })

  it('warnings become header lines', async () => {
    const client = (
      await aFront(async request => {
        request.warn('unknown field "spec.x"')
        request.warn('g/v1beta1 Foo is deprecated')
        return bytes('{}')
      })
    ).client(protocol)
    const { headers } = await client.send('/')
    expect(headers.warning).toBe('299 - "unknown field \\"spec.x\\"", 299 - "g/v1beta1 Foo is deprecated"')
  })

  it('HEAD answers the head of GET', async () => {
    const client = (await aFront(async () => bytes('{"a":1}\n'))).client(protocol)
    const answer = await client.send('/version', { method: 'HEAD' })
    expect([answer.status, answer.headers['content-length'], answer.body.length]).toEqual([200, '8', 0])
  })

  it('a body above 128 KiB is compressed for those who take gzip, a shorter one is not', async () => {
    const long = JSON.stringify({ text: 'x'.repeat(200_000) })
    const short = JSON.stringify({ text: 'x'.repeat(100_000) })
    const client = (await aFront(async request => bytes(request.path === '/long' ? long : short))).client(
      protocol,
    )
    const gzip = { headers: { 'accept-encoding': 'deflate, gzip;q=0.9' } }
    const zipped = await client.send('/long', gzip)
    expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    expect(gunzipSync(zipped.body).toString()).toBe(long)
    expect((await client.send('/short', gzip)).text).toBe(short)
    expect((await client.send('/long')).text).toBe(long)
    for (const unwilling of ['xgzip', 'gzip;q=0', 'br, gzip; q=0.000']) {
      const plain = await client.send('/long', { headers: { 'accept-encoding': unwilling } })
      expect(plain.headers, unwilling).not.toHaveProperty('content-encoding')
      expect(plain.text).toBe(long)
    }
  })

  it('slices arrive as one body, compressed where the client takes it', async () => {
    const slices = Array.from({ length: 40 }, (_, i) => Buffer.alloc(100_000, `${i % 10}`))
    const client = (
      await aFront(async () => ({
        type: 'slices',
        code: 200,
        headers: { 'content-type': 'application/json' },
        slices,
      }))
    ).client(protocol)
    const whole = Buffer.concat(slices)
    expect((await client.send('/')).body.equals(whole)).toBe(true)
    const zipped = await client.send('/', { headers: { 'accept-encoding': 'gzip' } })
    expect(zipped.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(zipped.body).equals(whole)).toBe(true)
  })

  it('slices that are compressed already are sent as they are', async () => {
    const zipped = (text: string) => gzipSync(text)
    const answers: Readonly<Record<string, readonly Buffer[]>> = {
      '/one': [zipped('one')],
      '/two': [zipped('one'), zipped(' and two')],
    }
    const metrics = prometheus()
    const front = await aFront(
      async ({ path }) => ({
        type: 'slices',
        code: 200,
        headers: {},
        slices: [Buffer.from('plain')],
        length: () => 5,
        zipped: () => generated(answers[path] ?? []),
      }),
      { metrics },
    )
    const client = front.client(protocol)
    const gzip = { headers: { 'accept-encoding': 'gzip' } }
    const one = await client.send('/one', gzip)
    expect(one.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': `${one.body.length}` })
    expect(gunzipSync(one.body).toString()).toBe('one')
    const two = await client.send('/two', gzip)
    expect(two.headers['content-encoding']).toBe('gzip')
    expect(gunzipSync(two.body).toString()).toBe('one and two')
    const plain = await client.send('/two')
    expect([plain.text, plain.headers['content-length']]).toEqual(['plain', '5'])
    const head = await client.send('/two', { method: 'HEAD', ...gzip })
    expect([head.headers['content-encoding'], head.body.length]).toEqual(['gzip', 0])
    // Three bodies, as they are without compression.
    expect(await metrics.text()).toMatch(/^apiserver_response_sizes_sum\{.*\} 15$/m)
  })

  it('slices are not made faster than the client reads, and not after it has gone', async () => {
    let made = 0
    const stopped = Promise.withResolvers<void>()
    function* endless(): Generator<Buffer> {
      try {
        for (;;) {
          made++
          yield Buffer.alloc(256 * 1024)
        }
      } finally {
        stopped.resolve()
      }
    }
    const client = (
      await aFront(async () => ({ type: 'slices', code: 200, headers: {}, slices: endless() }))
    ).client(protocol)
    const answer = await client.open('/')
    answer.cancel()
    await stopped.promise
    expect(made).toBeLessThan(1_000)
  })

  it('of a compressed list that was given up, what was written is counted', async () => {
    const part = Buffer.alloc(1_000)
    function* givenUp(giveUp: () => void): Generator<Buffer, number> {
      yield* [part, part, part]
      giveUp()
      yield* [part, part]
      return 1_000_000
    }
    const metrics = prometheus()
    const front = await aFront(
      async ({ notes }) => ({
        type: 'slices',
        code: 200,
        headers: {},
        slices: [],
        zipped: () => givenUp(() => notes.giveUp(new Error('nobody waits'))),
      }),
      { metrics },
    )
    const answer = await front.client(protocol).open('/', { headers: { 'accept-encoding': 'gzip' } })
    await eventually(async () =>
      expect(await metrics.text()).toMatch(/^apiserver_response_sizes_sum\{.*\} 3000$/m),
    )
    answer.cancel()
  })

  it('a reader that stalls in the middle of a list is cut off in the end', async () => {
    const clock = manualClock()
    function* endless(): Generator<Buffer> {
      for (;;) yield Buffer.alloc(256 * 1024)
    }
    const front = await aFront(async () => ({ type: 'slices', code: 200, headers: {}, slices: endless() }), {
      clock,
    })
    const answer = await front.client(protocol).open('/')
    answer.pause()
    await clock.advance(299_999)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    await expect(answer.rest()).rejects.toThrow()
    expect(clock.pending).toBe(0)
  })

  it('an answer does not wait for the rest of a body that nobody reads', async () => {
    const client = (await aFront(async () => bytes('{}'))).client(protocol)
    const answer = await client.send('/', { method: 'POST', body: Buffer.alloc(8_000_000) })
    expect(answer.json).toEqual({})
    expect((await client.send('/')).status).toBe(200)
  })

  it('an answer that is there at once is sent', async () => {
    const front = await aFront(() => bytes('at once\n'))
    expect(await front.client(protocol).send('/')).toMatchObject({ status: 200, text: 'at once\n' })
  })

  it.each<[string, Responder]>([
    ['rejects', () => Promise.reject(new Error('no answer'))],
    [
      'throws',
      () => {
        throw new Error('no answer')
      },
    ],
  ])('a chain that %s does not leave its client waiting', async (_, responder) => {
    const front = await aFront(responder)
    await expect(front.client(protocol).send('/')).rejects.toThrow()
    expect(front.log.lines).toMatchObject([{ message: 'response failed', fields: { error: 'no answer' } }])
  })

  it('a body that fails while it is made breaks off, so that it is not taken for whole', async () => {
    function* failing(): Generator<Buffer> {
      yield Buffer.alloc(300_000)
      throw new Error('cell failed')
    }
    const front = await aFront(async () => ({ type: 'slices', code: 200, headers: {}, slices: failing() }))
    await expect(front.client(protocol).send('/')).rejects.toThrow()
    expect(front.log.lines).toMatchObject([{ level: 'error', fields: { error: 'cell failed' } }])
    expect((await front.client(protocol).open('/')).status).toBe(200)
  })

  it.each(['/table', '/metadata', '/zipped'])('a long list that cannot be begun is a 500: %s', async path => {
    const broken = { ...aWidget('broken'), body: Buffer.from('{') }
    const items = Array.from({ length: 5_000 }, (_, i) => (i === 10 ? broken : aWidget(`w-${i}`)))
    const reply: Reply = { type: 'list', served: widgets, items, revision: 9 }
    const metrics = prometheus()
    const front = await aFront(
      render(systemClock, recovery(memoryLogger()))(() => Promise.resolve(reply)),
      { metrics },
    )
    const as = path === '/metadata' ? 'PartialObjectMetadataList' : 'Table'
    const accept = `application/json;as=${as};v=v1;g=meta.k8s.io`
    const zip = path === '/zipped' ? { 'accept-encoding': 'gzip' } : {}
    const answer = await front.client(protocol).send('/', { headers: { accept, ...zip } })
    expect(answer).toMatchObject({ status: 500, json: { kind: 'Status', reason: 'InternalError' } })
    expect(answer.headers).not.toHaveProperty('content-encoding')
    expect(answer.headers).toMatchObject({ 'x-content-type-options': 'nosniff' })
    expect(front.log.lines[0]).toMatchObject({ level: 'error', message: 'response failed' })
    expect(await metrics.text()).toMatch(/^apiserver_request_total\{.*code="500".*\} 1$/m)
  })

  it('the certificates of the client are handed on as they were sent', async () => {
    const { requests, responder } = recording()
    const front = await aFront(responder)
    const identity = await issueClient(front.authority, { user: 'ada', groups: ['ops'] }, lifetime)
    const client = front.client(protocol, identity)
    await client.send('/')
    await client.send('/')
    const der = Buffer.from(identity.certificate.replace(/-----.*-----|\s/g, ''), 'base64')
    for (const request of requests) expect(request.peer.certificates[0]?.equals(der)).toBe(true)
    expect(requests[0]?.peer).toBe(requests[1]?.peer)
  })
})
