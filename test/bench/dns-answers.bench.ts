// What one worker answers, beside other servers that are asked the same in turn: a bare socket that knows one answer,
// CoreDNS over the same API server, Knot and NSD with the same zone.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startKnot, startNsd } from '../peers/authorities.ts'
import { multiclusterCorefile, startCoreDns } from '../peers/coredns.ts'
import { context, createNamespace, startWorld } from '../peers/world.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import type { Bench, Row } from './bench.ts'
import {
  ask,
  type Load,
  type Measured,
  requireDnsperf,
  type Server,
  startScript,
  stopScript,
} from './dns-load.ts'
import { createServices } from './dns-services.ts'
import { median, quantile } from './quantile.ts'

const rounds = 3
const seconds = 3
const services = 1000
const addressOf = (i: number): string => `10.42.${i >> 8}.${i & 255}`

type Servers = {
  readonly ours: Server
  readonly bare: Server
  readonly coreDns: Server
  readonly authorities: readonly Server[]
}
type Figures = ReadonlyMap<string, readonly Measured[]>

/** Rounds in turn, so that what else the machine does falls on all; one before them for the compilers. */
async function rounded(servers: readonly Server[], load: Load): Promise<Figures> {
  const figures = new Map<string, Measured[]>(servers.map(({ name }) => [name, []]))
  for (const server of servers) await ask(server, { ...load, seconds: 1 })
  for (let round = 0; round < rounds; round++) {
    for (const server of servers) figures.get(server.name)?.push(await ask(server, load))
  }
  return figures
}

function medianOf(figures: Figures, server: Server, figure: (measured: Measured) => number): number {
  return median((figures.get(server.name) ?? []).map(figure))
}

const perCpuSecond = (measured: Measured): number => measured.perCpuSecond
const p99 = ({ latenciesMs }: Measured): number => quantile(latenciesMs, 0.99)

async function overUdp({ ours, bare, coreDns }: Servers, file: string): Promise<readonly Row[]> {
  const load = { file, transport: 'udp', seconds, outstanding: 100 } as const
  const figures = await rounded([ours, bare, coreDns], load)
  const value = medianOf(figures, ours, perCpuSecond)
  const row = (what: string, other: Server, atLeast: number): Row => ({
    what: `UDP, a second of CPU, beside ${what}`,
    unit: '',
    value,
    baseline: medianOf(figures, other, perCpuSecond),
    must: { ratioAtLeast: atLeast },
  })
  return [
    { what: 'UDP, one worker', unit: '/s', value: medianOf(figures, ours, ({ perSecond }) => perSecond) },
    row('a bare socket', bare, 0.8),
    row('CoreDNS', coreDns, 3),
    lostRow('UDP, lost', figures, ours),
  ]
}

function lostRow(what: string, figures: Figures, server: Server): Row {
  const value = (figures.get(server.name) ?? []).reduce((sum, { lost }) => sum + lost, 0)
  return { what, unit: '', value, must: { valueBelow: 1 } }
}

/** Clients that send many queries at once, as TCP is for, and such that wait for most answers. */
async function overTcp({ ours, authorities }: Servers, file: string): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (const outstanding of [100, 1000]) {
    const load = { file, transport: 'tcp', seconds, outstanding } as const
    const figures = await rounded([ours, ...authorities], load)
    const fastest = Math.max(...authorities.map(server => medianOf(figures, server, perCpuSecond)))
    const value = medianOf(figures, ours, perCpuSecond)
    const what = `TCP, ${outstanding} outstanding, a second of CPU`
    const must = outstanding === 100 ? {} : { must: { ratioAtLeast: 3 } }
    rows.push({ what, unit: '', value, baseline: fastest, ...must }, lostRow(`${what}, lost`, figures, ours))
  }
  return rows
}

async function latency({ ours, coreDns }: Servers, file: string, busy: () => void): Promise<readonly Row[]> {
  const load = { file, transport: 'udp', seconds, outstanding: 100, perSecond: 5000 } as const
  const quiet = await rounded([ours, coreDns], load)
  busy()
  const disturbed = await rounded([ours, coreDns], load)
  const row = (what: string, figures: Figures): Row => ({
    what,
    unit: 'ms',
    value: medianOf(figures, ours, p99),
    baseline: medianOf(figures, coreDns, p99),
    must: { ratioBelow: 1 },
  })
  return [
    row('UDP at 5,000/s, p99, beside CoreDNS', quiet),
    row('the same, our main thread busy 100 ms a second', disturbed),
    lostRow('lost at 5,000/s', quiet, ours),
    lostRow('lost at 5,000/s, main thread busy', disturbed, ours),
  ]
}

function zoneText(): string {
  const head =
    '$ORIGIN clusterset.local.\n$TTL 5\n@ SOA ns.dns hostmaster 1 7200 1800 86400 5\n@ NS ns.dns\nns.dns A 127.0.0.1\n'
  return head + Array.from({ length: services }, (_, i) => `s${i}.prod.svc A ${addressOf(i)}\n`).join('')
}

export const dnsAnswers: Bench = {
  name: 'dns answers',
  async run() {
    requireDnsperf()
    const folder = temporaryFolder()
    const port = await freePorts()
    const close: (() => Promise<void>)[] = [async () => folder.dispose()]
    const keep = <T>(opened: T, end: () => Promise<void>): T => {
      close.push(end)
      return opened
    }
    try {
      const world = await startWorld(folder.path)
      keep(world, () => world.close())
      await createNamespace(world.cluster, 'prod')
      await createServices(world.cluster, services, i => ({
        namespace: 'prod',
        name: `s${i}`,
        type: 'ClusterSetIP',
        ips: [addressOf(i)],
        ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
        slices: [],
      }))
      const file = join(folder.path, 'queries')
      writeFileSync(
        file,
        Array.from({ length: services }, (_, i) => `s${i}.prod.svc.clusterset.local A\n`).join(''),
      )
      const ours = await startScript('dns-server.ts', world.kubeconfig, context, '1')
      keep(ours, () => stopScript(ours))
      const bare = await startScript('bare-dns.ts')
      keep(bare, () => stopScript(bare))
      // What we do too: it counts, and begins at another record each time.
      const plugins = ['errors', `prometheus 127.0.0.1:${port + 3}`, 'loadbalance']
      const corefile = multiclusterCorefile(port, { kubeconfig: world.kubeconfig, context }, plugins)
      const coreDns = await startCoreDns({ folder: folder.path, port, corefile })
      keep(coreDns, () => coreDns.stop())
      const knot = await startKnot({ folder: join(folder.path, 'knot'), port: port + 1, zone: zoneText() })
      keep(knot, () => knot.stop())
      const nsd = await startNsd({ folder: join(folder.path, 'nsd'), port: port + 2, zone: zoneText() })
      keep(nsd, () => nsd.stop())
      const authorities = [
        { name: 'knot', ...knot },
        { name: 'nsd', ...nsd },
      ]
      const servers = { ours, bare, coreDns: { name: 'CoreDNS', ...coreDns }, authorities }
      const udp = await overUdp(servers, file)
      const tcp = await overTcp(servers, file)
      return [...udp, ...tcp, ...(await latency(servers, file, () => ours.child.kill('SIGUSR2')))]
    } finally {
      for (const end of close.toReversed()) await end()
    }
  },
}
