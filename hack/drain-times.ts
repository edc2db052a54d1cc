// npm run e2e:drain: how long after a taint a drained cluster gets no new connection, stage by stage, see docs/operations.md.
import { parseArgs } from 'node:util'
import { type ClusterSetService, ClusterSetServiceKind } from '../src/api/kinds/cluster-set-service.ts'
import { EndpointSliceKind } from '../src/api/kinds/endpoint-slice.ts'
import { MemberClusterKind } from '../src/api/kinds/member-cluster.ts'
import { ServiceExportKind } from '../src/api/kinds/service-export.ts'
import { sliceManager, wellKnown } from '../src/api/well-known.ts'
import type { ClusterClient } from '../src/cluster/client.ts'
import { type Informer, resource } from '../src/cluster/cluster.ts'
import { startInformer } from '../src/cluster/informer.ts'
import { never, sleep } from '../src/kernel/abort.ts'
import { systemClock } from '../src/kernel/clock.ts'
import { silentLogger } from '../src/kernel/log.ts'
import { quantile } from '../test/bench/quantile.ts'
import { startClusterSet } from '../test/e2e/clusterset.ts'
import type { LabCluster } from '../test/e2e/lab/cluster.ts'
import { type Lab, startClusters } from '../test/e2e/lab/clusters.ts'
import { field, inClient, openShop } from '../test/e2e/shop-pods.ts'
import { eventually } from '../test/support/eventually.ts'
import { contextClient } from '../test/support/fleet-client.ts'
import { runScript } from './script.ts'

const usage = 'usage: node hack/drain-times.ts [--rounds=N] [--proxy-mode=nftables|iptables]\n'
const askedForSeconds = 5
/** kube-proxy waits up to a second from one change of its rules to the next. */
const quietMs = 2_500

type Wiring = {
  readonly hub: ClusterClient
  readonly west: LabCluster
  readonly westClient: ClusterClient
  readonly stop: AbortSignal
}

/** In milliseconds of this machine's clock. */
type Round = {
  readonly tainted: number
  readonly onHub: number
  readonly inSlice: number
} & Asked

type Asked = {
  /** When the last connection began that reached the drained cluster. */
  readonly last: number
  readonly connections: number
  /** When those began that nobody answered within a second. */
  readonly failed: readonly number[]
}

const now = (): number => performance.timeOrigin + performance.now()

/** When the informer first tells of an object that is so. */
function seen<O>(informer: Informer<O>, isWanted: (object: O) => boolean): Promise<number> {
  return new Promise(resolve => {
    informer.onChange(({ after }) => {
      if (after !== undefined && isWanted(after)) resolve(now())
    })
  })
}

/** Rounds with new informers each: these have no way to stop listening. */
async function round(wiring: Wiring): Promise<Round> {
  const { hub, stop, west, westClient } = wiring
  const own = new AbortController()
  const signal = AbortSignal.any([stop, own.signal])
  const common = { clock: systemClock, log: silentLogger }
  const services = startInformer(hub, resource(ClusterSetServiceKind), common, signal)
  const labels = [`${wellKnown.managedBy}=${sliceManager}`, `${wellKnown.serviceName}=web`]
  const ofWeb = { namespace: 'shop', labelSelector: [...labels, `${wellKnown.sourceCluster}=east`].join(',') }
  const slices = startInformer(westClient, resource(EndpointSliceKind), { ...ofWeb, ...common }, signal)
  await Promise.all([services.synced, slices.synced])
  const [address = ''] = await field(west, 'serviceimport/web', '{.spec.ips[*]}')
  const asking = inClient(west, `tools ask ${address}:80 ${askedForSeconds}`)
  await sleep(systemClock, 1_000 + Math.random() * 1_000, never)
  const onHub = seen(services, isDrained)
  const inSlice = seen(
    slices,
    ({ addressType, endpoints }) => addressType === 'IPv4' && endpoints[0]?.conditions?.ready === false,
  )
  const tainted = now()
  await taint(hub, [{ key: 'maintenance', effect: 'NoNewConnections' }])
  const found = { tainted, onHub: await onHub, inSlice: await inSlice, ...askedBy(await asking) }
  own.abort()
  await taint(hub, null)
  return found
}

function isDrained({ spec, status }: ClusterSetService): boolean {
  return spec.service === 'web' && status.clusters.some(({ cluster, taint: t }) => cluster === 'east' && !!t)
}

