// Members of three hubs: joined at one, going on at another, while the hub that leads stands still, dies and is stopped.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ClusterSetServiceKind } from '../../src/api/kinds/cluster-set-service.ts'
import { ExportedServiceKind } from '../../src/api/kinds/exported-service.ts'
import { ClusterClient } from '../../src/cluster/client.ts'
import { type Resource, resource } from '../../src/cluster/cluster.ts'
import { sleep } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { eventually } from '../support/eventually.ts'
import { contextClient } from '../support/fleet-client.ts'
import { memberClusters, serviceImports } from '../support/memory-fleet.ts'
import { ReplicaWatcher, type WatchedChange } from '../support/replica-watcher.ts'
import { type Hub, hubs, Replicas } from '../support/replicas.ts'
import { type RoleProcess, startRole } from '../support/role-process.ts'
import { randomOf, seed } from '../support/seed.ts'
import { type Member, members } from './deployment.ts'
import { Shop, signal } from './shop.ts'

const rounds = Number(process.env.HUB_KILLS ?? 2)
const exportsOfRound = 12
const patienceMs = 60_000
const timeoutMs = 180_000 + rounds * 30_000
// Tests look at what they hold as plain JSON.
const clusterSetServices = resource(ClusterSetServiceKind) as Resource
const exportedServices = resource(ExportedServiceKind)

