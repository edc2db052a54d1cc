// npm run soak [-- MINUTES]: stores that are killed, lose power and are damaged for some minutes, with another seed each
// time; every case of the MCS API in a thousand orders; ten thousand watches; the speed of the API server, which must not
// be below its floors, and the delay of its event loop; then the demo with one endpoint change a second, and the memory
// it takes (sum of PSS).
import { spawnSync } from 'node:child_process'
import { availableParallelism, loadavg } from 'node:os'
import { EndpointSliceKind } from '../src/api/kinds/endpoint-slice.ts'
import { NamespaceKind } from '../src/api/kinds/namespace.ts'
import { ServiceKind } from '../src/api/kinds/service.ts'
import { ServiceExportKind } from '../src/api/kinds/service-export.ts'
import type { ClusterClient } from '../src/cluster/client.ts'
import { resource } from '../src/cluster/cluster.ts'
import { never, sleep } from '../src/kernel/abort.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { pssMegabytes } from '../test/bench/memory.ts'
import { startFleet, temporaryFolder } from '../test/support/fleet.ts'
import { contextClient } from '../test/support/fleet-client.ts'

const minutes = Number(process.argv[2] ?? 10)
const namespace = 'soak'

async function prepare(cluster: ClusterClient): Promise<void> {
  const metadata = { name: 'web', namespace }
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' as const }]
  await cluster.create(
    resource(NamespaceKind),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    never,
  )
  await cluster.create(
    resource(ServiceKind),
    { apiVersion: 'v1', kind: 'Service', metadata, spec: { ports } },
    never,
  )
  await cluster.create(
    resource(ServiceExportKind),
    { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', metadata },
    never,
  )
  await cluster.create(
    resource(EndpointSliceKind),
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...metadata, labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.1'] }],
      ports,
    },
    never,
  )
}

/** The long forms of test/kill, two minutes of SIGKILL under load and as much again of the rest, hubs on one etcd too; of test/load; and of the orders of test/cases. */
function killStores(): void {
  const often = {
    KILLS: '120',
    MEMBERS: '10',
    DEATHS: '60',
    LOSSES: '400',
    DAMAGES: '150',
    WATCHES: '10000',
    HUB_KILLS: '30',
    CASE_RUNS: '1000',
    CASE_MS: '120000',
    SEED: process.env.SEED ?? 'random',
  }
  const ran = spawnSync(
    'vitest',
    [
      'run',
      '--config',
      'hack/config/vitest.ts',
      'test/kill',
      'test/load',
      'test/cases/order',
      'test/property/linear',
      'test/flow/replicas',
    ],
    {
      stdio: 'inherit',
      env: { ...process.env, ...often },
    },
  )
  if (ran.status !== 0) process.exit(1)
}

/** Beside kube-apiserver where it is built; not before what was killed and watched no longer has the processors. */
async function judgeSpeed(): Promise<void> {
  const until = systemClock.now() + 300_000
  while ((loadavg()[0] ?? 0) > availableParallelism() / 2 && systemClock.now() < until)
    await sleep(systemClock, 5_000, never)
  const ran = spawnSync('node', ['hack/bench.ts', 'api', 'event', '--gate'], { stdio: 'inherit' })
  if (ran.status !== 0) process.exit(1)
}

killStores()
await judgeSpeed()
const folder = temporaryFolder()
const fleet = await startFleet({ home: folder.path })
const clients = await Promise.all(['east', 'west'].map(context => contextClient(fleet.kubeconfig, context)))
try {
  for (const client of clients) await prepare(client)
  process.stdout.write(`soak: start ${pssMegabytes(fleet.pid).toFixed(0)} MB\n`)
  for (let second = 1; second <= minutes * 60; second++) {
    const client = clients[second % 2]
    const addresses = [`10.1.${second % 250}.${1 + Math.floor(second / 250)}`]
    await client?.mergePatch(
      resource(EndpointSliceKind),
      { namespace, name: 'web' },
      { endpoints: [{ addresses }] },
      { signal: never },
    )
    if (second % 60 === 0)
      process.stdout.write(`soak: minute ${second / 60}: ${pssMegabytes(fleet.pid).toFixed(0)} MB\n`)
    await sleep(systemClock, 1_000, never)
  }
  process.stdout.write(`soak: end ${pssMegabytes(fleet.pid).toFixed(0)} MB (limit 300)\n`)
  process.exitCode = pssMegabytes(fleet.pid) < 300 ? 0 : 1
} finally {
  for (const client of clients) client.close()
  await fleet.stop()
  folder.dispose()
}
