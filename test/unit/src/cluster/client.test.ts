import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import type { Duplex } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { type ClientOptions, ClusterClient } from '../../../../src/cluster/client.ts'
import type { ClusterEvent, Resource } from '../../../../src/cluster/cluster.ts'
import type { Credentials } from '../../../../src/cluster/transport.ts'
import { issueClient } from '../../../../src/identity/certificate.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { systemClock } from '../../../../src/kernel/clock.ts'
import { type Labels, noMetrics } from '../../../../src/kernel/metrics.ts'
import { eventually } from '../../../support/eventually.ts'
import { type HttpsServer, httpsServer, sendJson } from '../../../support/https-server.ts'
import { manualClock, settled } from '../../../support/manual-clock.ts'

const configMaps: Resource = {
  group: '',
  version: 'v1',
  apiVersion: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
}
const web = { namespace: 'shop', name: 'web' }
const object = (name: string, revision = '5') => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, resourceVersion: revision },
})

const open: { close(): unknown }[] = []
afterEach(async () => {
  for (const resource of open.splice(0).reverse()) await resource.close()
})

/** A proxy that takes every CONNECT to one port of this machine. */
async function connectProxy(port: number) {
  const asked: string[] = []
  const sockets = new Set<Duplex>()
  const proxy = createServer()
  proxy.on('connect', (request: IncomingMessage, client: Duplex) => {
    asked.push(request.url ?? '')
    const upstream = connectTcp(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client).pipe(upstream)
    })
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const { port: own } = proxy.address() as AddressInfo // it listens on a port
  return {
    url: `http://127.0.0.1:${own}`,
    asked,
    close: () => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    },
  }
}

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = await httpsServer(answer)
  open.push(server)
  return server
}

function connect(server: HttpsServer, options: Partial<ClientOptions> = {}): ClusterClient {
  const credentials: Credentials = {
    ca: server.authority.certificate,
    cert: server.client.certificate,
    key: server.client.key,
  }
  const client = new ClusterClient({
    name: 'east',
    servers: [server.url],
    credentials: async () => credentials,
    clock: systemClock,
    ...options,
  })
  open.push(client)
  return client
}

async function collected<O>(events: AsyncIterable<ClusterEvent<O>>): Promise<ClusterEvent<O>[]> {
  const all: ClusterEvent<O>[] = []
  for await (const event of events) all.push(event)
  return all
}

