// What clients of a server meet while the disk under its store fails or does not answer.
import { afterEach, beforeEach, expect, it } from 'vitest'
import { openRevisionStore } from '../../../apiservice/store/revision-store.ts'
import { silentLogger } from '../../../src/kernel/log.ts'
import { noMetrics } from '../../../src/kernel/metrics.ts'
import type { ApiAnswer, ApiClient, OpenAnswer } from '../../support/api-client.ts'
import { type TestServer, testServer } from '../../support/api-server.ts'
import { eventually } from '../../support/eventually.ts'
import { FaultyDisk } from '../../support/faulty-log.ts'
import { manualClock } from '../../support/manual-clock.ts'

const path = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceexports'

let disk: FaultyDisk
let clock: ReturnType<typeof manualClock>
let server: TestServer
let client: ApiClient
let watch: OpenAnswer

function post(to: string, object: unknown): Promise<ApiAnswer> {
  return client.send(to, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(object),
  })
}

function create(name: string): Promise<ApiAnswer> {
  return post(path, {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: { name },
  })
}

function versionOf(answer: ApiAnswer): number {
  const { metadata } = answer.json as { metadata: { resourceVersion: string } } // an object or a list
  return Number(metadata.resourceVersion)
}

/** The names in a list, and that its revision is not below `before`. */
async function listed(before: number): Promise<readonly string[]> {
  const answer = await client.send(path)
  expect(answer.status).toBe(200)
  expect(versionOf(answer)).toBeGreaterThanOrEqual(before)
  const { items } = answer.json as { items: { metadata: { name: string } }[] } // a list has them
  return items.map(item => item.metadata.name)
}

async function nextEvent(): Promise<{ readonly type: string; readonly name: string }> {
  const { type, object } = JSON.parse((await watch.line()) ?? 'null')
  return { type, name: object.metadata.name }
}

beforeEach(async () => {
  disk = new FaultyDisk()
  clock = manualClock()
  server = await testServer({
    store: await openRevisionStore(disk.open, { clock, log: silentLogger, metrics: noMetrics }),
  })
  client = server.client()
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  const first = await create('first')
  watch = await client.open(`${path}?watch=1&resourceVersion=${versionOf(first)}`)
})

afterEach(async () => {
  disk.release()
  disk.offline = undefined
  watch.cancel()
  await server.close()
})

const unknown = {
  status: 503,
  headers: { 'retry-after': '1' },
  json: { kind: 'Status', reason: 'ServiceUnavailable', details: { retryAfterSeconds: 1 } },
}

async function expectRefused(fault: string): Promise<void> {
  expect(await create('refused')).toMatchObject({
    ...unknown,
    json: { ...unknown.json, message: `the store cannot write at the moment: ${fault}` },
  })
  expect(await client.send('/readyz')).toMatchObject({
    status: 500,
    text: expect.stringContaining('[-]store'),
  })
  expect(await client.send('/readyz/store')).toMatchObject({
    status: 500,
    text: `internal server error: the store cannot write, ${fault}\n`,
  })
  expect((await client.send('/readyz?exclude=store')).status).toBe(200)
  expect((await client.send('/livez')).status).toBe(200)
}

async function expectHealed(): Promise<void> {
  await eventually(async () => {
    await clock.advance(1000)
    expect((await client.send('/readyz/store')).status).toBe(200)
  })
  expect((await create('last')).status).toBe(201)
}

it.each(['before', 'after'] as const)(
  'a disk that fails %s it has written: 503, reads go on, and all is well without a restart',
  async fault => {
    const before = versionOf(await client.send(path))
    disk.writeFaults.push(fault)
    disk.offline = new Error('IO error: /var/lib/000007.log: No space left on device')
    const failed = await create('lost')
    expect(failed).toMatchObject(unknown)
    expect(failed.text).toContain('it is unknown whether the change was made')
    await clock.advance(120_000)
    await expectRefused('its disk is full')
    expect(failed.text).not.toContain('/var/lib')
    expect(await listed(before)).toEqual(['first'])
    disk.offline = undefined
    await expectHealed()
    const made = fault === 'after' ? ['lost'] : []
    expect(await listed(before)).toEqual(['first', 'last', ...made])
    for (const name of [...made, 'last']) expect(await nextEvent()).toEqual({ type: 'ADDED', name })
  },
)

it('a disk that hangs for two minutes: 503, reads go on, and the write that hung is shown at last', async () => {
  const before = versionOf(await client.send(path))
  disk.hold()
  const asked = disk.batches.length
  const hanging = create('late')
  await disk.arrived(asked + 1)
  await clock.advance(120_000)
  expect(await hanging).toMatchObject(unknown)
  await expectRefused('its disk does not answer')
  expect(await listed(before)).toEqual(['first'])
  disk.release()
  await expectHealed()
  expect(await listed(before)).toEqual(['first', 'last', 'late'])
  for (const name of ['late', 'last']) expect(await nextEvent()).toEqual({ type: 'ADDED', name })
})

it('a queue that is full: 429 with a time after which to ask again', async () => {
  await server.close()
  disk = new FaultyDisk()
  const bounds = { queuedWrites: 2, clock, log: silentLogger, metrics: noMetrics }
  server = await testServer({ store: await openRevisionStore(disk.open, bounds) })
  client = server.client()
  await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
  disk.hold()
  const asked = disk.batches.length
  const all = [create('first')]
  await disk.arrived(asked + 1)
  const answered: ApiAnswer[] = []
  for (let count = 0; count < 10; count++) {
    const answer = create(`n${count}`)
    all.push(answer)
    answer.then(
      one => answered.push(one),
      () => undefined,
    )
  }
  await eventually(() => expect(answered).toHaveLength(8))
  for (const answer of answered) {
    expect(answer).toMatchObject({
      status: 429,
      headers: { 'retry-after': '1' },
      json: { reason: 'TooManyRequests', message: 'too many writes are waiting for the store' },
    })
  }
  disk.release()
  expect((await Promise.all(all)).filter(answer => answer.status === 201)).toHaveLength(3)
})
