import { createSocket } from 'node:dgram'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ask, type Said } from '../../../dns/doctor/ask.ts'
import { diagnose, type Observed } from '../../../dns/doctor/diagnose.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import { exampleObjects } from '../../support/dns-objects.ts'
import { type RunningDns, runDns, servicesCluster } from '../../support/dns-responder.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryFolder } from '../../support/fleet.ts'
import { runToEnd } from '../../support/role-process.ts'

const answer = (status: string, ...data: readonly string[]): Said => ({ kind: 'answer', status, data })
const silence: Said = { kind: 'silence', why: 'no answer within 2000 ms' }
const version = answer('NOERROR', '1.0.0')
const responder: NonNullable<Observed['responder']> = {
  server: { host: '10.96.0.53', port: 53 },
  udp: version,
  tcp: version,
  apex: answer('NOERROR'),
}
const healthy: Observed = {
  zone: 'clusterset.local',
  resolver: { host: '10.96.0.10', port: 53 },
  version,
  responder,
  service: undefined,
}

function bad(observed: Partial<Observed>): readonly string[] {
  return diagnose({ ...healthy, ...observed }).flatMap(({ good, text }) => (good ? [] : [text]))
}

describe('what the doctor says', () => {
  it('is good where everything is', () => {
    const service = { name: 'web.shop', resolver: answer('NOERROR', '10.0.0.1'), responder: undefined }
    expect(diagnose({ ...healthy, service })).toEqual([
      { good: true, text: 'the responder at 10.96.0.53 serves clusterset.local over UDP and TCP' },
      { good: true, text: "the cluster's DNS at 10.96.0.10 forwards clusterset.local" },
      { good: true, text: 'web.shop is 10.0.0.1' },
    ])
  })

  it.each([
    [
      'the responder is not there',
      { responder: { ...responder, udp: silence, tcp: silence } },
      /does not answer .*Service.*NetworkPolicy/,
    ],
    [
      'its Service has no UDP',
      { responder: { ...responder, udp: silence } },
      /not over UDP .*port 53 for both/,
    ],
    [
      'its Service has no TCP',
      { responder: { ...responder, tcp: silence } },
      /not over TCP .*port 53 for both/,
    ],
    [
      'it has another zone',
      { responder: { ...responder, udp: answer('REFUSED') } },
      /does not serve clusterset.local.*--zone/,
    ],
    [
      'it is something else',
      { responder: { ...responder, udp: answer('NXDOMAIN') } },
      /something else than isthmus.*NXDOMAIN/,
    ],
    [
      'it cannot read its API server',
      { responder: { ...responder, apex: answer('SERVFAIL') } },
      /does not know the services yet/,
    ],
    ['the DNS of the cluster is not there', { version: silence }, /10.96.0.10 does not answer/],
    [
      'it does not forward',
      { version: answer('NXDOMAIN') },
      /does not forward the zone; its configuration needs a block/,
    ],
    [
      'NodeLocal DNSCache does not forward',
      { resolver: { host: '169.254.20.10', port: 53 }, version: answer('NXDOMAIN') },
      /NodeLocal DNSCache at 169.254.20.10 .*configuration of its own/,
    ],
    [
      'it forwards elsewhere',
      { version: answer('SERVFAIL') },
      /forwards clusterset.local to another address than 10.96.0.53/,
    ],
    ['it forwards to nobody', { version: answer('SERVFAIL'), responder: undefined }, /give --responder/],
    [
      'CoreDNS serves the zone itself',
      { version: answer('NOERROR', '1.1.0') },
      /serves clusterset.local itself.*remove/,
    ],
  ])('names the hop when %s', (_, observed: Partial<Observed>, told) => {
    expect(bad(observed)).toEqual([expect.stringMatching(told)])
  })

  it.each([
    [answer('NXDOMAIN'), answer('NXDOMAIN'), /no such ServiceImport/],
    [answer('NXDOMAIN'), answer('NOERROR', '10.0.0.1'), /an old answer is kept/],
    [answer('NOERROR'), answer('NOERROR'), /no ClusterSetIP yet/],
    [silence, undefined, /does not resolve: nothing/],
  ])('names what is wrong with a service: %j', (resolver, own, told) => {
    const service = { name: 'web.shop', resolver, responder: own }
    expect(bad({ service })).toEqual([expect.stringMatching(told)])
  })
})

describe('an answer that does not fit into a datagram', () => {
  it('is none where nobody answers over TCP', async () => {
    const server = createSocket('udp4')
    server.on('message', (message, { port }) => {
      // QR, AA and TC.
      message.writeUInt8(0x86, 2)
      server.send(message, port)
    })
    await new Promise<void>(resolve => server.bind(0, '127.0.0.1', resolve))
    const { address: host, port } = server.address()
    const asking = { clock: systemClock, timeoutMs: 10_000 }
    const said = await ask({ host, port }, { name: 'big.shop', type: 'A' }, 'udp', asking)
    server.close()
    expect(said).toEqual({
      kind: 'silence',
      why: `its answer does not fit into a datagram, and over TCP connect ECONNREFUSED ${host}:${port}`,
    })
  })
})

describe('isthmus dns doctor', () => {
  const folder = temporaryFolder()
  let running: RunningDns
  beforeAll(async () => {
    const services = servicesCluster()
    await services.put(exampleObjects())
    running = await runDns({ cluster: services.cluster })
    await eventually(() => expect(running.dns.ready()).toBe(true))
    writeFileSync(join(folder.path, 'resolv.conf'), 'search x\nnameserver 127.0.0.1\nnameserver 192.0.2.1\n')
  })
  afterAll(async () => {
    await running.dns.close()
    folder.dispose()
  })
  const doctor = (...more: readonly string[]) => {
    const port = String(running.port)
    const where = ['--resolv-conf', join(folder.path, 'resolv.conf'), '--cluster-dns-port', port]
    return runToEnd([
      'dns',
      'doctor',
      ...where,
      '--responder',
      '127.0.0.1',
      '--responder-port',
      port,
      ...more,
    ])
  }

  it('finds everything good and ends with 0', async () => {
    const { code, output } = await doctor('--name', 'web.prod')
    expect(output).toContain('good: web.prod.svc.clusterset.local is 10.42.0.10')
    expect(code).toBe(0)
  })

  it.each([
    ['v6.prod', 'is fd00:1::9'],
    ['dual.prod', 'is 10.1.0.8, fd00:1::8'],
    // 1,200 endpoints are no more than 29 in a datagram, each time others.
    [
      'big.prod',
      'is 10.9.0.0, 10.9.0.1, 10.9.0.10, 10.9.0.100, 10.9.0.101, 10.9.0.102, 10.9.0.103, 10.9.0.104 and 1192 more',
    ],
  ])('has all addresses of %s', async (name, text) => {
    const { code, output } = await doctor('--name', name)
    expect(output.split('\n')).toContain(`good: ${name}.svc.clusterset.local ${text}`)
    expect(code).toBe(0)
  })

  it('does not ask for what is no name', async () => {
    const { code, output } = await doctor('--name', 'we b..x')
    expect(output).toContain('isthmus: --name must be a DNS name, not "we b..x"')
    expect(code).not.toBe(0)
  })

  it('says what is wrong and ends with 1', async () => {
    const { code, output } = await doctor('--name', 'nope.prod')
    expect(output).toContain('bad: nope.prod.svc.clusterset.local does not exist')
    expect(output).toContain('isthmus: clusterset.local does not work from here')
    expect(code).toBe(1)
  })
})