describe('a cluster client', () => {
  it('shows its certificate and keeps its connection', async () => {
    const server = await serve((_request, response) => sendJson(response, 200, object('web')))
    const client = connect(server)
    for (let turn = 0; turn < 3; turn += 1) await client.get(configMaps, web, never)
    expect(server.asked).toEqual(Array(3).fill('GET /api/v1/namespaces/shop/configmaps/web by ada'))
    expect(server.connections).toBe(1)
  })

  it('sends a bearer token', async () => {
    const server = await serve((request, response) =>
      sendJson(response, 200, { ...object('web'), data: { sent: request.headers.authorization } }),
    )
    const { certificate: ca } = server.authority
    const client = connect(server, { credentials: async () => ({ ca, token: 'abc' }) })
    expect(await client.get(configMaps, web, never)).toMatchObject({ data: { sent: 'Bearer abc' } })
  })

  it('goes on with renewed credentials without a restart', async () => {
    const server = await serve((_request, response) => sendJson(response, 200, object('web')))
    const ca = server.authority.certificate
    const renewed = await issueClient(
      server.authority,
      { user: 'bob', groups: [] },
      { clock: systemClock, lifetimeMs: 60_000 },
    )
    let current: Credentials = { ca, cert: server.client.certificate, key: server.client.key }
    const client = connect(server, { credentials: async () => current })
    await client.get(configMaps, web, never)
    current = { ca, cert: renewed.certificate, key: renewed.key }
    await client.get(configMaps, web, never)
    expect(server.asked.map(line => line.split(' by ')[1])).toEqual(['ada', 'bob'])
  })

  it('trusts only the authority that it was given', async () => {
    const server = await serve((_request, response) => sendJson(response, 200, object('web')))
    const other = await serve((_request, response) => sendJson(response, 200, object('web')))
    const client = connect(server, {
      credentials: async () => ({ ca: other.authority.certificate, token: 'secret' }),
    })
    await expect(client.get(configMaps, web, never)).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
    expect(server.asked).toEqual([])
  })

  it('expects the name that it was told to expect', async () => {
    const server = await serve((_request, response) => sendJson(response, 200, object('web')))
    await connect(server, { tlsServerName: 'server.test' }).get(configMaps, web, never)
    const wrong = connect(server, { tlsServerName: 'other.test' })
    await expect(wrong.get(configMaps, web, never)).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
  })

  it('goes through a proxy, except on this machine', async () => {
    const server = await serve((_request, response) => sendJson(response, 200, object('web')))
    const proxy = await connectProxy(Number(new URL(server.url).port))
    open.push(proxy)
    const environment = { HTTPS_PROXY: proxy.url }
    await connect(server, { servers: ['https://server.test'], environment }).get(configMaps, web, never)
    expect(proxy.asked).toEqual(['server.test:443'])
    await connect(server, { environment }).get(configMaps, web, never)
    const excepted = { ...environment, NO_PROXY: 'server.test' }
    const direct = connect(server, { servers: ['https://server.test'], environment: excepted })
    await expect(direct.get(configMaps, web, never)).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
    expect(proxy.asked).toHaveLength(1)
    expect(server.asked).toHaveLength(2)
  })

  it('goes on to the next address when one cannot be reached, and stays there', async () => {
    const server = await serve((_request, response) => sendJson(response, 200, object('web')))
    const client = connect(server, { servers: ['https://127.0.0.1:1', server.url] })
    await client.create(configMaps, object('web'), never)
    await client.get(configMaps, web, never)
    expect(server.asked).toHaveLength(2)
    expect(server.connections).toBe(1)
  })

  it('counts what came of its requests as client-go does', async () => {
    const server = await serve((_request, response) => sendJson(response, 200, object('web')))
    const counted: Labels[] = []
    const metrics = { ...noMetrics, counter: () => ({ add: (labels: Labels = {}) => counted.push(labels) }) }
    const client = connect(server, { servers: ['https://127.0.0.1:1', server.url], metrics })
    await client.get(configMaps, web, never)
    expect(counted).toEqual([
      { code: '<error>', method: 'GET', host: '127.0.0.1:1' },
      { code: '200', method: 'GET', host: new URL(server.url).host },
    ])
  })

  it('says which addresses could not be reached', async () => {
    const server = await serve((_request, response) => sendJson(response, 200, object('web')))
    const client = connect(server, { servers: ['https://127.0.0.1:1', 'https://127.0.0.1:2'] })
    await expect(client.get(configMaps, web, never)).rejects.toMatchObject({
      code: 503,
      reason: 'ServiceUnavailable',
      message: expect.stringMatching(/127\.0\.0\.1:1: .*ECONNREFUSED.*; 127\.0\.0\.1:2: .*ECONNREFUSED/),
    })
  })

  it('asks again when a kept connection turns out to be closed', async () => {
    let answers = 0
    const server = await serve((request, response) => {
      answers += 1
      if (answers === 2) request.socket.destroy()
      else sendJson(response, 200, object('web'))
    })
    const client = connect(server)
    await client.get(configMaps, web, never)
    await client.get(configMaps, web, never)
    expect(server.asked).toHaveLength(3)
  })

  it('does not send a write twice', async () => {
    const server = await serve(request => request.socket.destroy())
    const client = connect(server, { servers: [server.url, server.url] })
    await expect(client.create(configMaps, object('web'), never)).rejects.toMatchObject({ code: 503 })
    expect(server.asked).toHaveLength(1)
  })

  it('gives up on a server that does not answer', async () => {
    const clock = manualClock()
    const server = await serve(() => undefined)
    const client = connect(server, { clock })
    const asked = client.get(configMaps, web, never)
    asked.catch(() => undefined)
    await eventually(() => expect(server.asked).toHaveLength(1))
    await clock.advance(30_000)
    await expect(asked).rejects.toMatchObject({
      reason: 'ServiceUnavailable',
      message: expect.stringContaining('no answer within 30 s'),
    })
  })

  it('does not blame a server for the time that a request waits for a connection of its own', async () => {
    const clock = manualClock()
    const held: ServerResponse[] = []
    const server = await serve((_request, response) => void held.push(response))
    const client = connect(server, { clock })
    const answer = (): void => {
      for (const response of held.splice(0)) sendJson(response, 200, object('web'))
    }
    const first = Array.from({ length: 4 }, () => client.get(configMaps, web, never))
    await eventually(() => expect(held).toHaveLength(4))
    const last = client.get(configMaps, web, never)
    await clock.advance(20_000)
    expect(held).toHaveLength(4)
    answer()
    await eventually(() => expect(held).toHaveLength(1))
    await clock.advance(20_000)
    answer()
    expect(await Promise.all([...first, last])).toHaveLength(5)
  })

  it('throws what the server said', async () => {
    const details = { name: 'web', kind: 'configmaps', causes: [{ reason: 'x', message: 'y' }] }
    const server = await serve((_request, response) =>
      sendJson(response, 409, {
        kind: 'Status',
        message: 'taken',
        reason: 'AlreadyExists',
        code: 409,
        details,
      }),
    )
    await expect(connect(server).create(configMaps, object('web'), never)).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'taken',
      details,
    })
  })

  it.each([
    [502, 'text/html', '<html>bad gateway</html>', { code: 502, reason: '' }],
    [429, 'text/plain', 'slow down', { code: 429, reason: 'TooManyRequests' }],
    [200, 'text/html', '<html>welcome</html>', { code: 502, message: expect.stringContaining('welcome') }],
    [200, 'application/json', '[]', { code: 502 }],
  ])('makes an error of an answer %s %s', async (code, type, body, expected) => {
    const server = await serve((_request, response) => {
      response.writeHead(code, { 'content-type': type }).end(body)
    })
    await expect(connect(server).get(configMaps, web, never)).rejects.toMatchObject(expected)
  })

  it('reads a list page by page and names what the items leave out', async () => {
    const server = await serve((request, response) => {
      const page = new URL(request.url ?? '', 'https://x').searchParams.get('continue')
      const { apiVersion: _apiVersion, kind: _kind, ...bare } = object(page ?? 'first')
      const metadata = { resourceVersion: '9', ...(page === null ? { continue: 'second' } : {}) }
      sendJson(response, 200, { kind: 'ConfigMapList', metadata, items: [bare] })
    })
    const listed = await connect(server).list(configMaps, { namespace: 'shop', labelSelector: 'a=b' }, never)
    expect(listed).toEqual({ resourceVersion: '9', items: [object('first'), object('second')] })
    expect(server.asked[1]).toBe(
      'GET /api/v1/namespaces/shop/configmaps?labelSelector=a%3Db&limit=500&continue=second by ada',
    )
  })

  it('lists again in one piece when the revision of its pages is gone', async () => {
    const server = await serve((request, response) => {
      const query = new URL(request.url ?? '', 'https://x').searchParams
      if (query.get('continue') !== null) {
        sendJson(response, 410, { kind: 'Status', reason: 'Expired', code: 410 })
        return
      }
      const metadata = { resourceVersion: '9', ...(query.get('limit') === null ? {} : { continue: 'x' }) }
      sendJson(response, 200, { kind: 'ConfigMapList', metadata, items: [object('a'), object('b')] })
    })
    const listed = await connect(server).list(configMaps, {}, never)
    expect(listed.items).toHaveLength(2)
    expect(server.asked).toHaveLength(3)
  })
})

