import { describe, expect, it } from 'vitest'
import { emptyQuery, parseQuery } from '../../../../dns/wire/query.ts'
import { opt, question, shown, wire } from '../../../support/dns-message.ts'
import { exampleObjects } from '../../../support/dns-objects.ts'
import { askerOf, loadedZone } from '../../../support/dns-zone.ts'

const asker = askerOf(loadedZone(exampleObjects()))
const web = 'web.prod.svc.clusterset.local'
const name = wire(web).toString('hex')
const asked = `${name}00010001`

const bytes = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')

/** A header of a query with these counts. */
const header = (questions: number, answers = 0, authorities = 0, additionals = 0): string =>
  `12340100${[questions, answers, authorities, additionals].map(n => n.toString(16).padStart(4, '0')).join('')}`

function reply(hex: string): string | undefined {
  return asker.raw(bytes(hex))?.toString('hex')
}

const formErrHeader = '123481010000000000000000'
const plainOpt = '00 0029 04d0 00000000 0000'

describe('what is no query', () => {
  it.each([
    ['nothing', ''],
    ['one octet', '12'],
    ['eleven octets', '1234010000010000000000'],
    ['a response', `12348100 0001000000000000 ${asked}`],
    ['a response of an unknown opcode', `1234f800 0001000000000000 ${asked}`],
  ])('%s is not answered', (_, hex) => {
    expect(reply(hex)).toBeUndefined()
  })
})

describe('a query that cannot be read', () => {
  it.each([
    ['no question', header(0)],
    ['a question that is not there', header(1)],
    ['two questions', `${header(2)} ${asked} ${asked}`],
    ['no question, but the octets of one', `${header(0)} ${asked}`],
    ['many questions', `${header(10_873)} ${'c00c00010001'.repeat(20)}`],
    ['an answer', `${header(1, 1)} ${asked} c00c 0001 0001 00000005 0004 0a000001`],
    ['an answer that is not there', `${header(1, 1)} ${asked}`],
    ['an authority record', `${header(1, 0, 1)} ${asked} 00 0001 0001 00000000 0000`],
    ['more additional records than anybody sends', `${header(1, 0, 0, 4)} ${asked} ${plainOpt.repeat(4)}`],
    ['a pointer in the question', `${header(1)} c00c 0001 0001`],
    ['a pointer beyond the message', `${header(1)} cfff 0001 0001`],
    ['a pointer after a label', `${header(1)} 03777777c00c 0001 0001`],
    ['an extended label', `${header(1)} 41 ${'61'.repeat(65)} 00 0001 0001`],
    ['a reserved label', `${header(1)} 80 ${'61'.repeat(65)} 00 0001 0001`],
    ['a label beyond the message', `${header(1)} 3f61`],
    ['a name without an end', `${header(1)} 0161`],
    ['no type', `${header(1)} ${name}`],
    ['no class', `${header(1)} ${name} 0001`],
    ['half a class', `${header(1)} ${name} 000100`],
    ['a name of 256 octets', `${header(1)} ${`3f${'61'.repeat(63)}`.repeat(4)} 00 0001 0001`],
  ])('with %s gets FORMERR in a header', (_, hex) => {
    expect(reply(hex)).toBe(formErrHeader)
  })

  it.each([
    ['an additional record that is not there', `${header(1, 0, 0, 1)} ${asked}`],
    ['a record cut short', `${header(1, 0, 0, 1)} ${asked} 00 0029 04d0`],
    ['data beyond the message', `${header(1, 0, 0, 1)} ${asked} 00 0029 04d0 00000000 0001`],
    ['an option beyond its record', `${header(1, 0, 0, 1)} ${asked} 00 0029 04d0 00000000 0004 0000 ffff`],
    ['half an option', `${header(1, 0, 0, 1)} ${asked} 00 0029 04d0 00000000 0003 000000`],
    ['two OPT', `${header(1, 0, 0, 2)} ${asked} ${plainOpt} ${plainOpt}`],
    ['an OPT that is not at the root', `${header(1, 0, 0, 1)} ${asked} 0161 ${plainOpt}`],
    ['octets behind the last record', `${header(1, 0, 0, 1)} ${asked} ${plainOpt} 00`],
    ['octets behind the question', `${header(1)} ${asked} 00`],
    ['an owner that is no name', `${header(1, 0, 0, 1)} ${asked} 41 0029 04d0 00000000 0000`],
    ['an owner without an end', `${header(1, 0, 0, 1)} ${asked} 3f61`],
  ])('with %s gets FORMERR with its question and without OPT', (_, hex) => {
    expect(reply(hex)).toBe(bytes(`123481010001000000000000 ${asked}`).toString('hex'))
  })
})

