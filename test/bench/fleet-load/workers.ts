// The processes of a load bench: one hub, and four workers with the API servers, agents and DNS views of the members.
import { type ChildProcess, fork } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ExportedEndpointSliceKind } from '../../../src/api/kinds/exported-endpoint-slice.ts'
import { MemberClusterKind } from '../../../src/api/kinds/member-cluster.ts'
import type { ClusterClient } from '../../../src/cluster/client.ts'
import { resource } from '../../../src/cluster/cluster.ts'
import { startInformer } from '../../../src/cluster/informer.ts'
import { never } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { silentLogger } from '../../../src/kernel/log.ts'
import { createToken } from '../../../src/roles/token.ts'
import { freePorts, temporaryFolder } from '../../support/fleet.ts'
import { contextClient } from '../../support/fleet-client.ts'
import { startRole } from '../../support/role-process.ts'
import type { Counts, FromWorker, MemberPlan, ServerPlan, ToWorker } from './plan.ts'

const workerCount = 4
const memberClusters = resource(MemberClusterKind)

type Worker = { readonly child: ChildProcess; readonly servers: ServerPlan[] }

export class Workers {
  readonly #all: readonly Worker[]
  readonly #listeners = new Set<(message: FromWorker, worker: Worker) => void>()

  constructor() {
    this.#all = Array.from({ length: workerCount }, () => {
      const child = fork(join(import.meta.dirname, 'worker.ts'), { execArgv: ['--max-old-space-size=4096'] })
      const worker: Worker = { child, servers: [] }
      child.on('message', (message: FromWorker) => {
        for (const listener of this.#listeners) listener(message, worker)
      })
      return worker
    })
  }

  get pids(): readonly (number | undefined)[] {
    return this.#all.map(({ child }) => child.pid)
  }

  /** In turn one server to each. */
  async start(servers: readonly ServerPlan[]): Promise<void> {
    for (const [at, server] of servers.entries()) this.#all[at % workerCount]?.servers.push(server)
    await this.order(worker => ({ type: 'start', servers: worker.servers }))
  }

  listen(listener: (message: FromWorker) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Tells everybody, and waits until each has done it. */
  async order(message: (worker: Worker) => ToWorker): Promise<void> {
    await this.#ask(message, answer => answer.type === 'done')
  }

  /** Tells everybody, and waits for an answer of each. */
  async #ask(message: (worker: Worker) => ToWorker, isAnswer: (answer: FromWorker) => boolean) {
    const answers = new Map<Worker, FromWorker>()
    const all = Promise.withResolvers<void>()
    const take = (answer: FromWorker, worker: Worker): void => {
      if (answer.type === 'failed') all.reject(new Error(answer.error))
      if (isAnswer(answer)) answers.set(worker, answer)
      if (answers.size === this.#all.length) all.resolve()
    }
    this.#listeners.add(take)
    for (const worker of this.#all) worker.child.send(message(worker))
    try {
      await all.promise
      return [...answers.values()]
    } finally {
      this.#listeners.delete(take)
    }
  }

  /** What all have counted. */
  async counts(): Promise<Counts> {
    const answers = await this.#ask(
      () => ({ type: 'count' }),
      answer => answer.type === 'counts',
    )
    const counts = answers.filter(answer => answer.type === 'counts')
    const sum = (what: keyof Counts): number => counts.reduce((all, answer) => all + answer[what], 0)
    return {
      imports: sum('imports'),
      slices: sum('slices'),
      derived: sum('derived'),
      sliceWrites: sum('sliceWrites'),
      otherWrites: sum('otherWrites'),
      largest: Math.max(...counts.map(({ largest }) => largest)),
    }
  }

  /** Tells the worker that has the member. */
  tell(member: string, message: ToWorker): void {
    const has = ({ members }: ServerPlan): boolean => members.some(({ id }) => id === member)
    this.#all.find(({ servers }) => servers.some(has))?.child.send(message)
  }

  stop(): void {
    for (const { child } of this.#all) child.kill('SIGKILL')
  }
}

export type LoadFleet = {
  readonly workers: Workers
  readonly hubPid: number
  /** Of the hub and the workers. */
  readonly pids: readonly (number | undefined)[]
  /** How often slices were written on the hub. */
  hubWrites(): number
  close(): Promise<void>
}

/** A hub, and the members of each list on one API server. Resolves when every agent and every DNS knows its cluster. */
export async function startLoadFleet(servers: readonly (readonly MemberPlan[])[]): Promise<LoadFleet> {
  const folder = temporaryFolder()
  const home = join(folder.path, 'hub')
  const port = await freePorts()
  const local = ['--host', '127.0.0.1', '--log-level', 'error', '--advertise', `127.0.0.1:${port}`]
  const hub = await startRole(['hub', '--home', home, '--port', `${port}`, ...local])
  const workers = new Workers()
  const client = await contextClient(join(home, 'kubeconfig'), 'hub')
  const stop = new AbortController()
  const close = async (): Promise<void> => {
    stop.abort()
    workers.stop()
    client.close()
    await hub.kill()
    folder.dispose()
  }
  try {
    const tokens = await tokensOf(client, { home, port, members: servers.flat() })
    const plans = servers.map((members, at) => ({
      home: join(folder.path, `server-${at}`),
      port: port + 1 + at,
      members: members.map(member => ({ ...member, token: tokens.get(member.id) ?? '' })),
    }))
    await workers.start(plans)
    await narrow(client, servers.flat())
    await workers.order(() => ({ type: 'agents' }))
    const pids = [hub.pid, ...workers.pids]
    return { workers, hubPid: hub.pid, pids, hubWrites: countSlices(client, stop.signal), close }
  } catch (thrown) {
    await close()
    throw thrown
  }
}

function countSlices(hub: ClusterClient, signal: AbortSignal): () => number {
  const options = { clock: systemClock, log: silentLogger }
  let writes = 0
  startInformer(hub, resource(ExportedEndpointSliceKind), options, signal).onChange(() => {
    writes += 1
  })
  return () => writes
}

async function narrow(hub: ClusterClient, members: readonly MemberPlan[]): Promise<void> {
  for (const { id, namespace } of members) {
    const patch = { spec: { namespaces: [namespace] } }
    await hub.mergePatch(memberClusters, { name: id }, patch, { signal: never })
  }
}

type Joining = { readonly home: string; readonly port: number; readonly members: readonly MemberPlan[] }

async function tokensOf(
  hub: ClusterClient,
  { home, members, port }: Joining,
): Promise<ReadonlyMap<string, string>> {
  const tokens = new Map<string, string>()
  const ca = readFileSync(join(home, 'pki', 'ca.crt'), 'utf8')
  const given = { lifetimeMs: 3_600_000, servers: [`https://127.0.0.1:${port}`], ca, clock: systemClock }
  for (const { id } of members) tokens.set(id, await createToken(hub, { ...given, clusterId: id }, never))
  return tokens
}

/** MB (10^6) of resident memory. */
export function residentMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8')
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(text)?.[1]) * 1_024) / 1_000_000
}
