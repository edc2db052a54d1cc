// What the API server does in a second, beside a bare TLS server that answers one fixed object and stores nothing.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { parse } from 'yaml'
import { startFleet, temporaryFolder } from '../support/fleet.ts'
import type { Bench, Row } from './bench.ts'
import { type Call, load, type Rate, send, type Target } from './load.ts'

const path = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/bench/serviceimports'
/** Where creates go, so that lists do not grow. */
const newPath = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/default/serviceimports'
const rounds = 3
const options = { clients: 32, durationMs: 2_000 }

const serviceImport = (name: string): string =>
  JSON.stringify({
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: { name, namespace: 'bench', labels: { app: 'shop' } },
    spec: {
      type: 'ClusterSetIP',
      ips: ['10.100.0.1'],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    },
  })

const fresh = (n: number): string =>
  serviceImport(`new-${Date.now()}-${n}`).replace('"namespace":"bench",', '')

function credentials(kubeconfig: string): { cert: string; key: string } {
  const user = parse(readFileSync(kubeconfig, 'utf8')).users[0].user
  const text = (base64: string): string => Buffer.from(base64, 'base64').toString()
  return { cert: text(user['client-certificate-data']), key: text(user['client-key-data']) }
}

async function startBare(
  folder: string,
  identity: { cert: string; key: string },
): Promise<{ child: ChildProcess; port: number }> {
  writeFileSync(join(folder, 'bare.crt'), identity.cert)
  writeFileSync(join(folder, 'bare.key'), identity.key)
  const script = join(import.meta.dirname, 'bare-server.ts')
  const child = spawn(process.execPath, [script, join(folder, 'bare.crt'), join(folder, 'bare.key')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin?.end(serviceImport('any'))
  if (child.stdout === null) throw new Error('the bare server has no output')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  return { child, port: Number(String(line).split(' ')[1]) }
}

type Case = { readonly what: string; readonly call: (n: number) => Call }

const cases: readonly Case[] = [
  { what: 'create', call: n => ({ method: 'POST', path: newPath, body: fresh(n) }) },
  { what: 'get', call: n => ({ method: 'GET', path: `${path}/seed-${n % 500}` }) },
  { what: 'list of 500', call: () => ({ method: 'GET', path }) },
]

async function seed(target: Target): Promise<void> {
  const namespace = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'bench' } })
  await send(target, { method: 'POST', path: '/api/v1/namespaces', body: namespace })
  for (let n = 0; n < 500; n++) {
    const body = serviceImport(`seed-${n}`)
    const code = await send(target, { method: 'POST', path, body })
    if (code !== 201) throw new Error(`seeding answered ${code}`)
  }
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

async function compare(ours: Target, bare: Target): Promise<Row[]> {
  const rows: Row[] = []
  for (const { what, call } of cases) {
    const measured: Rate[] = []
    const baseline: Rate[] = []
    for (let round = 0; round < rounds; round++) {
      baseline.push(await load(bare, options, call))
      measured.push(await load(ours, options, call))
    }
    const failures = measured.reduce((sum, rate) => sum + rate.failures, 0)
    if (failures > 0) throw new Error(`${what}: ${failures} requests failed`)
    rows.push({
      what: `${what}, 32 clients over TLS`,
      unit: '/s',
      value: median(measured.map(rate => rate.perSecond)),
      baseline: median(baseline.map(rate => rate.perSecond)),
    })
    rows.push({ what: `${what}, p99`, unit: 'ms', value: median(measured.map(rate => rate.p99Ms)) })
  }
  return rows
}

export const apiThroughput: Bench = {
  name: 'API server throughput',
  async run() {
    const folder = temporaryFolder()
    const home = join(folder.path, 'home')
    const fleet = await startFleet({ home, args: ['--controllers', 'none', '--members', 'east'] })
    const identity = credentials(fleet.kubeconfig)
    const bare = await startBare(folder.path, identity)
    try {
      const ours = { port: fleet.port + 1, ...identity }
      await seed(ours)
      return await compare(ours, { port: bare.port })
    } finally {
      bare.child.kill()
      await fleet.stop()
      folder.dispose()
    }
  },
}