describe('what stands beside the question', () => {
  it.each([
    ['TSIG', '00 00fa 00ff 00000000 0000'],
    ['TSIG under a compressed name', 'c00c 00fa 00ff 00000000 0000'],
    ['SIG(0)', '00 0018 00ff 00000000 0000'],
  ])('as %s gets NOTAUTH: there are no keys', (_, record) => {
    const answer = asker.raw(bytes(`${header(1, 0, 0, 1)} ${asked} ${record}`))
    expect(answer && shown(answer)).toMatchObject({ status: 'NOTAUTH', flags: 'qr rd', answer: [] })
  })

  it('may be three records of any type', () => {
    const records = `${plainOpt} c00c 0001 0001 00000005 0004 0a000001 00 ff00 0001 00000000 0000`
    const answer = asker.raw(bytes(`${header(1, 0, 0, 3)} ${asked} ${records}`))
    expect(answer && shown(answer)).toMatchObject({ status: 'NOERROR', edns: '1232 v0' })
  })

  it('may be the SOA that IXFR brings', () => {
    const soa = '00 0006 0001 00000000 0016 0000 00000001 00000001 00000001 00000001 00000001'
    const ixfr = `${name}00fb0001`
    const answer = asker.raw(bytes(`${header(1, 0, 1)} ${ixfr} ${soa}`))
    expect(answer && shown(answer)).toMatchObject({ status: 'REFUSED' })
    expect(reply(`${header(1, 0, 2)} ${ixfr} ${soa}`)).toBe(
      bytes(`123481010001000000000000 ${ixfr}`).toString('hex'),
    )
  })
})

describe('parsing', () => {
  it('folds the name and says where labels begin', () => {
    const query = emptyQuery()
    expect(
      parseQuery(question('WeB.pRoD.\xC9', 'AAAA', { edns: { size: 4096, dnssecOk: true } }), query),
    ).toBe('query')
    const { labels, labelStarts, nameOctets, type, udpOctets, dnssecOk, edns } = query
    expect(query.name.toString('latin1', 0, nameOctets)).toBe('\x03web\x04prod\x01\xC9\0')
    expect([...labelStarts.subarray(0, labels)]).toEqual([0, 4, 9])
    expect({ type, udpOctets, dnssecOk, edns }).toEqual({
      type: 28,
      udpOctets: 4096,
      dnssecOk: true,
      edns: true,
    })
  })

  it('forgets what the query before had', () => {
    const query = emptyQuery()
    parseQuery(
      question(web, 'A', { edns: { size: 4096, version: 3, options: [[3, Buffer.alloc(0)]] } }),
      query,
    )
    expect(query).toMatchObject({ edns: true, nsid: true, ednsVersion: 3 })
    expect(parseQuery(question('a', 'A', { recursionDesired: false }), query)).toBe('query')
    expect(query).toMatchObject({
      edns: false,
      nsid: false,
      ednsVersion: 0,
      udpOctets: 0,
      recursionDesired: false,
    })
  })

  it('is linear in what pointers cannot reach: chains of them cost nothing', () => {
    // Thousands of records whose owners point to the next: followed, they take seconds.
    const hop = (at: number): string => (0xc000 | (at & 0x3fff)).toString(16)
    const chain = Array.from({ length: 5000 }, (_, i) => `${hop(12 + 2 * i + 2)}`).join('')
    const inQuestion = bytes(`${header(0, 0, 0, 3)} ${chain}`)
    expect(asker.raw(inQuestion)?.toString('hex')).toBe(formErrHeader)
    const records = Array.from({ length: 3 }, (_, i) => `${hop(60 + 12 * i)} 0001 0001 00000000 0000`).join(
      '',
    )
    const answer = asker.raw(bytes(`${header(1, 0, 0, 3)} ${asked} ${records}`))
    expect(answer && shown(answer).status).toBe('NOERROR')
  })

  it('survives the octets that kill other servers', () => {
    // One spoofed datagram each: no question, a question without a name, a reserved label, an empty label chain.
    const proofs = [
      '123401000000000000000000',
      '123401000001000000000000',
      '123401000001000000000000c00c00010001',
      '1234010000010000000000003f61',
      '12340100000100000000000081610000010001',
      '12340100000100000000000008737663312e6e7331037376630a636c7573746572736574056c6f63616c0000010001',
      `123420000001000000000000${asked}`,
      `123478000001000000000000${asked}`,
      `${header(1, 0, 0, 1)}${asked}00002904d000000000ffff`,
      `${header(1, 0, 0, 1)}${asked}000029ffff000000000000`,
      '12340000000000030000000000000a00010000000000300000c017c019c01bc01dc01fc021c023c025c027c029c02bc02dc02fc031c033c035c037c039c03bc03dc03fc041c043c045000a0001000000000000c045000a0001000000000000',
    ]
    const statuses = proofs.map(proof => asker.raw(bytes(proof))?.readUInt8(3))
    expect(statuses).toEqual([1, 1, 1, 1, 1, 3, 4, 4, 1, 0, 1])
    expect(asker.observer.faults).toEqual([])
  })

  it('takes OPT wherever it stands among the additional records', () => {
    const record = bytes('00 ff00 0001 00000000 0000')
    const message = Buffer.concat([question(web, 'A'), record, opt({ size: 1400 })])
    message[11] = 2
    const query = emptyQuery()
    expect(parseQuery(message, query)).toBe('query')
    expect(query.udpOctets).toBe(1400)
  })
})
