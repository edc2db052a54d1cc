// Thousands of watches that wait, a thousand of them on each connection: what each costs, that all hear of a change, and
// that nothing of them is left.
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { pssMegabytes } from '../bench/memory.ts'
import { type ApiClient, apiClient, type OpenAnswer } from '../support/api-client.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { adminOf, listenAt, type RoleProcess, startRole } from '../support/role-process.ts'

const onConnection = 1_000
/** `npm run soak` has ten thousand. */
const count = Number(process.env.WATCHES ?? 3_000)
/** Of the server's memory, sockets of the kernel apart. */
const mostKilobytesOfWatch = 60

const limits = ['--max-requests-inflight', '77', '--max-mutating-requests-inflight', '33']

const folder = temporaryFolder()
const exports_ = '/apis/multicluster.x-k8s.io/v1beta1/serviceexports'
const json = { 'content-type': 'application/json' }
let server: RoleProcess
let connect: () => ApiClient
let admin: ApiClient
const clients: ApiClient[] = []

beforeAll(async () => {
  const port = await freePorts()
  const home = join(folder.path, 'home')
  server = await startRole(['apiserver', ...listenAt(home, port), ...limits])
  const options = adminOf(home, port)
  connect = () => {
    const client = apiClient('HTTP/2', options)
    clients.push(client)
    return client
  }
  admin = connect()
}, 60_000)
afterAll(async () => {
  await Promise.all(clients.map(client => client.close()))
  await server.stop()
  folder.dispose()
})

async function open(): Promise<readonly OpenAnswer[]> {
  const client = connect()
  return Promise.all(Array.from({ length: onConnection }, () => client.open(`${exports_}?watch=1`)))
}

async function openWatches(): Promise<number> {
  const { text } = await admin.send('/metrics')
  const line = /^apiserver_longrunning_requests\{verb="WATCH".*resource="serviceexports".*\} (\d+)$/m.exec(
    text,
  )
  return Number(line?.[1] ?? 0)
}

it(`${count} watches cost at most ${mostKilobytesOfWatch} KB each, hear of a change, and leave nothing`, async () => {
  const before = await openWatches()
  const watches = [...(await open())]
  const first = pssMegabytes(server.pid)
  while (watches.length < count) watches.push(...(await open()))
  expect(await openWatches()).toBe(before + count)
  const kilobytes = ((pssMegabytes(server.pid) - first) * 1000) / (count - onConnection)
  expect(kilobytes).toBeLessThan(mostKilobytesOfWatch)

  const body = (kind: string, apiVersion: string, name: string) => ({
    method: 'POST',
    headers: json,
    body: JSON.stringify({ apiVersion, kind, metadata: { name } }),
  })
  await admin.send('/api/v1/namespaces', body('Namespace', 'v1', 'shop'))
  const created = await admin.send(
    exports_.replace('/serviceexports', '/namespaces/shop/serviceexports'),
    body('ServiceExport', 'multicluster.x-k8s.io/v1beta1', 'web'),
  )
  expect(created.status).toBe(201)
  const lines = await Promise.all(watches.map(watch => watch.line()))
  expect(new Set(lines.map(line => JSON.parse(line ?? '').object.metadata.name))).toEqual(new Set(['web']))

  for (const watch of watches) watch.cancel()
  await eventually(async () => expect(await openWatches()).toBe(before), 60_000)
}, 300_000)

it('the server has the limits that it was given', async () => {
  const { text } = await admin.send('/metrics')
  const seats = text.matchAll(
    /^apiserver_flowcontrol_nominal_limit_seats\{priority_level="([a-z-]+)"\} (\d+)$/gm,
  )
  expect(Object.fromEntries([...seats].map(([, level, held]) => [level, Number(held)]))).toEqual({
    'leader-election': 40,
    readonly: 77,
    mutating: 33,
  })
})
