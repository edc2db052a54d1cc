import { describe, expect, it } from 'vitest'
import { question, shown } from '../../support/dns-message.ts'
import { aClusterSetIp, aHeadless, aSlice, exampleObjects, type Objects } from '../../support/dns-objects.ts'
import { fullName, summary } from '../../support/dns-text.ts'
import { askerOf, emptyZone, loadedZone, settings } from '../../support/dns-zone.ts'

const one = (imports: Objects['imports'], slices: Objects['slices'] = []): Objects => ({ imports, slices })
const example = exampleObjects()

/** What users of other implementations reported: where, what it looked like there, and what must be answered here. */
const reports: readonly (readonly [
  where: string,
  symptom: string,
  objects: Objects,
  answers: Readonly<Record<string, string>>,
])[] = [
  [
    'submariner-io/lighthouse#565',
    'SRV targets lacked the cluster',
    example,
    {
      '_pg._tcp.db.prod SRV':
        'NOERROR SRV 0 100 5432 db-0.east.db.prod, SRV 0 100 5432 db-0.west.db.prod, SRV 0 100 5432 db-1.east.db.prod + db-0.east.db.prod A 10.1.0.1, db-0.west.db.prod A 10.2.0.1, db-1.east.db.prod A 10.1.0.2',
    },
  ],
  [
    'submariner-io/lighthouse#818',
    'headless services without hostnames had no SRV',
    example,
    { '10-1-0-7.east.anon.prod A': 'NOERROR A 10.1.0.7' },
  ],
  [
    'submariner-io/lighthouse#1773',
    'AAAA was always empty',
    example,
    {
      'web.prod AAAA': 'NOERROR AAAA fd00::10',
      'v6.prod AAAA': 'NOERROR AAAA fd00:1::9',
      'v6.prod A': 'NODATA',
    },
  ],
  [
    'kubernetes-sigs/mcs-api#91',
    'headless imports may have no ports; those of the slices count',
    one([aHeadless('prod/db')], [aSlice('prod/db', 'east', ['pg/TCP/5432'], ['a 10.0.0.1'])]),
    { 'db.prod SRV': 'NOERROR SRV 0 100 5432 a.east.db.prod + a.east.db.prod A 10.0.0.1' },
  ],
  [
    'kubernetes-sigs/mcs-api#103',
    'endpoints without a hostname were named after their pod',
    one([aHeadless('prod/db')], [aSlice('prod/db', 'east', ['p/TCP/42'], ['- 10.244.0.5'])]),
    { 'db.prod SRV': 'NOERROR SRV 0 100 42 10-244-0-5.east.db.prod + 10-244-0-5.east.db.prod A 10.244.0.5' },
  ],
  [
    'coredns/multicluster#20, coredns#5736',
    'TXT of a missing name was NOERROR',
    example,
    { 'nope.prod TXT': 'NXDOMAIN', 'nope.prod HINFO': 'NXDOMAIN' },
  ],
  [
    'coredns#3118',
    'NS and HINFO of missing names were NODATA',
    example,
    { 'foo.clusterset.local. NS': 'NXDOMAIN' },
  ],
  ['coredns#846', 'the name of a namespace was NXDOMAIN', example, { 'prod A': 'NODATA' }],
  [
    'coredns#1228',
    'names with names below them were NXDOMAIN',
    example,
    { '_tcp.web.prod A': 'NODATA', 'east.db.prod A': 'NODATA' },
  ],
  [
    'coredns#2769',
    'AAAA of the name server was NXDOMAIN and poisoned the delegation',
    example,
    { 'ns.dns.clusterset.local. AAAA': 'NODATA' },
  ],
  [
    'coredns#7430',
    'an IPv6 address that ends in :: gave a label that ends in a dash',
    example,
    { 'fd00-1--0.east.anon.prod AAAA': 'NOERROR AAAA fd00:1::', 'fd00-1--.east.anon.prod AAAA': 'NXDOMAIN' },
  ],
  [
    'coredns#6210, #4765, #5159, #5008',
    'names of endpoints that are not ready; those that are published although they are not say that they are ready',
    example,
    { 'db-2.east.db.prod A': 'NXDOMAIN', 'db-1.east.db.prod A': 'NOERROR A 10.1.0.2' },
  ],
  [
    'coredns#6607',
    'a hostname with a dot',
    one([aHeadless('prod/db')], [aSlice('prod/db', 'east', ['p/TCP/1'], ['test.hostname 10.0.0.1'])]),
    {
      'db.prod SRV': 'NOERROR SRV 0 100 1 10-0-0-1.east.db.prod + 10-0-0-1.east.db.prod A 10.0.0.1',
      'test.hostname.east.db.prod A': 'NXDOMAIN',
    },
  ],
  [
    'coredns#2046, kubernetes/dns#174',
    'services without ports had no address',
    example,
    { 'bareip.prod A': 'NOERROR A 10.42.0.13', 'np.prod A': 'NOERROR A 10.1.0.20', 'np.prod SRV': 'NODATA' },
  ],
  [
    'kubernetes/dns#116',
    'of two endpoints with one hostname the last won',
    example,
    { 'x.east.dup.prod A': 'NOERROR A 10.4.0.1, A 10.4.0.2' },
  ],
  [
    'coredns#1365, #6518',
    'endpoints of all but one slice were missing',
    example,
    { 'dup.prod A': 'NOERROR A 10.4.0.1, A 10.4.0.2' },
  ],
  [
    'coredns#6179',
    'a slice port of which all fields are null',
    example,
    { 'nullp.prod A': 'NOERROR A 10.1.0.21', 'nullp.prod SRV': 'NODATA' },
  ],
  [
    'kubernetes#80175',
    'a port that the slice does not name',
    one([aHeadless('prod/db')], [aSlice('prod/db', 'east', ['/TCP/5432'], ['a 10.0.0.1'])]),
    {
      'db.prod SRV': 'NOERROR SRV 0 100 5432 a.east.db.prod + a.east.db.prod A 10.0.0.1',
      '_pg._tcp.db.prod SRV': 'NXDOMAIN',
    },
  ],
  [
    'coredns#4984, coredns/multicluster#25',
    'a wildcard gave the zone away',
    example,
    {
      '*.prod A': 'NXDOMAIN',
      '*.*.svc.clusterset.local. A': 'NXDOMAIN',
      '_http._tcp.*.prod SRV': 'NXDOMAIN',
    },
  ],
  [
    'cilium#37053',
    'a headless import with the address None',
    example,
    { 'none2.prod A': 'NOERROR A 10.5.0.1' },
  ],
  [
    'submariner-io/lighthouse#1681',
    'no SRV when ports came with a later update',
    one([aClusterSetIp('prod/web', ['10.0.0.1'], ['http/TCP/80'])]),
    { '_http._tcp.web.prod SRV': 'NOERROR SRV 0 100 80 web.prod + web.prod A 10.0.0.1' },
  ],
]

