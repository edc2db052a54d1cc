import { describe, expect, it } from 'vitest'
import type { ImportObject } from '../../../../dns/source/facts.ts'
import { serviceFacts } from '../../../../dns/source/facts.ts'
import { compileService } from '../../../../dns/zone/compile.ts'
import { compileFixed } from '../../../../dns/zone/fixed.ts'
import { aClusterSetIp, aHeadless, aSlice, type Objects } from '../../../support/dns-objects.ts'
import { fullName, summary } from '../../../support/dns-text.ts'
import { askerOf, compiledServices, loadedZone, settings } from '../../../support/dns-zone.ts'

/** `name type → answer` of a zone of these objects. */
function answers(objects: Objects, ...rows: readonly string[]): readonly string[] {
  const asker = askerOf(loadedZone(objects))
  return rows.map(row => {
    const [name = '', type = ''] = row.split(' ')
    return `${row} → ${summary(asker.ask(fullName(name), type))}`
  })
}

function problems(objects: Objects): readonly string[] {
  return compiledServices(objects).flatMap(compiled =>
    compiled.problems.map(
      ({ reason, subject }) => `${compiled.service.key}: ${reason} ${subject.slice(0, 20)}`,
    ),
  )
}

describe('input that cannot become a record', () => {
  it('loses only itself and is named', () => {
    const objects: Objects = {
      imports: [
        aClusterSetIp('prod/a.b', ['10.0.0.1'], []),
        aClusterSetIp(
          'prod/mixed',
          ['300.1.1.1', '10.0.0.2', 'fe80::1%eth0', '::ffff:1.2.3.4'],
          ['http/TCP/80'],
        ),
        aClusterSetIp(
          'prod/ports',
          ['10.0.0.3'],
          ['http/TCP/0', 'x/TCP/70000', 'ok/TCP/1', '//', 'a.b/TCP/2'],
        ),
        aHeadless('prod/db'),
      ],
      slices: [
        aSlice('prod/db', 'East_1', ['p/TCP/1'], ['db-0 10.1.0.1']),
        aSlice('prod/db', undefined, ['p/TCP/1'], ['db-1 10.1.0.2']),
        aSlice(
          'prod/db',
          'west',
          ['p/TCP/1'],
          ['db.0 10.1.0.3', `${'h'.repeat(64)} 10.1.0.4`, 'db-2 nonsense'],
        ),
      ],
    }
    expect(problems(objects)).toEqual([
      'prod/a.b: service-name a.b',
      'prod/mixed: address 300.1.1.1',
      'prod/mixed: address fe80::1%eth0',
      'prod/mixed: address ::ffff:1.2.3.4',
      'prod/ports: port-number http',
      'prod/ports: port-number x',
      'prod/ports: port-number ',
      'prod/ports: port-name a.b',
      'prod/db: cluster-id East_1',
      'prod/db: cluster-id ',
      'prod/db: hostname db.0',
      `prod/db: hostname ${'h'.repeat(20)}`,
      'prod/db: address nonsense',
    ])
    expect(
      answers(
        objects,
        'a.b.prod A',
        'mixed.prod A',
        'mixed.prod AAAA',
        'ports.prod SRV',
        '_ok._tcp.ports.prod SRV',
        'db.prod A',
        'db.prod SRV',
        'db-0.east_1.db.prod A',
        '10-1-0-3.west.db.prod A',
      ),
    ).toMatchInlineSnapshot(`
      [
        "a.b.prod A → NXDOMAIN",
        "mixed.prod A → NOERROR A 10.0.0.2",
        "mixed.prod AAAA → NODATA",
        "ports.prod SRV → NOERROR SRV 0 100 1 ports.prod, SRV 0 100 2 ports.prod + ports.prod A 10.0.0.3",
        "_ok._tcp.ports.prod SRV → NOERROR SRV 0 100 1 ports.prod + ports.prod A 10.0.0.3",
        "db.prod A → NOERROR A 10.1.0.1, A 10.1.0.2, A 10.1.0.3, A 10.1.0.4",
        "db.prod SRV → NOERROR SRV 0 100 1 10-1-0-3.west.db.prod, SRV 0 100 1 10-1-0-4.west.db.prod + 10-1-0-3.west.db.prod A 10.1.0.3, 10-1-0-4.west.db.prod A 10.1.0.4",
        "db-0.east_1.db.prod A → NXDOMAIN",
        "10-1-0-3.west.db.prod A → NOERROR A 10.1.0.3",
      ]
    `)
  })

  it('is listed sixteen times a service at most', () => {
    const ports = Array.from({ length: 40 }, (_, i) => `p${i}/TCP/0`)
    expect(problems({ imports: [aClusterSetIp('prod/web', ['10.0.0.1'], ports)], slices: [] })).toHaveLength(
      16,
    )
  })

  it('may be missing altogether', () => {
    const bare = { metadata: { namespace: 'prod', name: 'web' }, spec: null }
    const nulls = {
      metadata: { namespace: 'prod', name: 'db' },
      spec: { type: 'Headless', ips: null, ports: null },
    }
    const slice = {
      metadata: { namespace: 'prod', name: 'db-1' },
      endpoints: [{ addresses: null, hostname: '', conditions: null }],
      ports: [{ name: null, port: null, protocol: null }],
    }
    expect(compileService(serviceFacts(bare, []), settings).problems).toEqual([])
    expect(
      compileService(serviceFacts(nulls, [slice, { ...slice, endpoints: null, ports: null }]), settings),
    ).toMatchObject({
      service: { key: 'prod/db', names: [] },
    })
  })
})

