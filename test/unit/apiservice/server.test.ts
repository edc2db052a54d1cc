import { afterEach, describe, expect, it } from 'vitest'
import type { AdmissionPlugin } from '../../../apiservice/contract.ts'
import { decodeBackup } from '../../../apiservice/store/backup.ts'
import { decodeRecord } from '../../../apiservice/store/record.ts'
import { protocols } from '../../support/api-client.ts'
import { type TestServer, testServer } from '../../support/api-server.ts'
import { manualClock } from '../../support/manual-clock.ts'

const servers: TestServer[] = []
afterEach(async () => {
  await Promise.all(servers.splice(0).map(server => server.close()))
})
async function aServer(options: Parameters<typeof testServer>[0] = {}): Promise<TestServer> {
  const server = await testServer(options)
  servers.push(server)
  return server
}

const exports_ = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceexports'
const json = { 'content-type': 'application/json' }
const body = (value: unknown) => ({ method: 'POST', headers: json, body: JSON.stringify(value) })
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
const anExport = (name: string) => ({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { name },
})

describe.each(protocols)('a whole server over %s', protocol => {
  it('creates, gets, lists and watches', async () => {
    const client = (await aServer()).client(protocol)
    await client.send('/api/v1/namespaces', body(namespace))
    const created = await client.send(exports_, body(anExport('web')))
    expect(created).toMatchObject({
      status: 201,
      json: { kind: 'ServiceExport', metadata: { name: 'web', generation: 1 } },
    })
    const list = await client.send(exports_)
    expect(list.json).toMatchObject({ kind: 'ServiceExportList', items: [created.json] })
    const { metadata } = list.json as { metadata: { resourceVersion: string } } // a list has it
    const watch = await client.open(`${exports_}?watch=1&resourceVersion=${metadata.resourceVersion}`)
    await client.send(exports_, body(anExport('api')))
    expect(JSON.parse((await watch.line()) ?? '')).toMatchObject({
      type: 'ADDED',
      object: { metadata: { name: 'api' } },
    })
    watch.cancel()
  })

  it('asks who, then whether, then what', async () => {
    const server = await aServer()
    const nobody = server.client(protocol, null)
    const ada = server.client(protocol, await server.issue({ user: 'ada', groups: [] }))
    expect((await nobody.send('/livez')).text).toBe('ok')
    expect(await nobody.send('/livez/ping')).toMatchObject({
      status: 403,
      json: { kind: 'Status', reason: 'Forbidden' },
    })
    expect(await nobody.send('/metrics')).toMatchObject({ status: 403 })
    expect(await nobody.send('/', { headers: { authorization: 'Bearer wrong' } })).toMatchObject({
      status: 401,
    })
    expect(await ada.send('/apis/nowhere/v1/things')).toMatchObject({
      status: 403,
      json: {
        message:
          'things.nowhere is forbidden: User "ada" cannot list resource "things" in API group "nowhere" at the cluster scope',
      },
    })
    expect(await server.client(protocol).send('/apis/nowhere/v1/things')).toMatchObject({ status: 404 })
    const tooLong = { ...body({}), body: Buffer.alloc(4 * 1024 * 1024) }
    expect(await ada.send(exports_, tooLong)).toMatchObject({ status: 403 })
  })
})

it('no early failure has a body that is no Status', async () => {
  const client = (await aServer()).client()
  const failures = await Promise.all([
    client.send('/nowhere'),
    client.send('/version', { method: 'DELETE' }),
    client.send('/livez', { method: 'PROPFIND' }),
    client.send(exports_, { method: 'PROPFIND' }),
    client.send(`${exports_}/%ff`),
    client.send(`${exports_}?timeout=soon`),
    client.send(exports_, { headers: { accept: 'text/html' } }),
    client.send(`${exports_}?limit=x`),
    client.send(`${exports_}?watch=1&resourceVersion=x`),
    client.send(exports_, { method: 'POST', headers: json, body: '{' }),
    client.send(exports_, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'x' }),
    client.send(exports_, { method: 'POST', headers: json, body: Buffer.alloc(3 * 1024 * 1024 + 1, ' ') }),
    client.send('/apis/none/v1/things'),
    client.send('/openapi/v3', { headers: { accept: 'application/x' } }),
  ])
  expect(failures.map(failure => failure.status)).toEqual([
    404,
    405,
    405,
    405,
    400,
    400,
    406,
    400,
    expect.any(Number),
    400,
    415,
    413,
    404,
    406,
  ])
  for (const failure of failures) {
    expect(failure.headers).toMatchObject({
      'content-type': 'application/json',
      'x-content-type-options': 'nosniff',
    })
    expect(failure.json).toMatchObject({
      kind: 'Status',
      apiVersion: 'v1',
      status: 'Failure',
      code: failure.status,
    })
  }
})

it('a fault of ours is a 500 without a trace of it, and the server lives on', async () => {
  const faulty: AdmissionPlugin = {
    name: 'Faulty',
    handles: () => true,
    validate: () => Promise.reject(new TypeError('secret detail')),
  }
  const server = await aServer({ admission: [faulty] })
  const answer = await server.client().send('/api/v1/namespaces', body(namespace))
  expect(answer).toMatchObject({ status: 500, json: { kind: 'Status', reason: 'InternalError' } })
  expect(answer.text).not.toContain('secret')
  expect(server.log.lines).toContainEqual(
    expect.objectContaining({ level: 'error', fields: expect.objectContaining({ error: 'secret detail' }) }),
  )
  expect((await server.client().send('/livez')).status).toBe(200)
})

