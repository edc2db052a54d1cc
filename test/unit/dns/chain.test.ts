import { describe, expect, it } from 'vitest'
import { type Ask, question, type Shown, shown, wire } from '../../support/dns-message.ts'
import { exampleObjects } from '../../support/dns-objects.ts'
import { fullName, summary } from '../../support/dns-text.ts'
import { vectors as rows } from '../../support/dns-vectors.ts'
import { askerOf, emptyZone, loadedZone } from '../../support/dns-zone.ts'

const zone = loadedZone(exampleObjects())
const asker = askerOf(zone)
const soa =
  'clusterset.local. 5 SOA ns.dns.clusterset.local. hostmaster.clusterset.local. 1 7200 1800 86400 5'

function ask(row: string, how: Ask & { transport?: 'udp' | 'tcp' } = {}): Shown {
  const [name = '', type = ''] = row.split(' ')
  return asker.ask(fullName(name), type, how)
}

describe('the example zone', () => {
  it.each(rows)('answers %s with %s', (row, answer) => {
    for (const transport of ['udp', 'tcp'] as const) {
      const reply = ask(row, { transport })
      expect(summary(reply)).toBe(answer)
      const negative = answer === 'NODATA' || answer === 'NXDOMAIN'
      expect(reply.authority).toEqual(negative ? [soa] : [])
      expect(reply.flags).toBe(answer === 'REFUSED' ? 'qr rd' : 'qr aa rd')
      expect(reply.edns).toBeUndefined()
    }
  })

  it('gives every record the TTL of the zone, and the schema version its own', () => {
    const ttls = rows.flatMap(([row]) => {
      const reply = ask(row)
      return [...reply.answer, ...reply.additional].map(record => Number(record.split(' ')[1]))
    })
    expect(new Set(ttls)).toEqual(new Set([5, 28_800]))
    expect(ask('dns-version.clusterset.local. TXT').answer[0]).toContain(' 28800 TXT ')
  })

  it('reports nothing as a fault', () => {
    for (const [row] of rows) ask(row)
    expect(asker.observer.faults).toEqual([])
  })
})

describe('before the zone is loaded', () => {
  const early = askerOf(emptyZone())
  it.each([
    ['web.prod A', 'SERVFAIL'],
    ['nope.prod A', 'SERVFAIL'],
    ['prod A', 'SERVFAIL'],
    ['db.prod A', 'SERVFAIL'],
    ['db-0.east.db.prod A', 'SERVFAIL'],
    ['foo.clusterset.local. A', 'SERVFAIL'],
    ['clusterset.local. A', 'SERVFAIL'],
    ['dns-version.clusterset.local. A', 'SERVFAIL'],
    ['clusterset.local. SOA', 'NOERROR'],
    ['clusterset.local. NS', 'NOERROR'],
    ['svc.clusterset.local. A', 'NODATA'],
    ['dns.clusterset.local. A', 'NODATA'],
    ['ns.dns.clusterset.local. A', 'NOERROR'],
    ['ns.dns.clusterset.local. AAAA', 'NODATA'],
    ['dns-version.clusterset.local. TXT', 'NOERROR'],
    ['example.com. A', 'REFUSED'],
  ])('%s is %s', (row, status) => {
    const [name = '', type = ''] = row.split(' ')
    const reply = early.ask(fullName(name), type)
    expect(reply.status).toBe(status)
    if (status === 'SERVFAIL') expect(reply).toMatchObject({ flags: 'qr rd', authority: [], answer: [] })
  })

  it('says with EDNS that it is not ready, or not authoritative', () => {
    expect(early.ask(fullName('web.prod'), 'A', { edns: {} }).edns).toBe('1232 v0 15:000e')
    expect(early.ask('example.com.', 'A', { edns: {} }).edns).toBe('1232 v0 15:0014')
  })

  it('does not know versions of EDNS any earlier', () => {
    expect(early.ask(fullName('web.prod'), 'A', { edns: { version: 1 } }).status).toBe('BADVERS')
  })
})

/** Fields in hexadecimal, spaces ignored. */
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

