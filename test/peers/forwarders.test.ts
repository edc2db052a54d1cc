// What stands between pods and the responder: Unbound, and CoreDNS with the blocks of deploy/dns.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { parseYaml } from '../../src/codec/yaml.ts'
import { question, shown } from '../support/dns-message.ts'
import { aClusterSetIp, exampleObjects } from '../support/dns-objects.ts'
import { type RunningDns, runDns, type ServicesCluster, servicesCluster } from '../support/dns-responder.ts'
import { tcpClient, udpClient } from '../support/dns-socket.ts'
import { fullName, summary } from '../support/dns-text.ts'
import { eventually } from '../support/eventually.ts'
import { freePorts, temporaryFolder } from '../support/fleet.ts'
import { coreDnsMissing, startCoreDns } from './coredns.ts'
import { hasPeer, type Peer } from './peer.ts'
import { startUnbound } from './unbound.ts'

const folder = temporaryFolder()
const opened: (() => Promise<void>)[] = []
let services: ServicesCluster
let responder: RunningDns

beforeAll(async () => {
  services = servicesCluster()
  await services.put(exampleObjects())
  responder = await runDns({ cluster: services.cluster, negativeTtlSeconds: 1, queryLog: 'all' })
  await eventually(() => expect(responder.dns.ready()).toBe(true))
})
afterEach(async () => {
  for (const close of opened.splice(0).toReversed()) await close()
})
afterAll(async () => {
  await responder.dns.close()
  folder.dispose()
})

/** Parents before children, so that a wrong NXDOMAIN would hide what is below. */
const rows = [
  ...['svc.clusterset.local. A', 'prod A', 'web.prod A', 'web.prod AAAA', 'web.prod SRV', 'web.prod TXT'],
  ...['_tcp.web.prod A', '_http._tcp.web.prod A', '_http._tcp.web.prod SRV', 'nope.prod A', 'nope.prod AAAA'],
  ...['db.prod A', 'db.prod SRV', 'east.db.prod A', 'db-0.east.db.prod A', 'db-0.east.db.prod AAAA'],
  ...[
    'two.prod A',
    'reg.two.prod A',
    'c1.reg.two.prod A',
    'h-0.c1.reg.two.prod A',
    'h-0.c1.reg.two.prod SRV',
  ],
  ...['v6.prod A', 'v6.prod AAAA', 'anon.prod SRV', 'fd00-1--0.east.anon.prod AAAA', 'zero.prod A'],
  ...['dns-version.clusterset.local. TXT', 'pend.prod A', 'bareip.prod A', 'foo.clusterset.local. NS'],
  'www.google.com.prod A',
]

/** Status and answer, over the transport that there is room on. */
async function asked(port: number, row: string): Promise<string> {
  const [name = '', type = ''] = row.split(' ')
  const message = question(fullName(name), type, { edns: {} })
  const udp = await udpClient(port)
  try {
    const reply = shown(await udp.ask(message))
    if (!reply.flags.includes('tc')) return summary({ ...reply, additional: [] })
  } finally {
    await udp.close()
  }
  const tcp = await tcpClient(port)
  try {
    return summary({ ...shown(await tcp.ask(message)), additional: [] })
  } finally {
    tcp.socket.destroy()
  }
}

/** Whoever stands in front changes nothing of what is said. */
async function expectTheSame(port: number): Promise<void> {
  const differing: string[] = []
  for (const row of [...rows, 'big.prod A']) {
    const [through, direct] = [await asked(port, row), await asked(responder.port, row)]
    if (through !== direct) differing.push(`${row}: ${through.slice(0, 200)}, not ${direct.slice(0, 200)}`)
  }
  expect(differing).toEqual([])
}

function queriesFor(name: string): number {
  return responder.log.lines.filter(
    ({ message, fields }) => message === 'answered' && fields.name === fullName(name) && fields.type === 'A',
  ).length
}

async function front(start: (port: number) => Promise<Peer>): Promise<Peer> {
  const peer = await start(await freePorts())
  opened.push(() => peer.stop())
  return peer
}

describe.skipIf(!hasPeer('unbound', 'unbound'))('Unbound in front', () => {
  const unbound = (): Promise<Peer> =>
    front(port =>
      startUnbound({ folder: join(folder.path, `unbound-${port}`), port, responderPort: responder.port }),
    )

  it('resolves everything', { timeout: 60_000 }, async () => {
    await expectTheSame((await unbound()).port)
  })

  it('keeps what does not exist for the time that the SOA says, and no longer', {
    timeout: 60_000,
  }, async () => {
    const { port } = await unbound()
    const before = queriesFor('later.prod')
    for (let i = 0; i < 5; i++) expect(await asked(port, 'later.prod A')).toBe('NXDOMAIN')
    await eventually(() => expect(queriesFor('later.prod')).toBeGreaterThan(before))
    // The case of names is mixed at random, so a first answer is asked for again at most.
    expect(queriesFor('later.prod') - before).toBeLessThan(5)
    await services.put({ imports: [aClusterSetIp('prod/later', ['10.42.0.77'], [])] })
    await eventually(
      async () => expect(await asked(port, 'later.prod A')).toBe('NOERROR A 10.42.0.77'),
      3_000,
    )
  })
})

const overlays = [
  ['coredns', 'configmap.yaml', 'Corefile'],
  ['coredns-custom', 'configmap.yaml', 'clusterset.server'],
  ['nodelocaldns', 'configmap.yaml', 'Corefile'],
] as const

/** The zone's block of an overlay, on ports of the loopback. */
function blockOf(overlay: string, file: string, key: string, port: number): string {
  const text = readFileSync(join('deploy/dns', overlay, file), 'utf8')
  const { data } = parseYaml(text).value as { readonly data: Readonly<Record<string, string>> }
  const corefile = data[key] ?? ''
  return corefile
    .slice(corefile.indexOf('clusterset.local:53 {'))
    .replace('clusterset.local:53', `clusterset.local:${port}`)
    .replace('forward . 10.96.0.53', `forward . 127.0.0.1:${responder.port}`)
    .replace(/bind .*/, 'bind 127.0.0.1')
    .replace(/prometheus .*/, `prometheus 127.0.0.1:${port + 1}`)
}

describe.skipIf(coreDnsMissing() !== undefined)('CoreDNS in front, with the block of', () => {
  it.each(overlays)('deploy/dns/%s, resolves everything', { timeout: 300_000 }, async (...overlay) => {
    const { port } = await front(free =>
      startCoreDns({ folder: folder.path, port: free, corefile: blockOf(...overlay, free) }),
    )
    await expectTheSame(port)
  })
})
