// A whole fleet under load: one hub, and members in four processes, each with a real agent, real imports, slices and derived
// Services, and the view of a DNS. Not in CI: it takes minutes and both cores. FLEET_LOAD=MEMBERSxSERVICES makes it smaller.
import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { MemberClusterKind } from '../../../src/api/kinds/member-cluster.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { resource } from '../../../src/cluster/cluster.ts'
import { never, sleep } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { createToken } from '../../../src/roles/token.ts'
import { freePorts, temporaryFolder } from '../../support/fleet.ts'
import { contextClient } from '../../support/fleet-client.ts'
import { startRole } from '../../support/role-process.ts'
import type { Bench, Row } from '../bench.ts'
import { quantile } from '../quantile.ts'
import type { FromWorker, MemberPlan, ServerPlan, ServicePlan, ToWorker } from './plan.ts'

const [memberCount = 100, serviceCount = 2_000] = (process.env.FLEET_LOAD ?? '100x2000')
  .split('x')
  .map(Number)
const importersEach = 10
const workerCount = 4
const changes = 100
/** One service in so many is headless, so that DNS answers with its endpoints. */
const headlessEvery = 10
const limitMs = 600_000

const groups = memberCount / importersEach
const memberClusters = resource(MemberClusterKind)

type Worker = { readonly child: ChildProcess; readonly servers: ServerPlan[] }

class Workers {
  readonly all: readonly Worker[]
  readonly #listeners = new Set<(message: FromWorker, worker: Worker) => void>()

  constructor() {
    this.all = Array.from({ length: workerCount }, () => {
      const child = fork(join(import.meta.dirname, 'worker.ts'), { execArgv: ['--max-old-space-size=4096'] })
      const worker: Worker = { child, servers: [] }
      child.on('message', (message: FromWorker) => {
        for (const listener of this.#listeners) listener(message, worker)
      })
      return worker
    })
  }

  listen(listener: (message: FromWorker, worker: Worker) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells everybody, and waits for an answer of each. */
  async ask(message: (worker: Worker) => ToWorker, isAnswer: (answer: FromWorker) => boolean) {
    const answers = new Map<Worker, FromWorker>()
    const all = Promise.withResolvers<void>()
    const stop = this.listen((answer, worker) => {
      if (answer.type === 'failed') all.reject(new Error(answer.error))
      if (isAnswer(answer)) answers.set(worker, answer)
      if (answers.size === this.all.length) all.resolve()
    })
    for (const worker of this.all) worker.child.send(message(worker))
    try {
      await all.promise
      return [...answers.values()]
    } finally {
      stop()
    }
  }

  stop(): void {
    for (const { child } of this.all) child.kill('SIGKILL')
  }
}

function plans(
  workers: Workers,
  folder: string,
  base: number,
  tokens: readonly string[],
): readonly MemberPlan[] {
  const members = Array.from({ length: memberCount }, (_, at): MemberPlan => {
    const [group, place] = [at % groups, Math.floor(at / groups)]
    const own = Array.from({ length: serviceCount / groups }, (_each, n) => n).filter(
      n => n % importersEach === place,
    )
    return {
      id: `m${at}`,
      namespace: `group-${group}`,
      token: tokens[at] ?? '',
      services: own.map(n => ({
        name: `s${n}`,
        headless: n % headlessEvery === 0,
        address: `10.0.${group}.${place + 1}`,
      })),
    }
  })
  for (let place = 0; place < importersEach; place++) {
    const worker = workers.all[place % workerCount]
    const shared = members.slice(place * groups, (place + 1) * groups)
    worker?.servers.push({ home: join(folder, `server-${place}`), port: base + 1 + place, members: shared })
  }
  return members
}

async function narrow(hub: ClusterClient, members: readonly MemberPlan[]): Promise<void> {
  for (const { id, namespace } of members)
    await hub.mergePatch(
      memberClusters,
      { name: id },
      { spec: { namespaces: [namespace] } },
      { signal: never },
    )
}

type Written = { readonly imports: number; readonly slices: number; readonly derived: number }

/** What the agents of all workers have written. */
async function written(workers: Workers): Promise<Written> {
  const answers = await workers.ask(
    () => ({ type: 'count' }),
    answer => answer.type === 'counts',
  )
  const counts = answers.filter(answer => answer.type === 'counts')
  const sum = (what: keyof Written): number => counts.reduce((all, answer) => all + answer[what], 0)
  return { imports: sum('imports'), slices: sum('slices'), derived: sum('derived') }
}

/** Milliseconds until every import, slice and derived Service is written. */
async function settle(workers: Workers): Promise<number> {
  if (process.env.FLEET_LOAD_VERBOSE !== undefined) process.stderr.write('exporting\n')
  const startedMs = performance.now()
  const headless = Math.ceil(serviceCount / groups / headlessEvery) * groups
  const imports = serviceCount * importersEach
  const derived = (serviceCount - headless) * importersEach
  await workers.ask(
    () => ({ type: 'export' }),
    answer => answer.type === 'done',
  )
  for (;;) {
    const now = await written(workers)
    const tookMs = performance.now() - startedMs
    const text = `${(tookMs / 1_000).toFixed(0)} s: ${JSON.stringify(now)} of ${imports} and ${derived}\n`
    if (process.env.FLEET_LOAD_VERBOSE !== undefined) process.stderr.write(text)
    if (now.imports >= imports && now.slices >= imports && now.derived >= derived) return tookMs
    if (tookMs > limitMs) throw new Error(`not settled in time: ${text}`)
    await sleep(systemClock, 500, never)
  }
}

type Exporter = { readonly member: MemberPlan; readonly service: ServicePlan }

/** Milliseconds from each change of an endpoint to the view of each importer. */
async function propagate(workers: Workers, members: readonly MemberPlan[]): Promise<readonly number[]> {
  const exporters = members.flatMap(member =>
    member.services.filter(({ headless }) => headless).map(service => ({ member, service })),
  )
  const times: number[] = []
  for (let n = 0; n < changes; n++) {
    const exporter = exporters[(n * 37) % exporters.length]
    const address = `10.1.${Math.floor(n / 250)}.${(n % 250) + 1}`
    if (exporter !== undefined) times.push(...(await arrivals(workers, exporter, address)))
  }
  return times.sort((a, b) => a - b)
}

/** Changes the first endpoint of a service; milliseconds until each importer answers with it. */
async function arrivals(
  workers: Workers,
  { member, service }: Exporter,
  address: string,
): Promise<readonly number[]> {
  const key = `${member.namespace}/${service.name}`
  const seen = new Map<string, number>()
  let changedMs: number | undefined
  const take = (message: FromWorker): void => {
    if (message.type === 'changed' && message.address === address) changedMs = message.atMs
    if (message.type !== 'view' || message.key !== key || message.first !== address) return
    if (!seen.has(message.member)) seen.set(message.member, message.atMs)
  }
  const all = Promise.withResolvers<void>()
  const stop = workers.listen(message => {
    if (message.type === 'failed') all.reject(new Error(message.error))
    take(message)
    if (changedMs !== undefined && seen.size === importersEach) all.resolve()
  })
  const hosts = (server: ServerPlan): boolean => server.members.some(({ id }) => id === member.id)
  const worker = workers.all.find(({ servers }) => servers.some(hosts))
  const message: ToWorker = { type: 'change', member: member.id, service: service.name, address }
  worker?.child.send(message)
  try {
    await all.promise
    return [...seen.values()].map(atMs => atMs - (changedMs ?? atMs))
  } finally {
    stop()
  }
}

/** MB (10^6) of resident memory. */
function residentMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1]) * 1_024) / 1_000_000
}