describe('octets, as Knot and NSD send them', () => {
  const small = askerOf(zone, { random: () => 0 })
  const name = '037765620470726f64037376630a636c7573746572736574056c6f63616c00'
  const serial = '00000001'
  const numbers = `${serial} 00001c20 00000708 00015180 00000005`
  const soaData = `026e7303646e73 PTR 0a686f73746d6173746572 PTR ${numbers}`
  it.each([
    [
      'an address under a name in mixed case',
      '123401000001000000000000 03576542 0470526f44 037376430a636c7573746572736574056c6f63616c00 00010001',
      '123485000001000100000000 03576542 0470526f44 037376430a636c7573746572736574056c6f63616c00 00010001 c00c000100010000000500040a2a000a',
    ],
    [
      'no data',
      `123401000001000000000000 ${name} 00100001`,
      `123485000001000000010000 ${name} 00100001 c019 0006 0001 00000005 002a ${soaData.replaceAll('PTR', 'c019')}`,
    ],
    [
      'no such name, with EDNS',
      '123401000001000000000001 026e6f0470726f64037376630a636c7573746572736574056c6f63616c00 00010001 00 0029 04d0 00000000 0000',
      `123485030001000000010001 026e6f0470726f64037376630a636c7573746572736574056c6f63616c00 00010001 c018 0006 0001 00000005 002a ${soaData.replaceAll('PTR', 'c018')} 00 0029 04d0 00000000 0000`,
    ],
    [
      'an EDNS version that nobody knows',
      '123401000001000000000001 0a636c7573746572736574056c6f63616c00 00060001 00 0029 04d0 00010000 0000',
      '123481000001000000000001 0a636c7573746572736574056c6f63616c00 00060001 00 0029 04d0 01000000 0000',
    ],
    [
      'the probe that CoreDNS sends to an upstream',
      '123401000001000000000000 00 0002 0001',
      '123481050001000000000000 00 0002 0001',
    ],
    [
      'SRV, the target not compressed, the owners of its addresses pointing into it',
      `123401000001000000000000 055f68747470045f746370 ${name} 00210001`,
      `123485000001000100000002 055f68747470045f746370 ${name} 00210001 c00c 0021 0001 00000005 0025 0000 0064 0050 ${name} c04c 0001 0001 00000005 0004 0a2a000a c04c 001c 0001 00000005 0010 fd000000000000000000000000000010`,
    ],
  ])('%s', (_, query, reply) => {
    expect(small.raw(hex(query))?.toString('hex')).toBe(hex(reply).toString('hex'))
  })
})

describe('names', () => {
  it('keep the case of the question in every section', () => {
    const name = 'nO.pRoD.svc.CLUSTERSET.local.'
    const query = question(name, 'A')
    const reply = asker.raw(query)
    expect(reply?.subarray(12, query.length)).toEqual(query.subarray(12))
    expect(reply && shown(reply).authority[0]).toMatch(
      /^CLUSTERSET\.local\. 5 SOA ns\.dns\.CLUSTERSET\.local\./,
    )
  })

  it.each([
    [['web.prod', 'svc', 'clusterset', 'local']],
    [['\0', 'prod', 'svc', 'clusterset', 'local']],
    [['\xff', 'prod', 'svc', 'clusterset', 'local']],
    [['web', 'prod', 'svc.clusterset', 'local']],
  ])('are compared by labels: %j', labels => {
    const query = question(labels, 'A')
    const reply = asker.raw(query)
    expect(reply?.subarray(12, query.length)).toEqual(query.subarray(12))
    const outside = labels.at(-2) !== 'clusterset'
    expect((reply?.readUInt8(3) ?? 0) & 0xf).toBe(outside ? 5 : 3)
  })

  it('are outside when only octets of a label look like the zone', () => {
    expect(asker.ask(['web\x0aclusterset', 'local'], 'A').status).toBe('REFUSED')
    expect(asker.ask(['web\x0aclusterset\x05local'], 'A').status).toBe('REFUSED')
  })

  it('may have 255 octets', () => {
    const long = (suffix: string, octets: number): string => {
      const filler = octets - wire(suffix).length
      const labels = ['a'.repeat(63), 'b'.repeat(63), 'c'.repeat(63)]
      return [...labels, 'd'.repeat(filler - 3 * 64 - 1), suffix].join('.')
    }
    expect(wire(long('clusterset.local', 255)).length).toBe(255)
    expect(asker.ask(long('clusterset.local', 255), 'A').status).toBe('NXDOMAIN')
    expect(asker.ask(long('example.com', 255), 'A').status).toBe('REFUSED')
    expect(asker.raw(question(long('clusterset.local', 256), 'A'))?.toString('hex')).toBe(
      '123481010000000000000000',
    )
  })
})

