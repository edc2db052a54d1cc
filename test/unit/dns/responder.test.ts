import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import type { DnsOptions } from '../../../dns/responder.ts'
import { EventKind } from '../../../src/api/kinds/event.ts'
import { resource } from '../../../src/cluster/cluster.ts'
import { never } from '../../../src/kernel/abort.ts'
import { unavailable } from '../../../src/kernel/errors.ts'
import { prometheus } from '../../../src/telemetry/prometheus.ts'
import { aClusterSetIp, aHeadless, aSlice, exampleObjects } from '../../support/dns-objects.ts'
import {
  type RunningDns,
  runDns,
  type ServicesCluster,
  servicesCluster,
} from '../../support/dns-responder.ts'
import { tcpClient } from '../../support/dns-socket.ts'
import { eventually } from '../../support/eventually.ts'
import { manualClock } from '../../support/manual-clock.ts'

const web = aClusterSetIp('prod/web', ['10.0.0.1'], ['http/TCP/80'])
const cleanups: (() => Promise<unknown>)[] = []

async function running(
  services: ServicesCluster,
  options: Partial<DnsOptions> = {},
  signal: AbortSignal = never,
): Promise<RunningDns> {
  const started = await runDns({ cluster: services.cluster, ...options }, signal)
  cleanups.push(() => started.dns.close())
  return started
}

/** Resolves when it is ready. */
async function ready(started: RunningDns): Promise<RunningDns> {
  await eventually(() => expect(started.dns.ready()).toBe(true))
  return started
}

function answers(started: RunningDns, row: string, answer: string): Promise<void> {
  return eventually(async () => expect(await started.ask(row)).toBe(answer))
}

async function temporaryFile(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'isthmus-dns-'))
  cleanups.push(() => rm(directory, { recursive: true }))
  return join(directory, 'services')
}

