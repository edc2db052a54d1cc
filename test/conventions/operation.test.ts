import diagnostics from 'node:diagnostics_channel'
import { once } from 'node:events'
import { connect as connectHttp2, type ServerHttp2Stream } from 'node:http2'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { expect } from 'vitest'
import { healthAuthorizer } from '../../apiservice/authz/health-paths.ts'
import { mastersAuthorizer } from '../../apiservice/authz/masters.ts'
import { protocols } from '../support/api-client.ts'
import { manualClock } from '../support/manual-clock.ts'
import { asking } from './frame/ask.ts'
import { must } from './frame/must.ts'
import { Scene } from './frame/scene.ts'
import { servedKinds, startConventionServer } from './frame/server.ts'
import { Subject } from './frame/subject.ts'
import { aSuite, isReadable, isServed } from './frame/suite.ts'

const failing = { name: 'mood', check: () => Promise.reject(new Error('a bad day')) }
let isMoody: boolean = false
const suite = aSuite({
  authorizers: [healthAuthorizer, mastersAuthorizer],
  healthChecks: [{ name: 'mood', check: () => (isMoody ? failing.check() : undefined) }],
})

async function handshake(options: ConnectionOptions): Promise<TLSSocket> {
  const { server } = suite
  const socket = connect({
    host: '127.0.0.1',
    port: server.port,
    ca: server.authority.certificate,
    ...options,
  })
  await once(socket, 'secureConnect')
  return socket
}

must(117, 'speaks HTTP/2 and HTTP/1.1 by ALPN, from TLS 1.2 on', async () => {
  for (const [offered, chosen] of [
    [['h2', 'http/1.1'], 'h2'],
    [['http/1.1', 'h2'], 'h2'],
    [['http/1.1'], 'http/1.1'],
  ] as const) {
    const socket = await handshake({ ALPNProtocols: [...offered] })
    expect(socket.alpnProtocol).toBe(chosen)
    socket.destroy()
  }
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await handshake({ minVersion: version, maxVersion: version })
    expect(socket.getProtocol()).toBe(version)
    socket.destroy()
  }
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  await expect(handshake(old)).rejects.toThrow(/protocol|version|alert/i)
})

must(117, 'feeds 300 watches over one connection', async () => {
  const client = suite.server.client('HTTP/2')
  const subject = new Subject(servedKinds[0] as Subject['kind'], suite.ask, () => client)
  const scene = await Scene.of(subject)
  const watches = await Promise.all(Array.from({ length: 300 }, () => scene.watch('resourceVersion=0')))
  const made = await scene.make()
  for (const watch of watches) expect(await watch.next()).toEqual({ type: 'ADDED', object: made })
  for (const watch of watches) watch.close()
})

/** Who may cut what was last used: a socket, or a session of HTTP/2. */
type Timed = { readonly timeout?: number }

/** What Node tells of the server's side of the answers that it gives meanwhile. */
async function servedBy(
  channel: string,
  find: (message: unknown) => readonly Timed[],
  ask: () => Promise<unknown>,
) {
  const found: Timed[] = []
  const listen = (message: unknown) => void found.push(...find(message))
  diagnostics.subscribe(channel, listen)
  await ask()
  diagnostics.unsubscribe(channel, listen)
  return found
}

must(118, 'keeps idle connections longer than clients do', async () => {
  const { server } = suite
  const http1 = server.client('HTTP/1.1')
  const sockets = await servedBy(
    'http.server.request.start',
    message => [(message as { readonly socket: Timed }).socket],
    async () => {
      const { headers } = await http1.send('/version')
      expect(Number(/timeout=(\d+)/.exec(String(headers['keep-alive']))?.[1])).toBeGreaterThan(95)
    },
  )
  const sessions = await servedBy(
    'http2.server.stream.created',
    message => {
      const { session } = (message as { readonly stream: ServerHttp2Stream }).stream
      return session === undefined ? [] : [session as Timed, session.socket]
    },
    () => server.client('HTTP/2').send('/version'),
  )
  expect([sockets.length, sessions.length]).toEqual([1, 2])
  // What has no limit says 0 or nothing.
  for (const { timeout = 0 } of [...sockets, ...sessions])
    expect(timeout === 0 || timeout > 95_000).toBe(true)
})

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