/** Seconds of processor time that these processes have taken. Linux counts in hundredths. */
function processorSeconds(pids: readonly (number | undefined)[]): number {
  const ticks = pids.map(pid => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ')
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((sum, each) => sum + each, 0) / 100
}

async function tokensOf(hub: ClusterClient, home: string, port: number): Promise<readonly string[]> {
  const tokens: string[] = []
  const ca = readFileSync(join(home, 'pki', 'ca.crt'), 'utf8')
  const given = { lifetimeMs: 3_600_000, servers: [`https://127.0.0.1:${port}`], ca, clock: systemClock }
  for (let at = 0; at < memberCount; at++)
    tokens.push(await createToken(hub, { ...given, clusterId: `m${at}` }, never))
  return tokens
}

export const fleetLoad: Bench = {
  name: 'fleet-load',
  async run(): Promise<readonly Row[]> {
    const folder = temporaryFolder()
    const home = join(folder.path, 'hub')
    const port = await freePorts()
    const local = ['--host', '127.0.0.1', '--log-level', 'error', '--advertise', `127.0.0.1:${port}`]
    const hub = await startRole(['hub', '--home', home, '--port', `${port}`, ...local])
    const workers = new Workers()
    const client = await contextClient(join(home, 'kubeconfig'), 'hub')
    try {
      const members = plans(workers, folder.path, port, await tokensOf(client, home, port))
      await workers.ask(
        ({ servers }) => ({ type: 'start', servers }),
        answer => answer.type === 'done',
      )
      await narrow(client, members)
      await workers.ask(
        () => ({ type: 'agents' }),
        answer => answer.type === 'done',
      )
      await sleep(systemClock, 5_000, never)
      const pids = [hub.pid, ...workers.all.map(({ child }) => child.pid)]
      const before = processorSeconds(pids)
      const settledMs = await settle(workers)
      const took = processorSeconds(pids) - before
      const times = await propagate(workers, members)
      const [load = 0] = loadavg()
      const what = `${memberCount} members, ${serviceCount} services of 10 endpoints`
      return [
        { what: `${what}: settled`, unit: 's', value: settledMs / 1_000, must: { valueBelow: 120 } },
        { what: 'processor time of that, all processes', unit: 's', value: took },
        { what: 'one endpoint to the DNS view of 10 members, p50', unit: 'ms', value: quantile(times, 0.5) },
        {
          what: 'one endpoint to the DNS view of 10 members, p99',
          unit: 'ms',
          value: quantile(times, 0.99),
          must: { valueBelow: 1_000 },
        },
        {
          what: 'memory of the hub (RSS)',
          unit: 'MB',
          value: residentMb(hub.pid),
          must: { valueBelow: 1_000 },
        },
        { what: 'load of the machine at the end', unit: '', value: load },
      ]
    } finally {
      workers.stop()
      client.close()
      await hub.kill()
      folder.dispose()
    }
  },
}