async function taint(hub: ClusterClient, taints: readonly object[] | null): Promise<void> {
  await hub.mergePatch(resource(MemberClusterKind), { name: 'east' }, { spec: { taints } }, { signal: never })
}

/** Of what `tools ask` printed. Throws when the drained cluster never answered, or still did at the end. */
function askedBy(output: string): Asked {
  const asked = output
    .trim()
    .split('\n')
    .map(line => line.split(' '))
  const to = (pod: string): readonly number[] =>
    asked.filter(([, who]) => who === pod).map(([began]) => Number(began))
  const [drained, other] = [to('web-east'), to('web-west')]
  const last = drained.at(-1)
  if (last === undefined) throw new Error('the cluster that was to be drained never answered')
  if (!(last + 1_000 < (other.at(-1) ?? 0)))
    throw new Error('the cluster was not drained when the round ended')
  return { last, connections: asked.length, failed: to('nobody') }
}

async function series(wiring: Wiring, what: string, rounds: number): Promise<void> {
  const found: Round[] = []
  for (let n = 0; n < rounds; n += 1) {
    await sleep(systemClock, quietMs, never)
    found.push(await round(wiring))
  }
  const row = (stage: string, of: (round: Round) => number): void => {
    const times = found.map(of).sort((a, b) => a - b)
    const [median, p95, most] = [0.5, 0.95, 1].map(q => quantile(times, q).toFixed(0).padStart(6))
    process.stdout.write(`  ${stage.padEnd(58)} ${median} ${p95} ${most} ms\n`)
  }
  process.stdout.write(`${what}, ${rounds} rounds: median, p95, most\n`)
  row('taint to the hub’s ClusterSetService', ({ onHub, tainted }) => onHub - tainted)
  row('from there to the EndpointSlice of the other cluster', ({ inSlice, onHub }) => inSlice - onHub)
  row('from there to the last new connection', ({ inSlice, last }) => Math.max(0, last - inSlice))
  row('taint to the last new connection', ({ last, tainted }) => last - tainted)
  const failed = found.flatMap(each => each.failed.map(time => Math.round(time - each.tainted)))
  const connections = found.reduce((sum, each) => sum + each.connections, 0)
  process.stdout.write(`  ${failed.length} of ${connections} connections failed`)
  process.stdout.write(failed.length === 0 ? '\n' : `, ${failed.join(' ms, ')} ms after the taint\n`)
}

async function measure(lab: Lab, rounds: number): Promise<void> {
  const [east, west] = lab.clusters
  if (east === undefined || west === undefined) throw new Error('this is about two clusters')
  const clusterSet = await startClusterSet(lab, 'shared')
  await openShop(east, { name: 'http', port: 80 })
  await openShop(west, { name: 'other', port: 81 })
  const [hub, westClient] = [await clusterSet.hubClient(), await contextClient(west.kubeconfig, west.name)]
  const stop = new AbortController()
  const wiring = { hub, west, westClient, stop: stop.signal }
  await eventually(async () => {
    const found = await inClient(
      west,
      'for _ in $(seq 20); do curl -s http://web.shop.svc.clusterset.local; done',
    )
    if (!found.includes('web-east') || !found.includes('web-west')) throw new Error(`only ${found}`)
  }, 60_000)
  await series(wiring, 'six services of the drained cluster', rounds)
  for (const { kubectl } of lab.clusters) {
    const others = ['db', 'disputed', 'near', 'sticky', 'strict']
    await kubectl.run(['delete', ServiceExportKind.plural, ...others, '-n', 'shop'])
  }
  await series(wiring, 'one service', rounds)
  stop.abort()
  hub.close()
  westClient.close()
}

async function main(args: readonly string[]): Promise<void> {
  const options = { rounds: { type: 'string', default: '20' }, 'proxy-mode': { type: 'string' } } as const
  const { rounds, 'proxy-mode': mode = 'nftables' } = parseArgs({ args: [...args], options }).values
  if (mode !== 'nftables' && mode !== 'iptables') throw new Error(usage)
  const lab = await startClusters({ name: 'drain', count: 2, nodes: true, proxyMode: mode })
  try {
    await measure(lab, Number(rounds))
  } finally {
    await lab.stop()
  }
}

await runScript(() => main(process.argv.slice(2)))