/** A cluster whose server can be away, or slow to answer. */
function switchedCluster() {
  let gate: Promise<void> = Promise.resolve()
  let away = false
  const services = servicesCluster({
    async intercept({ verb }) {
      if (verb !== 'list' && verb !== 'watch') return
      await gate
      if (away) throw unavailable('away')
    },
  })
  return {
    ...services,
    hold(): () => void {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    away(value: boolean): void {
      away = value
      if (value) services.cluster.endWatches()
    },
  }
}

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('a responder', () => {
  it('answers over UDP and TCP from a worker what the cluster holds', async () => {
    const services = servicesCluster()
    await services.put(exampleObjects())
    const started = await ready(await running(services))
    expect(await started.ask('web.prod A')).toBe('NOERROR A 10.42.0.10')
    expect(await started.ask('db-0.west.db.prod A')).toBe('NOERROR A 10.2.0.1')
    expect((await started.askTcp('big.prod A')).answer).toHaveLength(1200)
    expect(await started.ask('clusterset.local. NS')).toBe(
      'NOERROR NS ns.dns.clusterset.local. + ns.dns.clusterset.local. A 127.0.0.1',
    )
    await started.dns.check(never)
  })

  it('follows the cluster: imports before slices, slices before imports, types that change', async () => {
    const services = servicesCluster()
    const started = await ready(await running(services))
    const slice = aSlice('prod/db', 'east', ['pg/TCP/5432'], ['db-0 10.1.0.1'])
    await services.put({ slices: [slice] })
    expect(await started.ask('db.prod A')).toBe('NXDOMAIN')
    await services.put({ imports: [aHeadless('prod/db')] })
    await answers(started, 'db.prod A', 'NOERROR A 10.1.0.1')
    const changed = { ...slice, endpoints: [{ addresses: ['10.1.0.9'], hostname: 'db-0' }] }
    await services.put({ slices: [changed] })
    await answers(started, 'db-0.east.db.prod A', 'NOERROR A 10.1.0.9')
    await services.put({ imports: [aClusterSetIp('prod/db', ['10.0.0.7'], [])] })
    await answers(started, 'db.prod A', 'NOERROR A 10.0.0.7')
    expect(await started.ask('db-0.east.db.prod A')).toBe('NXDOMAIN')
    await services.removeImport('prod/db')
    await answers(started, 'db.prod A', 'NXDOMAIN')
    await services.removeSlice({ metadata: { namespace: 'prod', name: slice.metadata.name } })
    expect(await started.ask('prod A')).toBe('NXDOMAIN')
    expect(await started.ask('svc.clusterset.local. A')).toBe('NODATA')
  })

  it('gives a slice to the service that its label names', async () => {
    const services = servicesCluster()
    const slice = aSlice('prod/a', 'east', [], ['x 10.1.0.1'])
    await services.put({ imports: [aHeadless('prod/a'), aHeadless('prod/b')], slices: [slice] })
    const started = await ready(await running(services))
    expect(await started.ask('a.prod A')).toBe('NOERROR A 10.1.0.1')
    const labels = { ...slice.metadata.labels, 'multicluster.kubernetes.io/service-name': 'b' }
    await services.put({ slices: [{ ...slice, metadata: { ...slice.metadata, labels } }] })
    await answers(started, 'b.prod A', 'NOERROR A 10.1.0.1')
    expect(await started.ask('a.prod A')).toBe('NXDOMAIN')
  })

  it('says SERVFAIL and is not ready until both lists are in', async () => {
    const services = switchedCluster()
    await services.put({ imports: [web] })
    const release = services.hold()
    const started = await running(services)
    expect(started.dns.ready()).toBe(false)
    expect(await started.ask('web.prod A')).toBe('SERVFAIL')
    expect(await started.ask('clusterset.local. SOA')).toContain('NOERROR SOA')
    release()
    await ready(started)
    expect(await started.ask('web.prod A')).toBe('NOERROR A 10.0.0.1')
  })

  it('goes on with what it knows while the API server is away, and catches up', async () => {
    const services = switchedCluster()
    await services.put({ imports: [web] })
    const started = await ready(await running(services))
    services.away(true)
    await services.put({ imports: [aClusterSetIp('prod/web', ['10.0.0.2'], [])] })
    services.cluster.compact()
    expect(await started.ask('web.prod A')).toBe('NOERROR A 10.0.0.1')
    expect(started.dns.ready()).toBe(true)
    services.away(false)
    await answers(started, 'web.prod A', 'NOERROR A 10.0.0.2')
  })

  it('spreads over several workers on one port', async () => {
    const services = servicesCluster()
    await services.put({ imports: [web] })
    const started = await ready(await running(services, { workers: 3 }))
    const asked = await Promise.all(Array.from({ length: 24 }, () => started.ask('web.prod A')))
    expect(new Set(asked)).toEqual(new Set(['NOERROR A 10.0.0.1']))
    const overTcp = await Promise.all(Array.from({ length: 24 }, () => started.askTcp('web.prod A')))
    expect(new Set(overTcp.map(reply => reply.status))).toEqual(new Set(['NOERROR']))
    await services.put({ imports: [aClusterSetIp('prod/web', ['10.0.0.2'], [])] })
    await answers(started, 'web.prod A', 'NOERROR A 10.0.0.2')
    await started.dns.settled()
    const later = await Promise.all(Array.from({ length: 24 }, () => started.ask('web.prod A')))
    expect(new Set(later)).toEqual(new Set(['NOERROR A 10.0.0.2']))
  })

  it('answers on IPv6', async () => {
    const services = servicesCluster()
    const started = await ready(await running(services, { host: '::1' }))
    await started.dns.check(never)
  })

  it('serves the zone and the TTL that it is given', async () => {
    const services = servicesCluster()
    await services.put({ imports: [web] })
    const started = await ready(await running(services, { zone: 'Set.Example.', ttlSeconds: 30 }))
    const reply = await started.askTcp('web.prod.svc.set.example. A')
    expect(reply.answer).toEqual(['web.prod.svc.set.example. 30 A 10.0.0.1'])
    expect(await started.ask('web.prod A')).toBe('REFUSED')
  })

  it('logs no answers unless it is told to, and then those', async () => {
    const services = servicesCluster()
    await services.put({ imports: [web] })
    const logged = (started: RunningDns) => started.log.lines.filter(({ message }) => message === 'answered')
    const ask = async (queryLog: 'off' | 'errors' | 'all'): Promise<RunningDns> => {
      const started = await ready(await running(services, { queryLog }))
      await started.ask('web.prod A')
      await started.askTcp('No\\.pe.prod TYPE4711')
      return started
    }
    const all = await ask('all')
    const found = { client: '127.0.0.1', rcode: 'NOERROR', answers: 1, octets: 63 }
    const name = 'web.prod.svc.clusterset.local.'
    await eventually(() =>
      expect(logged(all)).toMatchObject([
        { level: 'info', fields: { ...found, proto: 'udp', name, type: 'A' } },
        { fields: { proto: 'tcp', type: 'TYPE4711', rcode: 'NXDOMAIN', answers: 0 } },
      ]),
    )
    const errors = await ask('errors')
    await eventually(() => expect(logged(errors)).toMatchObject([{ fields: { rcode: 'NXDOMAIN' } }]))
    const off = await ask('off')
    await off.dns.close()
    expect(logged(off)).toEqual([])
  })

  it('says in a warning Event on the import what has no record', async () => {
    const services = servicesCluster()
    await services.put({ imports: [web, aClusterSetIp('prod/bad', ['300.1.1.1'], [])] })
    const started = await ready(await running(services))
    const { items } = await eventually(async () => {
      const list = await services.cluster.list(resource(EventKind), {}, never)
      expect(list.items).toHaveLength(1)
      return list
    })
    expect(items).toMatchObject([
      {
        metadata: { namespace: 'prod' },
        involvedObject: { kind: 'ServiceImport', namespace: 'prod', name: 'bad' },
        type: 'Warning',
        reason: 'NoDNSRecord',
        message: '"300.1.1.1" is no address',
        source: { component: 'isthmus-dns' },
      },
    ])
    expect(await started.ask('web.prod A')).toBe('NOERROR A 10.0.0.1')
  })

  it('counts in the metrics of CoreDNS', async () => {
    const services = servicesCluster()
    await services.put({ imports: [web, aClusterSetIp('prod/bad', ['nonsense'], [])] })
    const metrics = prometheus()
    const started = await ready(await running(services, { metrics }))
    await started.ask('web.prod A')
    await started.ask('nope.prod AAAA')
    await started.askTcp('web.prod A')
    const text = await eventually(async () => {
      const exposed = await metrics.text()
      expect(exposed).toContain('isthmus_dns_responses_total{proto="tcp",type="A",rcode="NOERROR"} 1')
      return exposed
    })
    for (const line of [
      'isthmus_dns_requests_total{proto="udp",type="A"} 1',
      'isthmus_dns_responses_total{proto="udp",type="AAAA",rcode="NXDOMAIN"} 1',
      'isthmus_dns_request_duration_seconds_count{proto="udp"} 2',
      'isthmus_dns_request_duration_seconds_bucket{proto="tcp",le="+Inf"} 1',
      'isthmus_dns_services 2',
      'isthmus_dns_skipped_records{reason="address"} 1',
      'isthmus_dns_snapshot_age_seconds 0',
      'isthmus_dns_synced 1',
    ]) {
      expect(text).toContain(line)
    }
  })
})

describe('services on disk', () => {
  it('are served while the API server is away at start, with their age, until it is back', async () => {
    const snapshotFile = await temporaryFile()
    const services = switchedCluster()
    await services.put({ imports: [web, aClusterSetIp('prod/old', ['10.0.0.9'], [])] })
    const first = await ready(await running(services, { snapshotFile }))
    await first.dns.close()
    services.away(true)
    await services.removeImport('prod/old')
    await services.put({ imports: [aClusterSetIp('prod/new', ['10.0.0.3'], [])] })
    const metrics = prometheus()
    const second = await ready(await running(services, { snapshotFile, metrics }))
    expect(await second.ask('web.prod A')).toBe('NOERROR A 10.0.0.1')
    expect(await second.ask('old.prod A')).toBe('NOERROR A 10.0.0.9')
    expect(await second.ask('new.prod A')).toBe('NXDOMAIN')
    const age = /isthmus_dns_snapshot_age_seconds ([\d.e-]+)/.exec(await metrics.text())?.[1]
    expect(Number(age)).toBeGreaterThan(0)
    expect(await metrics.text()).toContain('isthmus_dns_synced 0')
    services.away(false)
    await answers(second, 'new.prod A', 'NOERROR A 10.0.0.3')
    expect(await second.ask('old.prod A')).toBe('NXDOMAIN')
    expect(await metrics.text()).toContain('isthmus_dns_snapshot_age_seconds 0')
  })

  it('are written when the services are first known, and again when it closes', async () => {
    const snapshotFile = await temporaryFile()
    const services = servicesCluster()
    await services.put({ imports: [web] })
    const started = await ready(await running(services, { snapshotFile }))
    await eventually(async () => expect(await readFile(snapshotFile, 'utf8')).toContain('10.0.0.1'))
    await services.put({ imports: [aClusterSetIp('prod/web', ['10.0.0.2'], [])] })
    await answers(started, 'web.prod A', 'NOERROR A 10.0.0.2')
    await started.dns.close()
    expect(await readFile(snapshotFile, 'utf8')).toContain('10.0.0.2')
  })

  it('that are damaged are left alone: the zone waits for the cluster', async () => {
    const snapshotFile = await temporaryFile()
    await writeFile(snapshotFile, 'nonsense')
    const services = switchedCluster()
    await services.put({ imports: [web] })
    const release = services.hold()
    const started = await running(services, { snapshotFile })
    await eventually(() =>
      expect(started.log.lines).toMatchObject([{ level: 'warn', message: 'kept services cannot be used' }]),
    )
    expect(await started.ask('web.prod A')).toBe('SERVFAIL')
    release()
    await ready(started)
    expect(await started.ask('web.prod A')).toBe('NOERROR A 10.0.0.1')
  })
})

describe('starting', () => {
  it.each([1, 2])('tells in one sentence that the UDP port is in use (%i workers)', async workers => {
    const socket = createSocket('udp4').bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const { port } = socket.address()
    await expect(running(servicesCluster(), { port, workers })).rejects.toThrow(
      `dns: cannot listen on UDP 127.0.0.1:${port}: the port is in use`,
    )
    socket.close()
  })

  it.each([1, 2])('tells in one sentence that the TCP port is in use (%i workers)', async workers => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    await expect(running(servicesCluster(), { port, workers })).rejects.toThrow(
      `dns: cannot listen on TCP 127.0.0.1:${port}: the port is in use`,
    )
    await new Promise(resolve => server.close(resolve))
    const started = await ready(await running(servicesCluster(), { port, workers }))
    expect(started.port).toBe(port)
  })

  it('does not share its port with another one, although its workers share it', async () => {
    const first = await running(servicesCluster(), { workers: 2 })
    await expect(running(servicesCluster(), { port: first.port, workers: 2 })).rejects.toThrow(
      'the port is in use',
    )
  })

  it.each([
    [{ host: 'localhost' }, 'dns: host "localhost" is not an IP address'],
    [{ ttlSeconds: 3601 }, 'dns: ttlSeconds must be 0 to 3600, not 3601'],
    [{ ttlSeconds: 1.5 }, 'dns: ttlSeconds must be 0 to 3600, not 1.5'],
    [{ workers: 0 }, 'dns: workers must be 1 to 64, not 0'],
    [{ nsid: 'x'.repeat(65) }, 'dns: nsid must have at most 64 octets'],
    [{ zone: 'a..b' }, '"a..b" is not a DNS name'],
    [{ nameServerAddresses: ['ns.example.com'] }, '"ns.example.com" is not an IP address'],
  ])('refuses %j', async (options, message) => {
    await expect(running(servicesCluster(), options)).rejects.toThrow(message)
  })
})

