/** Three hubs on an etcd of three members, all real processes that can be killed. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LeaseKind } from '../../src/api/kinds/lease.ts'
import { ClusterClient } from '../../src/cluster/client.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { Etcd } from './etcd.ts'
import { freePorts, temporaryFolder } from './fleet.ts'
import { listenAt, type RoleProcess, runRole, startRole } from './role-process.ts'

const names = ['a', 'b', 'c'] as const
export type Hub = (typeof names)[number]
export const hubs: readonly Hub[] = names

/** Shorter than what is set by itself, so that tests need not wait. */
const election = [
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
]
const lease = { namespace: 'kube-system', name: 'isthmus-hub' }
const leases = resource(LeaseKind)

export class Replicas {
  readonly etcd: Etcd
  readonly #folder = temporaryFolder()
  readonly #base: number
  readonly #running = new Map<Hub, RoleProcess>()
  readonly #clients = new Map<string, ClusterClient>()

  private constructor(etcd: Etcd, base: number) {
    this.etcd = etcd
    this.#base = base
  }

  static async start(): Promise<Replicas> {
    const etcd = await Etcd.start({ members: 3 })
    const replicas = new Replicas(etcd, await freePorts())
    // At once, as a Deployment does it: they have to agree on an authority.
    await Promise.all(hubs.map(hub => replicas.startHub(hub)))
    return replicas
  }

  homeOf(name: string): string {
    return join(this.#folder.path, name)
  }

  /** A port that nothing else here has. */
  freePort(at: number): number {
    return this.#base + names.length + at
  }

  async startHub(hub: Hub): Promise<void> {
    const port = this.#base + names.indexOf(hub)
    const all = names.map((_, at) => `127.0.0.1:${this.#base + at}`)
    const home = this.homeOf(`hub-${hub}`)
    const own = [...listenAt(home, port), '--log-level', 'info']
    const args = [...own, '--advertise', all.join(','), '--store', this.#store, ...election]
    this.#running.set(hub, await startRole(['hub', ...args]))
  }

  get #store(): string {
    return `etcd://${this.etcd.servers.map(({ host }) => host).join(',')}`
  }

  /** A step towards another authority, taken in a home that no hub has; each hub takes part from its next start on. */
  authority(step: 'prepare' | 'switch' | 'retire'): Promise<string> {
    return runRole(['authority', step, '--home', this.homeOf('authority'), '--store', this.#store])
  }

  processOf(hub: Hub): RoleProcess {
    const running = this.#running.get(hub)
    if (running === undefined) throw new Error(`hub ${hub} was never started`)
    return running
  }

  /** An administrator's client that asks these hubs, the first one that answers. */
  client(...order: readonly Hub[]): ClusterClient {
    const known = this.#clients.get(order.join())
    if (known !== undefined) return known
    const home = this.homeOf(`hub-${order[0]}`)
    const read = (file: string): string => readFileSync(join(home, file), 'utf8')
    const credentials = { ca: read('pki/ca.crt'), cert: read('admin.crt'), key: read('admin.key') }
    const client = new ClusterClient({
      name: `hub by ${order.join()}`,
      servers: order.map(hub => this.urlOf(hub)),
      credentials: async () => credentials,
      clock: systemClock,
    })
    this.#clients.set(order.join(), client)
    return client
  }

  urlOf(hub: Hub): string {
    return `https://127.0.0.1:${this.#base + names.indexOf(hub)}`
  }

  /** Made at the first hub; `first` is the hub at which the member joins. */
  tokenFor(cluster: string, first: Hub): Promise<string> {
    const order = [first, ...hubs.filter(hub => hub !== first)].map(hub => new URL(this.urlOf(hub)).host)
    const asked = ['--home', this.homeOf('hub-a'), '--cluster', cluster, '--hub', order.join(',')]
    return runRole(['token', 'create', ...asked])
  }

  /** The hub that has the lease; undefined while nobody has. */
  async leader(): Promise<Hub | undefined> {
    // Of a hub that stands still nothing is heard.
    const asked = hubs.map(hub => this.client(hub).get(leases, lease, AbortSignal.timeout(5_000)))
    const { spec } = await Promise.any(asked)
    const holder = spec?.holderIdentity ?? ''
    return hubs.find(hub => holder !== '' && this.processOf(hub).output.some(line => leads(line, holder)))
  }

  /** The member of etcd that leads; undefined while they choose one. */
  async etcdLeader(): Promise<number | undefined> {
    for (const [at, { url, isUp }] of this.etcd.members.entries()) {
      if (!isUp) continue
      const answer = await fetch(new URL('/metrics', url), { signal: AbortSignal.timeout(5_000) })
      if (/^etcd_server_is_leader 1$/m.test(await answer.text())) return at
    }
    return undefined
  }

  async stop(): Promise<void> {
    for (const client of this.#clients.values()) client.close()
    await Promise.all([...this.#running.values()].map(process => process.kill()))
    await this.etcd.stop()
    this.#folder.dispose()
  }
}

function leads(line: string, identity: string): boolean {
  return line.includes('"this process leads"') && line.includes(identity)
}