describe('reports of other implementations', () => {
  it.each(reports)('%s: %s', (_, __, objects, answers) => {
    const asker = askerOf(loadedZone(objects))
    for (const [row, answer] of Object.entries(answers)) {
      const [name = '', type = ''] = row.split(' ')
      expect(summary(asker.ask(fullName(name), type))).toBe(answer)
    }
  })

  const asker = askerOf(loadedZone(example))
  const raw = (row: string, transport: 'udp' | 'tcp' = 'udp', edns = false): Buffer => {
    const [name = '', type = ''] = row.split(' ')
    const reply = asker.raw(question(fullName(name), type, edns ? { edns: { size: 65_535 } } : {}), transport)
    if (reply === undefined) throw new Error('no reply')
    return reply
  }

  it('submariner-operator#3218: more than 200 endpoints ended in SERVFAIL; TCP has them all', () => {
    expect(shown(raw('big.prod A', 'tcp')).answer).toHaveLength(1200)
  })

  it('coredns#5366, coredns#2224: no OPT and no more than 512 octets to who has no EDNS', () => {
    const reply = raw('big.prod A')
    expect(reply.length).toBeLessThanOrEqual(512)
    expect(shown(reply).edns).toBeUndefined()
  })

  it('coredns#4343, coredns#4547, docker-alpine#326: a cut answer has whole records, as many as it says', () => {
    const reply = raw('big.prod A')
    expect(shown(reply).answer).toHaveLength(reply.readUInt16BE(6))
    expect(reply.readUInt16BE(6)).toBeGreaterThan(0)
  })

  it('PowerDNS/pdns#4857, erldns#199: a cut answer keeps OPT', () => {
    expect(shown(raw('big.prod SRV', 'udp', true))).toMatchObject({ edns: '1232 v0', flags: 'qr aa tc rd' })
  })

  it('golang/go#36718: SRV targets are not compressed', () => {
    const reply = raw('_http._tcp.web.prod SRV')
    const target = Buffer.from('\x03web\x04prod\x03svc\x0aclusterset\x05local\0', 'latin1')
    expect(reply.subarray(14).includes(target, reply.length / 3)).toBe(true)
  })

  it('coredns#3930: no weight of zero however many endpoints there are', () => {
    const weights = shown(raw('big.prod SRV', 'tcp')).answer.map(record => record.split(' ')[4])
    expect(new Set(weights)).toEqual(new Set(['100']))
  })

  it('coredns#1403, #2430, #7237: the case of the question is kept, for SRV too', () => {
    const name = '_HTTP._tcp.WEB.prod.svc.ClusterSet.local.'
    const query = question(name, 'SRV')
    const reply = asker.raw(query)
    expect(reply?.subarray(12, query.length)).toEqual(query.subarray(12))
    expect(reply && shown(reply).answer[0]).toMatch(/^_HTTP\._tcp\.WEB\.prod\.svc\.ClusterSet\.local\. /)
  })

  it('lighthouse#1357: a negative answer always has the SOA, so caches know how long it holds', () => {
    for (const row of ['nope.prod A', 'web.prod TXT', 'prod A', 'svc.clusterset.local. A']) {
      expect(shown(raw(row)).authority).toHaveLength(1)
    }
  })

  it('coredns#7350, kubernetes/dns#186, kubernetes#57111: nothing is denied before everything is known', () => {
    const zone = emptyZone(settings)
    const early = askerOf(zone)
    expect(early.ask(fullName('web.prod'), 'A')).toMatchObject({ status: 'SERVFAIL', authority: [] })
    zone.loaded = true
    expect(early.ask(fullName('web.prod'), 'A').status).toBe('NXDOMAIN')
  })

  it('coredns/multicluster#23: an empty label ends the name and nothing else', () => {
    const empty = Buffer.from('1234010000010000000000000000210001', 'hex')
    expect(asker.raw(empty)?.readUInt8(3)).toBe(5)
    expect(asker.ask(['_', '_tcp', 'web', 'prod', 'svc', 'clusterset', 'local'], 'SRV').status).toBe(
      'NXDOMAIN',
    )
  })
})