describe('closing', () => {
  it('ends with idle clients connected, as often as it is asked', async () => {
    const started = await ready(await running(servicesCluster()))
    const client = await tcpClient(started.port, { allowHalfOpen: true })
    const closing = started.dns.close()
    expect(started.dns.ready()).toBe(false)
    await Promise.all([closing, started.dns.close(), client.closed])
    await started.dns.close()
    await expect(started.dns.check(never)).rejects.toThrow('does not answer')
  })

  it('comes with the signal', async () => {
    const controller = new AbortController()
    const started = await ready(await running(servicesCluster(), {}, controller.signal))
    controller.abort()
    await started.dns.close()
    expect(started.dns.ready()).toBe(false)
  })

  it('leaves nothing behind when the signal has aborted before', async () => {
    const port = (await running(servicesCluster())).port + 1
    await expect(
      running(servicesCluster(), { port }, AbortSignal.abort(new Error('too late'))),
    ).rejects.toThrow('too late')
    await running(servicesCluster(), { port })
  })

  it('goes on answering for as long as it is told, no longer ready', async () => {
    const services = servicesCluster()
    await services.put({ imports: [web] })
    const clock = manualClock()
    const started = await ready(await running(services, { lameDuckMs: 10_000, clock }))
    const closing = started.dns.close()
    expect(started.dns.ready()).toBe(false)
    await clock.advance(9_000)
    expect(await started.ask('web.prod A')).toBe('NOERROR A 10.0.0.1')
    await clock.advance(1_000)
    await closing
  })
})