describe.skipIf(withoutEtcd !== undefined)(withoutEtcd ?? 'members of three hubs', () => {
  const running: RoleProcess[] = []
  const clients = new Map<string, ClusterClient>()
  let replicas: Replicas
  let shop: Shop

  beforeAll(async () => {
    replicas = await Replicas.start()
    for (const [at, member] of members.entries()) await start(member, at)
    shop = new Shop({ client: of, dnsPort: () => 0 })
    for (const member of members) await shop.open(member)
  }, timeoutMs)
  afterAll(async () => {
    for (const client of clients.values()) client.close()
    await Promise.all(running.map(process => process.kill()))
    await replicas.stop()
  })

  async function start(member: Member, at: number): Promise<void> {
    const home = replicas.homeOf(member)
    const port = ['--host', '127.0.0.1', '--port', `${replicas.freePort(at)}`]
    // The token was made at one hub; each member knocks at another one first.
    const token = await replicas.tokenFor(member, hubs[at + 1] ?? 'a')
    const args = ['--cluster-id', member, '--home', home, ...port, '--join', token]
    running.push(await startRole(['member', ...args, '--heartbeat-interval', '1s', '--log-level', 'warn']))
    clients.set(member, await contextClient(join(home, 'kubeconfig'), member))
  }

  function of(context: string): ClusterClient {
    const client = clients.get(context)
    if (client === undefined) throw new Error(`no client of ${context}`)
    return client
  }

  function leading(other?: Hub): Promise<Hub> {
    return eventually(async () => {
      const leader = await replicas.leader()
      if (leader === undefined || leader === other) throw new Error('no hub leads')
      return leader
    }, patienceMs)
  }

  async function expectImports(count: number): Promise<void> {
    await eventually(async () => {
      const { items } = await of('west').list(serviceImports, { namespace: 'shop' }, signal())
      const ips = items.flatMap(({ spec }) => spec?.ips?.slice(0, 1) ?? [])
      expect([items.length, new Set(ips).size]).toEqual([count, count])
    }, patienceMs)
  }

  it(
    `get every import, and no two services ever have one address (seed ${seed})`,
    async () => {
      const random = randomOf(seed)
      const { resourceVersion } = await replicas.client('a').list(clusterSetServices, {}, signal())
      const watched = { resource: clusterSetServices, selection: {}, resourceVersion }
      const watcher = new ReplicaWatcher(replicas, 0, watched)
      let exported = 0
      const burst = async (): Promise<void> => {
        const names = Array.from({ length: exportsOfRound }, () => `web-${exported++}`)
        await Promise.all(names.map(name => shop.export('east', name, { addresses: ['10.1.0.1'] })))
      }
      for (let round = 0; round < rounds; round++) {
        const still = await leading()
        const exporting = burst()
        await sleep(systemClock, 400 * random(), signal())
        process.kill(replicas.processOf(still).pid, 'SIGSTOP')
        await leading(still)
        const more = burst()
        await sleep(systemClock, 400 * random(), signal())
        process.kill(replicas.processOf(still).pid, 'SIGCONT')
        await Promise.all([exporting, more])
        await expectImports(exported)
        const next = await leading()
        const last = burst()
        await replicas.processOf(next)[round % 2 === 0 ? 'kill' : 'stop']()
        await last
        await leading(next)
        await replicas.startHub(next)
        await expectImports(exported)
      }
      await watcher.stop()
      expectOneHolder(watcher.seen)
    },
    timeoutMs,
  )

  it(
    'are out at every hub at once when they are evicted at one',
    async () => {
      const { certificate, key, caBundle } = membershipOf('west')
      const namespace = 'member-west'
      const own = hubs.map(hub => {
        const credentials = async () => ({ ca: caBundle, cert: certificate, key })
        const client = new ClusterClient({
          name: hub,
          servers: [replicas.urlOf(hub)],
          credentials,
          clock: systemClock,
        })
        clients.set(`west at ${hub}`, client)
        return client
      })
      const { resourceVersion } = await of('west at a').list(exportedServices, { namespace }, signal())
      const watches = own.map(async client => {
        for await (const event of client.watch(exportedServices, { namespace, resourceVersion }, signal()))
          expect(event.type).not.toBe('ERROR')
      })
      const ends = Promise.allSettled(watches)
      const spec = { accepted: false }
      await replicas.client('a').mergePatch(memberClusters, { name: 'west' }, { spec }, { signal: signal() })
      // None of them may have answered yet what another one was just told.
      const answers = own.map(client => client.list(exportedServices, { namespace }, signal()))
      const refused = { status: 'rejected', reason: expect.objectContaining({ code: 403 }) }
      expect(await Promise.allSettled(answers)).toEqual(hubs.map(() => expect.objectContaining(refused)))
      expect(await ends).toEqual(hubs.map(() => expect.objectContaining(refused)))
    },
    timeoutMs,
  )

  it(
    'are taken by hubs that are a step apart on the way to another authority',
    async () => {
      const old = authorityOf('a')
      const restart = async (hub: Hub): Promise<void> => {
        await replicas.processOf(hub).stop()
        await replicas.startHub(hub)
      }
      await replicas.authority('prepare')
      for (const hub of hubs) await restart(hub)
      await replicas.authority('switch')
      await restart('a')
      expect([authorityOf('a') === old, authorityOf('b') === old]).toEqual([false, true])
      const ca = authorityOf('a') + old
      for (const hub of hubs) {
        for (const { certificate: cert, key } of [membershipOf('east'), adminOf('a'), adminOf('b')]) {
          const credentials = async () => ({ ca, cert, key })
          const servers = [replicas.urlOf(hub)]
          const client = new ClusterClient({ name: hub, servers, credentials, clock: systemClock })
          await client.list(exportedServices, { namespace: 'member-east' }, signal())
          client.close()
        }
      }
    },
    timeoutMs,
  )

  const authorityOf = (hub: Hub): string => read(`hub-${hub}`, 'pki/ca.crt')
  const adminOf = (hub: Hub) => ({
    certificate: read(`hub-${hub}`, 'admin.crt'),
    key: read(`hub-${hub}`, 'admin.key'),
  })

  /** What a member got when it joined. */
  function membershipOf(member: Member): Record<'certificate' | 'key' | 'caBundle', string> {
    return JSON.parse(read(member, 'hub/hub.json'))
  }

  function read(home: string, file: string): string {
    return readFileSync(join(replicas.homeOf(home), file), 'utf8')
  }
})

/** At no revision does an address belong to two services. */
function expectOneHolder(changes: readonly WatchedChange[]): void {
  const holders = new Map<string, string>()
  const held = new Map<string, readonly string[]>()
  for (const { type, object } of changes) {
    const { name } = object.metadata
    for (const address of held.get(name) ?? []) holders.delete(address)
    const { status } = object as { readonly status?: { readonly addresses?: readonly string[] } }
    const addresses = type === 'DELETED' ? [] : (status?.addresses ?? [])
    for (const address of addresses) {
      expect([address, holders.get(address)]).toEqual([address, undefined])
      holders.set(address, name)
    }
    held.set(name, addresses)
  }
  expect(holders.size).toBeGreaterThan(exportsOfRound)
}
