// How long an API server under load keeps others waiting: the delay of its event loop, as its metrics tell it.
import { join } from 'node:path'
import { systemClock } from '../../src/kernel/clock.ts'
import { type ApiCall, type ApiClient, apiClient } from '../support/api-client.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { adminOf, listenAt, startRole } from '../support/role-process.ts'
import type { Bench, Row } from './bench.ts'

const path = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/bench/serviceimports'
const objects = 3_000
const clients = 32
const mostMs = 50

const post = (kind: string, apiVersion: string, more: Readonly<Record<string, unknown>>): ApiCall => ({
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ apiVersion, kind, ...more }),
})
const anImport = (name: string): ApiCall =>
  post('ServiceImport', 'multicluster.x-k8s.io/v1beta1', {
    metadata: { name },
    spec: { type: 'ClusterSetIP', ips: ['10.112.0.1'], ports: [{ name: 'http', port: 80, protocol: 'TCP' }] },
  })

type Load = {
  readonly what: string
  send(client: ApiClient, n: number): Promise<{ readonly status: number }>
}

const loads: readonly Load[] = [
  { what: 'gets', send: (client, n) => client.send(`${path}/seed-${n % objects}`) },
  { what: 'creates', send: (client, n) => client.send(path, anImport(`new-${n}`)) },
  { what: `lists of ${objects} and more`, send: client => client.send(path) },
]

/** 99 of a hundred delays since it was asked last are shorter, in ms. */
async function delayMs(client: ApiClient): Promise<number> {
  const { text } = await client.send('/metrics')
  return 1000 * Number(/^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(text)?.[1])
}

/** Every client sends one request after the other. */
async function loadWith(all: readonly ApiClient[], { send, what }: Load, durationMs: number): Promise<void> {
  const until = systemClock.now() + durationMs
  let n = 0
  const one = async (client: ApiClient): Promise<void> => {
    while (systemClock.now() < until) {
      const { status } = await send(client, n++)
      if (status >= 400) throw new Error(`${what}: ${status}`)
    }
  }
  await Promise.all(all.map(one))
}

async function measure(connect: () => ApiClient, short: boolean): Promise<readonly Row[]> {
  const all = Array.from({ length: clients }, connect)
  const asking = connect()
  await asking.send('/api/v1/namespaces', post('Namespace', 'v1', { metadata: { name: 'bench' } }))
  for (let n = 0; n < objects; n += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, i) => asking.send(path, anImport(`seed-${n + i}`))))
  }
  const rows: Row[] = []
  for (const one of loads) {
    await delayMs(asking)
    await loadWith(all, one, short ? 1_000 : 10_000)
    const value = await delayMs(asking)
    rows.push({
      what: `p99, ${clients} clients, ${one.what}`,
      unit: 'ms',
      value,
      ...(short ? {} : { must: { valueBelow: mostMs } }),
    })
  }
  return rows
}

export const eventLoop: Bench = {
  name: 'event loop under load',
  hasShortForm: true,
  async run({ short }) {
    const folder = temporaryFolder()
    const port = await freePorts()
    const home = join(folder.path, 'home')
    const server = await startRole(['apiserver', ...listenAt(home, port)])
    const options = adminOf(home, port)
    const made: ApiClient[] = []
    const connect = (): ApiClient => {
      const client = apiClient('HTTP/1.1', options)
      made.push(client)
      return client
    }
    try {
      return await measure(connect, short)
    } finally {
      await Promise.all(made.map(client => client.close()))
      await server.stop()
      folder.dispose()
    }
  },
}
