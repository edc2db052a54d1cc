import { describe, expect, it } from 'vitest'
import { aClusterSetIp, aHeadless, aSlice, exampleObjects } from '../../../support/dns-objects.ts'
import { fullName, summary } from '../../../support/dns-text.ts'
import { askerOf, loadedZone, settings } from '../../../support/dns-zone.ts'

/**
 * Which name exists: NXDOMAIN only for names that own nothing and have nothing below them (RFC 4592 §2.2.2, RFC 8020).
 * `data` stands for NOERROR with an answer.
 */
const rows: readonly (readonly [why: string, names: readonly string[], types: string, status: string])[] = [
  ['the apex without such records', ['clusterset.local.'], 'A AAAA TXT SRV DS DNSKEY TYPE65280', 'NODATA'],
  ['the apex', ['clusterset.local.'], 'SOA NS', 'data'],
  ['branches of the zone', ['svc.clusterset.local.', 'dns.clusterset.local.'], 'A SOA ANY TXT', 'NODATA'],
  ['branches of other zones', ['pod.clusterset.local.', 'foo.clusterset.local.'], 'A NS', 'NXDOMAIN'],
  ['a namespace with an import', ['prod'], 'A SRV ANY', 'NODATA'],
  ['a namespace without', ['staging'], 'A ANY', 'NXDOMAIN'],
  ['an IPv4 service', ['one.prod'], 'AAAA TXT MX HTTPS CNAME PTR SOA NS DS', 'NODATA'],
  ['an unknown service', ['nope.prod'], 'A AAAA TXT SRV HINFO', 'NXDOMAIN'],
  ['a service without addresses yet', ['pend.prod'], 'A AAAA SRV', 'NODATA'],
  ['a service without ports', ['bareip.prod'], 'A', 'data'],
  ['a headless service with no ready endpoint', ['zero.prod', 'none.prod'], 'A AAAA SRV TXT', 'NXDOMAIN'],
  ['a headless service of the other family', ['v6.prod'], 'A', 'NODATA'],
  ['a named port', ['_http._tcp.web.prod'], 'SRV', 'data'],
  ['a named port', ['_http._tcp.web.prod'], 'A AAAA TXT', 'NODATA'],
  ['the protocol of a named port', ['_tcp.web.prod'], 'SRV A ANY', 'NODATA'],
  ['a protocol without named ports', ['_udp.web.prod', '_tcp.one.prod'], 'SRV A', 'NXDOMAIN'],
  ['an unknown port', ['_bad._tcp.web.prod'], 'SRV', 'NXDOMAIN'],
  ['a cluster with a ready endpoint', ['east.db.prod', 'west.db.prod'], 'A AAAA SRV ANY', 'NODATA'],
  ['a cluster without', ['north.db.prod', 'east.zero.prod', 'east.web.prod'], 'A ANY', 'NXDOMAIN'],
  ['a ready endpoint', ['db-0.east.db.prod'], 'A', 'data'],
  ['a ready endpoint of the other family', ['db-0.east.db.prod'], 'AAAA TXT', 'NODATA'],
  ['an endpoint that is not ready', ['db-2.east.db.prod'], 'A', 'NXDOMAIN'],
  ['an endpoint of another cluster, or of none', ['db-1.west.db.prod', 'nope.east.db.prod'], 'A', 'NXDOMAIN'],
  ['an endpoint without a cluster', ['db-0.db.prod'], 'A', 'NXDOMAIN'],
  ['both parts of a cluster id of two labels', ['reg.two.prod', 'c1.reg.two.prod'], 'A ANY', 'NODATA'],
  ['names deeper than any', ['x.y.z.web.prod', 'www.google.com.prod'], 'A', 'NXDOMAIN'],
  ['the version', ['dns-version.clusterset.local.'], 'TXT', 'data'],
  ['the version', ['dns-version.clusterset.local.'], 'A SRV', 'NODATA'],
  ['below an endpoint', ['x.db-0.east.db.prod'], 'A', 'NXDOMAIN'],
]

describe('a name that', () => {
  const asker = askerOf(loadedZone(exampleObjects()))
  it.each(rows)('is %s: %j %s → %s', (_, names, types, status) => {
    for (const name of names) {
      for (const type of types.split(' ')) {
        const reply = asker.ask(fullName(name), type)
        expect(`${name} ${type} ${summary(reply).split(' ')[0]}`).toBe(
          `${name} ${type} ${status === 'data' ? 'NOERROR' : status}`,
        )
      }
    }
  })
})

describe('ClusterSetIP imports', () => {
  it('have no names of endpoints or clusters, even where slices exist', () => {
    const asker = askerOf(
      loadedZone({
        imports: [aClusterSetIp('prod/web', ['10.42.0.10'], ['http/TCP/80'])],
        slices: [aSlice('prod/web', 'east', ['http/TCP/80'], ['web-0 10.1.0.1'])],
      }),
    )
    for (const name of ['web-0.east.web.prod', 'east.web.prod', '10-1-0-1.east.web.prod']) {
      expect(asker.ask(fullName(name), 'A').status).toBe('NXDOMAIN')
    }
    expect(summary(asker.ask(fullName('web.prod'), 'A'))).toBe('NOERROR A 10.42.0.10')
  })
})

describe('a zone of another name', () => {
  it('has its own SOA and TTL, and refuses what is outside', () => {
    const objects = { imports: [aHeadless('prod/db')], slices: [] }
    const zone = loadedZone(objects, {
      ...settings,
      origin: 'deep.clusterset.local',
      ttlSeconds: 7,
      nameServerAddresses: [],
    })
    const asker = askerOf(zone)
    expect(asker.ask('prod.svc.deep.clusterset.local', 'A').authority[0]).toMatch(
      /^deep\.clusterset\.local\. 7 SOA /,
    )
    expect(asker.ask('svc.clusterset.local', 'A').status).toBe('REFUSED')
  })
})