must(129, 'gives every answer an Audit-Id, that of the request if it has one', async () => {
  const { server } = suite
  for (const protocol of protocols) {
    const client = server.client(protocol)
    const seen = new Set<string>()
    for (const path of [
      '/version',
      '/nothing',
      '/openapi/v3',
      '/api/v1/configmaps',
      '/api/v1/configmaps?limit=x',
      '/%',
    ]) {
      const { headers } = await client.send(path)
      expect(headers['audit-id'], path).toMatch(uuid)
      seen.add(String(headers['audit-id']))
      const echoed = await client.send(path, { headers: { 'audit-id': `given-${path.length}` } })
      expect(echoed.headers['audit-id']).toBe(`given-${path.length}`)
    }
    expect(seen.size).toBe(6)
    const watch = await client.open('/api/v1/configmaps?watch=1', { headers: { 'audit-id': 'of-a-watch' } })
    expect(watch.headers['audit-id']).toBe('of-a-watch')
    watch.cancel()
    const stranger = await server
      .client(protocol, null)
      .send('/apis', { headers: { authorization: 'Bearer x' } })
    expect(stranger).toMatchObject({ status: 401, headers: { 'audit-id': expect.stringMatching(uuid) } })
  }
  const socket = await handshake({ ALPNProtocols: ['http/1.1'] })
  socket.end('nonsense\r\n\r\n')
  const [answer] = await once(socket, 'data')
  expect(String(answer)).toMatch(/^audit-id: [-\da-f]{36}\r$/im)
})

suite.every(isServed, subject => {
  must(132, 'answers neither with a redirection nor with HTML', async () => {
    const collection = subject.collection('default')
    const item = `${collection}/web`
    for (const path of [
      subject.root(),
      `${subject.root()}/`,
      collection,
      `${collection}/`,
      `/${collection}`,
      item,
      `${item}/`,
      `${item}/status`,
      `${item}/<b>`,
    ]) {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const { code, headers } = await suite.ask(path, {
          method,
          accept: 'text/html, */*;q=0.1',
          agent: 'Mozilla/5.0',
        })
        expect(code < 300 || code >= 400, `${method} ${path} ${code}`).toBe(true)
        expect(headers).not.toHaveProperty('location')
        expect(String(headers['content-type'])).not.toContain('html')
      }
    }
  })

  must(134, 'serves it before it says that it is ready', async () => {
    suite.server.ready(false)
    expect((await suite.ask('/readyz')).code).toBe(500)
    expect((await suite.ask(subject.root())).code).toBe(200)
    const item = `${subject.collection(subject.isNamespaced ? 'default' : '')}/not-there`
    if (subject.kind.storage === 'review') expect((await suite.ask(item)).code).toBe(404)
    else {
      expect((await suite.ask(subject.collection())).code).toBe(200)
      expect((await suite.ask(item)).body.details).toMatchObject({
        name: 'not-there',
        kind: subject.kind.plural,
      })
    }
    suite.server.ready(true)
    expect((await suite.ask('/readyz')).code).toBe(200)
  })
})

must(135, 'tells of health verbosely, with exclusions and by single checks', async () => {
  const health = async (path: string) => {
    const { code, text } = await suite.ask(path)
    return `${code} ${text}`
  }
  isMoody = true
  expect(await health('/readyz')).toBe(
    '500 [+]ping ok\n[+]ready ok\n[+]shutdown ok\n[+]store ok\n[-]mood failed: reason withheld\nreadyz check failed\n',
  )
  expect(await health('/readyz?exclude=mood')).toBe('200 ok')
  expect(await health('/readyz/mood')).toBe('500 internal server error: a bad day\n')
  expect(await health('/livez')).toBe('200 ok')
  isMoody = false
  expect(await health('/readyz?verbose')).toBe(
    '200 [+]ping ok\n[+]ready ok\n[+]shutdown ok\n[+]store ok\n[+]mood ok\nreadyz check passed\n',
  )
  expect(await health('/readyz?verbose&exclude=mood&exclude=x')).toBe(
    '200 [+]ping ok\n[+]ready ok\n[+]shutdown ok\n[+]store ok\n[+]mood excluded: ok\nwarn: some health checks cannot be excluded: no matches for "x"\nreadyz check passed\n',
  )
  expect(await health('/healthz/ping')).toBe('200 ok')
  expect(await health('/livez/mood')).toMatch(/^404 /)
})

