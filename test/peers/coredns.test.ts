// The same imports and slices, served by us and by CoreDNS's kubernetes plugin in multicluster mode: the same answers,
// except where CoreDNS's differ from the specification.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { question, type Shown, shown } from '../support/dns-message.ts'
import { type RunningDns, runDns } from '../support/dns-responder.ts'
import { type TcpClient, tcpClient } from '../support/dns-socket.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { seed } from '../support/seed.ts'
import { coreDnsMissing, multiclusterCorefile, startCoreDns } from './coredns.ts'
import { type Difference, deviations } from './deviations.ts'
import { clusters, randomServices } from './random-services.ts'
import {
  context,
  createNamespace,
  createService,
  removeService,
  type Service,
  startWorld,
  type World,
} from './world.ts'

const names = ['shop', 'prod'].flatMap(namespace =>
  Array.from({ length: 20 }, (_, i) => `${namespace}/s${i}`),
)
const types = ['A', 'AAAA', 'SRV', 'TXT', 'MX', 'PTR', 'HTTPS', 'CNAME', 'NS', 'SOA']
const frontTypes = ['A', 'AAAA', 'SRV', 'TXT']

const missing = coreDnsMissing()
if (missing !== undefined) process.stdout.write(`skipped: ${missing}\n`)

/** Every name that could mean something, and some that cannot. */
function namesOf({ namespace, name, slices }: Service): readonly string[] {
  const own = `${name}.${namespace}.svc`
  const labels = new Set(['db-0', 'db-1', 'same', 'nobody'])
  for (const { endpoints } of slices) {
    for (const { addresses } of endpoints) {
      const dashed = (addresses[0] ?? '').replaceAll(/[.:]/g, '-')
      labels.add(dashed.endsWith('-') ? `${dashed}0` : dashed)
    }
  }
  const fronts = [
    ...[...labels].flatMap(host => [...clusters, 'north'].map(cluster => `${host}.${cluster}`)),
    ...[...clusters, 'reg', 'north', 'db-0', '_tcp', '_udp', '_sctp', 'a.b.c.d'],
    ...['http', 'pg', 'x-9', 'nope'].flatMap(port => ['tcp', 'udp', 'sctp'].map(p => `_${port}._${p}`)),
    ...['http._tcp', '_http.tcp', '_._tcp', '*'],
  ]
  return [own, ...fronts.map(front => `${front}.${own}`)]
}

const noise = [
  ...['', 'svc', 'pod', 'dns', 'foo', 'dns-version', 'shop.svc', 'prod.svc', 'empty.svc', 'nowhere.svc'],
  ...['x.empty.svc', 'www.google.com.shop.svc', 'kubernetes.default.svc.shop.svc', '*.shop.svc', 'svc.svc'],
]

type Row = { readonly name: string; readonly type: string }
const rows: readonly Row[] = [
  // CoreDNS knows its name servers from a Service of its own, which is not there.
  ...noise.flatMap(name => types.filter(type => name !== '' || type !== 'NS').map(type => ({ name, type }))),
  ...names.flatMap(key => {
    const [namespace = '', name = ''] = key.split('/')
    return types.map(type => ({ name: `${name}.${namespace}.svc`, type }))
  }),
]

/** Without the weight, which is each server's own, and the case of the owner. */
function record(text: string): string {
  const [owner = '', ttl = '', kind = '', ...rest] = text.split(' ')
  const data = kind === 'SRV' ? rest.toSpliced(1, 1) : rest
  return [owner.toLowerCase(), ttl, kind, ...data].join(' ')
}

/** Status, records, and whether a negative answer has its SOA; what an SOA says is each server's own. */
function said(reply: Shown, type: string): string {
  const soa = reply.authority.filter(text => text.includes(' SOA ')).length
  const answer = type === 'SOA' ? [`${reply.answer.length} SOA`] : reply.answer.map(record)
  return [reply.status, `${soa} SOA`, ...answer.toSorted()].join('\n')
}

/**
 * Where several slices of one cluster have one hostname, CoreDNS adds the addresses of those slices that have the port, we
 * add all that the name resolves to: a record set is whole or not there (RFC 2181 §5).
 */
function isSame(ours: Shown, theirs: Shown, type: string): boolean {
  const added = new Set(ours.additional.map(record))
  return said(ours, type) === said(theirs, type) && theirs.additional.every(text => added.has(record(text)))
}

describe.skipIf(missing !== undefined)(`beside CoreDNS (SEED=${seed})`, () => {
  const folder = temporaryFolder()
  let services = randomServices(names, seed)
  let world: World
  let ours: RunningDns
  const clients: TcpClient[] = []
  const opened: (() => Promise<void>)[] = []
  beforeAll(async () => {
    world = await startWorld(folder.path)
    opened.push(() => world.close())
    for (const namespace of ['shop', 'prod', 'empty']) await createNamespace(world.cluster, namespace)
    for (const service of services) await createService(world.cluster, service)
    ours = await runDns({ cluster: world.cluster })
    opened.push(() => ours.dns.close())
    const port = await freePorts()
    const corefile = multiclusterCorefile(port, { kubeconfig: world.kubeconfig, context })
    const coreDns = await startCoreDns({ folder: folder.path, port, corefile })
    opened.push(() => coreDns.stop())
    await eventually(() => expect(ours.dns.ready()).toBe(true))
    clients.push(await tcpClient(ours.port), await tcpClient(port))
    for (const { socket } of clients) opened.push(async () => void socket.destroy())
  }, 600_000)
  afterAll(async () => {
    for (const close of opened.toReversed()) await close()
    folder.dispose()
  })

  async function ask(client: TcpClient, { name, type }: Row): Promise<Shown> {
    return shown(await client.ask(question(`${name}.clusterset.local`, type)))
  }

  /** What the two say differently. */
  async function differences(asked: readonly Row[]): Promise<readonly Difference[]> {
    const found: Difference[] = []
    const [left, right] = clients
    if (left === undefined || right === undefined) throw new Error('not connected')
    for (const row of asked) {
      const [one, other] = await Promise.all([ask(left, row), ask(right, row)])
      if (isSame(one, other, row.type)) continue
      found.push({ ...row, ours: one.status, theirs: other.status })
    }
    return found
  }

  const unexplained = (found: readonly Difference[]): readonly Difference[] =>
    found.filter(difference => !deviations.some(({ covers }) => covers(difference, services)))

  const everything = (): readonly Row[] => [
    ...rows,
    ...services.flatMap(service =>
      namesOf(service).flatMap(name => frontTypes.map(type => ({ name, type }))),
    ),
  ]

  it('answers the same, but for what is named', { timeout: 120_000 }, async () => {
    const found = await differences(everything())
    expect(unexplained(found)).toEqual([])
    const unused = deviations.filter(({ covers }) => !found.some(difference => covers(difference, services)))
    expect(unused.map(({ why }) => why)).toEqual([])
  })

  it('comes to the same after everything has changed', { timeout: 240_000 }, async () => {
    for (const service of services) await removeService(world.cluster, service)
    services = randomServices(names, seed + 1).slice(0, names.length / 2)
    for (const service of services) await createService(world.cluster, service)
    await ours.dns.settled()
    const addresses = names
      .map(key => key.split('/'))
      .map(([ns, name]) => ({ name: `${name}.${ns}.svc`, type: 'A' }))
    await eventually(async () => expect(unexplained(await differences(addresses))).toEqual([]), 30_000)
    expect(unexplained(await differences(everything()))).toEqual([])
  })
})