it('answers a backup of everything, but not to everybody', async () => {
  const server = await aServer()
  await server.client().send('/api/v1/namespaces', body(namespace))
  const answer = await server.client().send('/store/backup')
  expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'application/octet-stream' } })
  const saved = decodeBackup(answer.body).entries.map(
    ({ revision, value }) => decodeRecord(revision, value).key,
  )
  expect(saved).toContainEqual({ resource: 'namespaces', namespace: '', name: 'shop' })
  const ada = await server.issue({ user: 'ada', groups: ['system:monitoring'] })
  for (const identity of [null, ada]) {
    expect((await server.client('HTTP/2', identity).send('/store/backup')).status).toBe(403)
  }
  expect((await server.client().send('/store/backup', { method: 'DELETE' })).status).toBe(405)
})

it('readyz follows what the role says, livez does not', async () => {
  const server = await aServer()
  const client = server.client()
  expect((await client.send('/readyz')).status).toBe(200)
  server.ready(false)
  expect(await client.send('/readyz')).toMatchObject({
    status: 500,
    text: expect.stringContaining('[-]ready failed'),
  })
  expect((await client.send('/livez')).status).toBe(200)
})

it('closing ends a watch with a clean end of its body, and leaves the store open', async () => {
  const server = await testServer()
  const { store } = server
  const watch = await server.client('HTTP/2').open(`${exports_}?watch=1`)
  const closing = server.close()
  expect(await watch.line()).toBeUndefined()
  await closing
  expect(store.revision()).toBeGreaterThanOrEqual(0)
})

it('a request that waits at the time of closing is answered, a new one is refused', async () => {
  const entered = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  const waiting: AdmissionPlugin = {
    name: 'Waiting',
    handles: () => true,
    validate: async () => {
      entered.resolve()
      await release.promise
    },
  }
  const server = await testServer({ admission: [waiting] })
  const [first, second] = [server.client(), server.client()]
  await second.send('/livez')
  const answer = first.send('/api/v1/namespaces', body(namespace))
  await entered.promise
  const closed = server.close()
  release.resolve()
  expect((await answer).status).toBe(201)
  await closed
  await expect(second.send('/livez')).rejects.toThrow()
})

it('a port in use is one clear sentence', async () => {
  const server = await aServer()
  await expect(testServer({ port: server.port })).rejects.toThrow(
    `cannot listen on 127.0.0.1 port ${server.port}: the port is in use by another process`,
  )
})

it('a request that takes too long is a 504 Status', async () => {
  const clock = manualClock()
  const entered = Promise.withResolvers<void>()
  const stuck: AdmissionPlugin = {
    name: 'Stuck',
    handles: () => true,
    validate: () => {
      entered.resolve()
      return new Promise(() => undefined)
    },
  }
  const server = await aServer({ admission: [stuck], clock })
  const answer = server.client().send('/api/v1/namespaces?timeout=5s', body(namespace))
  await entered.promise
  await clock.advance(5_000)
  expect(await answer).toMatchObject({
    status: 504,
    json: { reason: 'Timeout', message: 'Timeout: request did not complete within the allotted timeout' },
  })
})

it('an object of a built-in kind may be sent as a protocol buffer, as Go clients do', async () => {
  const client = (await aServer()).client()
  const type = { 'content-type': 'application/vnd.kubernetes.protobuf' }
  const sent =
    '6b3873000a0f0a02763112094e616d657370616365121d0a150a0573686f703212001a0022002a0032003800420012001a020a001a002200'
  const created = await client.send('/api/v1/namespaces', {
    method: 'POST',
    headers: { ...type, accept: 'application/vnd.kubernetes.protobuf,application/json' },
    body: Buffer.from(sent, 'hex'),
  })
  expect(created).toMatchObject({
    status: 201,
    headers: { 'content-type': 'application/json' },
    json: { kind: 'Namespace', metadata: { name: 'shop2' }, status: { phase: 'Active' } },
  })
  const refused = (path: string, body: Buffer) => client.send(path, { method: 'POST', headers: type, body })
  expect(await refused(exports_, Buffer.from(sent, 'hex'))).toMatchObject({ status: 415 })
  expect(await refused('/api/v1/namespaces', Buffer.from('k8s'))).toMatchObject({
    status: 400,
    json: { reason: 'BadRequest' },
  })
  expect(await refused('/api/v1/namespaces/shop2/configmaps', Buffer.from(sent, 'hex'))).toMatchObject({
    status: 400,
    json: { message: 'the kind in the data (Namespace) does not match the expected kind (ConfigMap)' },
  })
  const options = Buffer.from(
    '6b3873000a130a02763112 0d44656c6574654f7074696f6e73 1205 22034261 64'.replaceAll(' ', ''),
    'hex',
  )
  expect(
    await client.send('/api/v1/namespaces/shop2', { method: 'DELETE', headers: type, body: options }),
  ).toMatchObject({
    status: 422,
    json: { message: expect.stringContaining('propagationPolicy') },
  })
})