describe('limits of names', () => {
  const n63 = (letter: string): string => letter.repeat(63)

  it('take the host and its SRV, and leave the address at the service', () => {
    const key = `${n63('n')}/${n63('s')}`
    const objects: Objects = {
      imports: [aHeadless(key)],
      slices: [aSlice(key, n63('c'), ['p/TCP/1'], [`${n63('h')} 10.0.0.1`, 'h 10.0.0.2'])],
    }
    const service = `${n63('s')}.${n63('n')}`
    const [first, second, third] = answers(
      objects,
      `${service} A`,
      `${service} SRV`,
      `h.${n63('c')}.${service} A`,
    )
    expect(first).toBe(`${service} A → NOERROR A 10.0.0.1, A 10.0.0.2`)
    expect(second).toContain(`SRV 0 100 1 h.${n63('c')}.${service} + h.${n63('c')}.${service} A 10.0.0.2`)
    expect(third).toContain('NOERROR A 10.0.0.2')
    expect(problems(objects)).toEqual([`${key}: name-too-long 10.0.0.1`])
  })

  it('take a named port whose name would be too long', () => {
    const key = `${n63('n')}/${n63('s')}`
    const ports = [`${'p'.repeat(62)}/TCP/1`, 'q/TCP/2']
    const zone = { ...settings, origin: `${'z'.repeat(40)}.clusterset.local` }
    const facts = serviceFacts(aClusterSetIp(key, ['10.0.0.1'], ports), [])
    expect(compileService(facts, zone).problems).toEqual([
      { reason: 'name-too-long', subject: 'p'.repeat(62) },
    ])
    const tooDeep = { ...settings, origin: [n63('x'), n63('y'), 'local'].join('.') }
    expect(compileService(facts, tooDeep)).toMatchObject({
      service: { names: [], pins: [] },
      problems: [{ reason: 'name-too-long' }],
    })
  })
})

describe('records', () => {
  it('have the TTL that is configured', () => {
    const zone = loadedZone(
      { imports: [aClusterSetIp('prod/web', ['10.0.0.1'], ['http/TCP/80'])], slices: [] },
      { ...settings, ttlSeconds: 30 },
    )
    const reply = askerOf(zone).ask(fullName('web.prod'), 'SRV')
    expect([...reply.answer, ...reply.additional].map(record => record.split(' ')[1])).toEqual(['30', '30'])
  })

  it('hold an address once, however it is written', () => {
    const objects: Objects = {
      imports: [aHeadless('prod/db')],
      slices: [aSlice('prod/db', 'east', ['p/TCP/1'], ['a fd00::1', 'a FD00:0:0:0:0:0:0:1', 'a fd00:0::1'])],
    }
    expect(answers(objects, 'db.prod AAAA', 'a.east.db.prod AAAA')).toEqual([
      'db.prod AAAA → NOERROR AAAA fd00::1',
      'a.east.db.prod AAAA → NOERROR AAAA fd00::1',
    ])
  })

  it('of one cluster in different case are of one cluster', () => {
    const objects: Objects = {
      imports: [aHeadless('prod/db')],
      slices: [
        aSlice('prod/db', 'EAST', ['p/TCP/1'], ['a 10.0.0.1']),
        aSlice('prod/db', 'east', ['p/TCP/1'], ['a 10.0.0.2']),
      ],
    }
    expect(answers(objects, 'a.east.db.prod A')).toEqual([
      'a.east.db.prod A → NOERROR A 10.0.0.1, A 10.0.0.2',
    ])
  })

  it('do not share octets with anything else', () => {
    const [compiled] = compiledServices({
      imports: [aClusterSetIp('prod/web', ['10.0.0.1'], [])],
      slices: [],
    })
    expect(compiled?.service.bytes.buffer.byteLength).toBe(16)
  })
})