describe('the header', () => {
  it.each([0, 1])('copies RD %i and never offers recursion', bit => {
    expect(ask('web.prod A', { recursionDesired: bit === 1 }).flags).toBe(bit === 1 ? 'qr aa rd' : 'qr aa')
  })

  it('passes over AA, TC, RA, Z, AD, CD and RCODE of a query', () => {
    const query = question(fullName('web.prod'), 'A', { lowFlags: 0xff })
    query[2] = (query[2] ?? 0) | 0x06
    const reply = asker.raw(query)
    expect(reply && shown(reply)).toMatchObject({ status: 'NOERROR', flags: 'qr aa rd' })
  })

  it.each([1, 2, 4, 5, 6, 15])('says NOTIMP to opcode %i in twelve octets', opcode => {
    const reply = asker.raw(question(fullName('web.prod'), 'A', { opcode }))
    expect(reply).toHaveLength(12)
    expect(((reply?.[2] ?? 0) >> 3) & 0xf).toBe(opcode)
    expect(reply?.[3]).toBe(4)
  })

  it.each([
    ['CH', 3],
    ['HS', 4],
    ['NONE', 254],
    ['ANY', 255],
    ['0', 0],
  ])('refuses class %s', (_, number) => {
    expect(ask('web.prod A', { class: number })).toMatchObject({ status: 'REFUSED', flags: 'qr rd' })
  })
})

describe('EDNS', () => {
  it.each([1232, 0, 100, 65_535])('is answered with 1232 to a client of %i octets', size => {
    expect(ask('web.prod A', { edns: { size } })).toMatchObject({ status: 'NOERROR', edns: '1232 v0' })
  })

  it.each([1, 255])('of version %i gets BADVERS', version => {
    expect(ask('web.prod A', { edns: { version } })).toMatchObject({
      status: 'BADVERS',
      flags: 'qr rd',
      answer: [],
      edns: '1232 v0',
    })
  })

  it('copies DO and nothing else', () => {
    expect(ask('web.prod A', { edns: { dnssecOk: true } })).toMatchObject({
      edns: '1232 v0 do',
      flags: 'qr aa rd',
    })
  })

  it.each([
    ['COOKIE', 10, Buffer.alloc(8, 7)],
    ['COOKIE of 7 octets', 10, Buffer.alloc(7, 7)],
    ['an unknown one', 65_001, Buffer.from('x')],
    ['PADDING', 12, Buffer.alloc(4)],
    ['ECS', 8, Buffer.from([0, 1, 24, 0, 10, 1, 2])],
    ['TCP-keepalive', 11, Buffer.alloc(0)],
  ])('passes over option %s', (_, code, data) => {
    expect(ask('web.prod A', { edns: { options: [[code, data]] } })).toMatchObject({
      status: 'NOERROR',
      edns: '1232 v0',
    })
  })

  it('is in every answer to a query that has it', () => {
    for (const [row] of rows) expect(ask(row, { edns: {} }).edns).toMatch(/^1232 v0/)
  })

  it('names the server to who asks, when it has a name', () => {
    const named = askerOf(zone, { nsid: Buffer.from('dns-0') })
    const edns = { options: [[3, Buffer.alloc(0)]] as const }
    expect(named.ask(fullName('web.prod'), 'A', { edns }).edns).toBe('1232 v0 3:646e732d30')
    expect(named.ask(fullName('web.prod'), 'A', { edns: {} }).edns).toBe('1232 v0')
    expect(ask('web.prod A', { edns }).edns).toBe('1232 v0')
    expect(() => askerOf(zone, { nsid: Buffer.alloc(65) })).toThrow(
      'an NSID has at most 64 octets, this one has 65',
    )
  })
})