describe('a watch of a cluster client', () => {
  const from = { resourceVersion: '5' }

  it('reads events however they are cut into pieces', async () => {
    const text = `${JSON.stringify({ type: 'ADDED', object: { ...object('käse', '6') } })}\n${JSON.stringify({
      type: 'BOOKMARK',
      object: { metadata: { resourceVersion: '8' } },
    })}\n`
    const server = await serve((_request, response) => {
      response.writeHead(200)
      for (const byte of Buffer.from(text)) response.write(Buffer.from([byte]))
      response.end()
    })
    expect(await collected(connect(server).watch(configMaps, from, never))).toEqual([
      { type: 'ADDED', object: object('käse', '6') },
      { type: 'BOOKMARK', resourceVersion: '8' },
    ])
    expect(server.asked[0]).toMatch(
      /^GET \/api\/v1\/configmaps\?watch=true&allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=\d{3} by ada$/,
    )
  })

  it('throws the status that the server sends in the stream', async () => {
    const status = { kind: 'Status', reason: 'Expired', code: 410, message: 'too old resource version' }
    const server = await serve((_request, response) => {
      response.writeHead(200).end(`${JSON.stringify({ type: 'ERROR', object: status })}\n`)
    })
    const watching = collected(connect(server).watch(configMaps, from, never))
    await expect(watching).rejects.toMatchObject({ code: 410, reason: 'Expired' })
  })

  it.each([['{"type":"ADDED","obj'], ['{"type":"STRANGE","object":{}}'], ['[]'], ['{"type":"ADDED"}']])(
    'throws on the line %s',
    async line => {
      const server = await serve((_request, response) => {
        response.writeHead(200).end(`${line}\n`)
      })
      const watching = collected(connect(server).watch(configMaps, from, never))
      await expect(watching).rejects.toMatchObject({ code: 502 })
    },
  )

  it('throws when the connection breaks', async () => {
    const server = await serve((_request, response) => {
      response.writeHead(200).write(`${JSON.stringify({ type: 'ADDED', object: object('a', '6') })}\n`)
    })
    const watching = (async () => {
      for await (const _event of connect(server).watch(configMaps, from, never)) server.cut()
    })()
    await expect(watching).rejects.toMatchObject({ reason: 'ServiceUnavailable' })
  })

  it('takes a connection for dead on which nothing comes any more', async () => {
    const clock = manualClock()
    const server = await serve((_request, response) => {
      response.writeHead(200).write(`${JSON.stringify({ type: 'ADDED', object: object('a', '6') })}\n`)
    })
    const events = connect(server, { clock, watchIdleMs: 20_000 }).watch(configMaps, from, never)
    const reader = events[Symbol.asyncIterator]()
    await reader.next()
    const next = reader.next()
    next.catch(() => undefined)
    await settled()
    await clock.advance(22_000)
    await expect(next).rejects.toMatchObject({
      reason: 'ServiceUnavailable',
      message: expect.stringContaining('nothing came for 20 s'),
    })
    expect(clock.pending).toBe(0)
  })

  it('closes its connection when its reader stops and when its signal aborts', async () => {
    const closed: Promise<unknown>[] = []
    const server = await serve((request, response) => {
      closed.push(once(request.socket, 'close'))
      response.writeHead(200).write(`${JSON.stringify({ type: 'ADDED', object: object('a', '6') })}\n`)
    })
    const client = connect(server)
    for await (const _event of client.watch(configMaps, from, never)) break
    const stop = new AbortController()
    const watching = (async () => {
      for await (const _event of client.watch(configMaps, from, stop.signal)) stop.abort(new Error('enough'))
    })()
    await expect(watching).rejects.toThrow('enough')
    expect(closed).toHaveLength(2)
    await Promise.all(closed)
  })
})

describe('an address', () => {
  it.each([['http://127.0.0.1:80'], ['127.0.0.1:7443'], ['']])('%j is refused', server => {
    const credentials = async () => ({})
    expect(
      () => new ClusterClient({ name: 'x', servers: [server], credentials, clock: systemClock }),
    ).toThrow(`server address "${server}" is not of the form https://host:port`)
  })
})