describe('the names of every zone', () => {
  it('do not take addresses that are none', () => {
    expect(() => compileFixed({ ...settings, nameServerAddresses: ['nonsense'] })).toThrow(
      '"nonsense" is not an IP address',
    )
  })
})

describe('names of each cluster', () => {
  const slices = [
    aSlice('prod/web', 'east', ['http/TCP/8080'], ['web-0 10.1.0.1', 'web-1 10.1.0.2 notReady']),
    aSlice('prod/web', 'west', ['http/TCP/8080'], ['- 10.2.0.1']),
    aSlice('prod/web', 'c1.reg', ['http/TCP/8080'], ['- 10.3.0.1']),
  ]
  const wanted = { 'isthmus.dev/expose-per-cluster': 'true' }
  const service = aClusterSetIp('prod/web', ['10.42.0.1'], ['http/TCP/80'])
  const rows = (imported: ImportObject, annotations: Record<string, string>) => {
    const metadata = { ...imported.metadata, annotations }
    const asker = askerOf(loadedZone({ imports: [{ ...imported, metadata }], slices }))
    return (row: string) => {
      const [name = '', type = ''] = row.split(' ')
      return summary(asker.ask(fullName(name), type))
    }
  }

  it.each([
    ['east.web.prod A', 'NOERROR A 10.1.0.1'],
    ['west.web.prod A', 'NOERROR A 10.2.0.1'],
    ['c1.reg.web.prod A', 'NOERROR A 10.3.0.1'],
    ['reg.web.prod A', 'NODATA'],
    ['east.web.prod SRV', 'NOERROR SRV 0 100 8080 east.web.prod + east.web.prod A 10.1.0.1'],
    ['_http._tcp.east.web.prod SRV', 'NOERROR SRV 0 100 8080 east.web.prod + east.web.prod A 10.1.0.1'],
    ['north.web.prod A', 'NXDOMAIN'],
    ['web-0.east.web.prod A', 'NXDOMAIN'],
    ['web.prod A', 'NOERROR A 10.42.0.1'],
    ['web.prod SRV', 'NOERROR SRV 0 100 80 web.prod + web.prod A 10.42.0.1'],
  ])('are there when the import asks for them: %s → %s', (row, answer) => {
    expect(rows(service, wanted)(row)).toBe(answer)
  })

  it('are there beside the endpoints of a headless service', () => {
    const ask = rows(aHeadless('prod/web'), wanted)
    expect(ask('west.web.prod A')).toBe('NOERROR A 10.2.0.1')
    expect(ask('web-0.east.web.prod A')).toBe('NOERROR A 10.1.0.1')
    expect(ask('web.prod A')).toBe('NOERROR A 10.1.0.1, A 10.2.0.1, A 10.3.0.1')
  })

  it('and those of endpoints are there while they stand by for nearer ones', () => {
    const [near = aSlice('prod/web', 'east', [], []), far = near] = slices
    const standby = {
      ...far,
      metadata: { ...far.metadata, labels: { ...far.metadata.labels, 'isthmus.dev/standby': 'true' } },
      endpoints: [
        { addresses: ['10.2.0.1'], hostname: 'web-0', conditions: { ready: false, serving: true } },
        { addresses: ['10.2.0.2'], hostname: 'web-1', conditions: { ready: false, serving: false } },
        {
          addresses: ['10.2.0.3'],
          hostname: 'web-2',
          conditions: { ready: false, serving: true, terminating: true },
        },
      ],
    }
    const headless = aHeadless('prod/web')
    const imported = { ...headless, metadata: { ...headless.metadata, annotations: wanted } }
    const rowsOf = [
      'web.prod A',
      'web.prod SRV',
      'west.web.prod A',
      'web-0.west.web.prod A',
      'web-1.west.web.prod A',
      'web-2.west.web.prod A',
    ]
    expect(answers({ imports: [imported], slices: [near, standby] }, ...rowsOf)).toEqual([
      'web.prod A → NOERROR A 10.1.0.1',
      'web.prod SRV → NOERROR SRV 0 100 8080 web-0.east.web.prod + web-0.east.web.prod A 10.1.0.1',
      'west.web.prod A → NOERROR A 10.2.0.1',
      'web-0.west.web.prod A → NOERROR A 10.2.0.1',
      'web-1.west.web.prod A → NXDOMAIN',
      'web-2.west.web.prod A → NXDOMAIN',
    ])
  })

  it.each([{}, { 'isthmus.dev/expose-per-cluster': 'false' }])('are not there otherwise: %j', annotations => {
    expect(rows(service, annotations)('east.web.prod A')).toBe('NXDOMAIN')
    expect(rows(aHeadless('prod/web'), annotations)('east.web.prod A')).toBe('NODATA')
  })
})