must(137, 'takes headers of almost 1 MiB, in few lines and in many', async () => {
  const client = suite.server.client('HTTP/1.1')
  const long = { 'x-long': 'x'.repeat(1_000_000) }
  const many = { 'x-many': Array.from({ length: 15_000 }, (_, n) => `value-${n}`) }
  for (const headers of [long, many]) expect((await client.send('/version', { headers })).status).toBe(200)
})

suite.every(isReadable, subject => {
  must(137, 'takes selectors of tens of KB in its URL', async () => {
    const values = Array.from({ length: 4_000 }, (_, n) => `value-${n}`).join(',')
    const path = `${subject.collection()}?labelSelector=${encodeURIComponent(`x in (${values})`)}`
    expect(path.length).toBeGreaterThan(40_000)
    for (const protocol of protocols) {
      const answer = await asking(suite.server.client(protocol), path, {})
      expect(answer).toMatchObject({ code: 200, body: { items: [] } })
    }
  })
})

must(133, 'fails readyz first, and serves all else until its delay has passed', async () => {
  const clock = manualClock()
  const server = await startConventionServer({ clock, shutdownDelayMs: 5_000 })
  server.ready(true)
  const client = server.client('HTTP/2')
  const codes = async () => {
    const paths = ['/readyz', '/livez', '/healthz', '/api/v1/configmaps']
    return Promise.all(paths.map(async path => (await client.send(path)).status))
  }
  expect(await codes()).toEqual([200, 200, 200, 200])
  const watch = await client.open('/api/v1/namespaces?watch=1')
  const closing = server.close()
  await clock.advance(4_999)
  expect(await codes()).toEqual([500, 200, 200, 200])
  const late = await server.client('HTTP/1.1').send('/api/v1/namespaces', {
    method: 'POST',
    body: JSON.stringify({ metadata: { name: 'late' } }),
  })
  expect(late.status).toBe(201)
  expect(JSON.parse((await watch.line()) ?? '')).toMatchObject({ type: 'ADDED' })
  await clock.advance(1)
  expect(await watch.line()).toBeUndefined()
  await closing
})

must(
  133,
  'stops: tells connections to go, ends watches cleanly, answers what is under way, and takes no more',
  async () => {
    const server = await startConventionServer()
    const http1 = server.client('HTTP/1.1')
    const session = connectHttp2(server.url, {
      ca: server.authority.certificate,
      cert: server.admin.certificate,
      key: server.admin.key,
    })
    const told = once(session, 'goaway')
    const watches = await Promise.all(
      [http1, server.client('HTTP/2')].map(one => one.open('/api/v1/configmaps?watch=1')),
    )
    // Its body keeps the server from being done.
    const stream = session.request({
      ':path': '/api/v1/namespaces',
      ':method': 'POST',
      'content-type': 'application/json',
    })
    stream.write('{"metadata":')
    const ready = () => {
      const asked = session.request({ ':path': '/readyz' })
      asked.resume()
      return once(asked, 'response').then(([headers]) => headers[':status'])
    }
    expect(await ready()).toBe(200)
    const closing = server.close()
    await expect(ready()).rejects.toThrow('REFUSED_STREAM')
    stream.end('{"name":"late"}}')
    const [answer] = await once(stream, 'response')
    expect(answer[':status']).toBe(201)
    stream.resume()
    for (const watch of watches) expect(await watch.line()).toBeUndefined()
    await told
    await closing
  },
)
