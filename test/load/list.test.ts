// A list of 50,000 objects: others are served while it is sent, also while readers have stopped.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { encodeBody } from '../../src/codec/object-bytes.ts'
import type { ApiClient } from '../support/api-client.ts'
import { type TestServer, testServer } from '../support/api-server.ts'

const objects = 50_000
const things = '/api/v1/namespaces/default/configmaps'
let server: TestServer

beforeAll(async () => {
  server = await testServer()
  for (let at = 0; at < objects; at += 1_000) {
    await Promise.all(Array.from({ length: 1_000 }, (_, i) => put(`thing-${at + i}`)))
  }
}, 120_000)
afterAll(() => server.close())

function put(name: string) {
  const metadata = {
    name,
    namespace: 'default',
    uid: name,
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { app: 'shop' },
  }
  const body = encodeBody({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { key: 'value'.repeat(20) },
  })
  return server.store.create({ resource: 'configmaps', namespace: 'default', name }, body)
}

/** Reads a list and says how often something else was answered before its last line. */
async function readBeside(
  client: ApiClient,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly bytes: number; readonly answered: number }> {
  const other = server.client('HTTP/1.1')
  const list = await client.open(things, { headers })
  expect(list.status).toBe(200)
  const over = new AbortController()
  let answered = 0
  const asking = (async () => {
    while (!over.signal.aborted) {
      expect((await other.send(`${things}/thing-7`)).status).toBe(200)
      if (!over.signal.aborted) answered++
    }
  })()
  const { length } = await list.rest()
  over.abort()
  await asking
  return { bytes: length, answered }
}

it.each([
  ['HTTP/1.1', 'as it is', {}],
  ['HTTP/2', 'as it is', {}],
  ['HTTP/1.1', 'as a Table', { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' }],
  ['HTTP/2', 'compressed', { 'accept-encoding': 'gzip' }],
] as const)(
  'over %s, %s, others are served meanwhile',
  async (protocol, _, headers) => {
    const { bytes, answered } = await readBeside(server.client(protocol), headers)
    expect(bytes).toBeGreaterThan(400_000)
    // As many as there are slices, or a good part of them, not one before and one after.
    expect(answered).toBeGreaterThan(10)
  },
  120_000,
)

it('to many that stop reading keeps nobody waiting, and is whole when they go on', async () => {
  const readers = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const list = await server.client('HTTP/1.1').open(things)
      list.pause()
      return list
    }),
  )
  const other = server.client('HTTP/2')
  for (let i = 0; i < 50; i++) expect((await other.send(`${things}/thing-${i}`)).status).toBe(200)
  const lengths = await Promise.all(readers.map(async list => (await list.rest()).length))
  expect(new Set(lengths).size).toBe(1)
  expect(lengths[0]).toBeGreaterThan(10_000_000)
}, 120_000)
