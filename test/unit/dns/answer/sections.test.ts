import { describe, expect, it } from 'vitest'
import { opt, question, shown, wire } from '../../../support/dns-message.ts'
import { aHeadless, aSlice, exampleObjects } from '../../../support/dns-objects.ts'
import { askerOf, loadedZone, settings } from '../../../support/dns-zone.ts'

const big = 'big.prod.svc.clusterset.local'
const zone = loadedZone(exampleObjects())
const asker = askerOf(zone)
const everyAddress = new Set(Array.from({ length: 1200 }, (_, i) => `10.9.${i >> 8}.${i & 255}`))

/** The header's counts: questions, answers, authorities, additionals. */
function counts(reply: Buffer): readonly number[] {
  return [4, 6, 8, 10].map(at => reply.readUInt16BE(at))
}

function raw(
  name: string,
  type: string,
  how: Parameters<typeof question>[2] & { tcp?: boolean } = {},
): Buffer {
  const reply = asker.raw(question(name, type, how), how.tcp === true ? 'tcp' : 'udp')
  if (reply === undefined) throw new Error('no reply')
  return reply
}

describe('an answer that does not fit into a datagram', () => {
  it('has whole records of the set, and TC, within 512 octets of who has no EDNS', () => {
    const reply = raw(big, 'A')
    // 12 of header, 35 of question, 16 a record.
    expect(counts(reply)).toEqual([1, 29, 0, 0])
    expect(reply.length).toBe(12 + wire(big).length + 4 + 29 * 16)
    const { flags, answer, edns } = shown(reply)
    expect(flags).toBe('qr aa tc rd')
    expect(edns).toBeUndefined()
    const addresses = answer.map(record => record.split(' ')[3] ?? '')
    expect(new Set(addresses).size).toBe(29)
    expect(addresses.every(address => everyAddress.has(address))).toBe(true)
  })

  it.each([
    [512, 28],
    [800, 46],
    [1232, 73],
    [4096, 73],
    [65_535, 73],
  ])('fills what a client of %i octets takes, at most 1232, and keeps OPT', (size, records) => {
    const reply = raw(big, 'A', { edns: { size } })
    expect(counts(reply)).toEqual([1, records, 0, 1])
    expect(reply.length).toBeLessThanOrEqual(Math.min(size, 1232))
    expect(shown(reply)).toMatchObject({ flags: 'qr aa tc rd', edns: '1232 v0' })
  })

  it('is whole over TCP', () => {
    const reply = raw(big, 'A', { tcp: true })
    expect(counts(reply)).toEqual([1, 1200, 0, 0])
    expect(reply.length).toBe(12 + wire(big).length + 4 + 19_200)
    const { flags, answer } = shown(reply)
    expect(flags).toBe('qr aa rd')
    expect(new Set(answer.map(record => record.split(' ')[3]))).toEqual(everyAddress)
  })

  it('loses the additional section before it loses SRV records', () => {
    const name = 'db.prod.svc.clusterset.local'
    const all = raw(name, 'SRV')
    expect(counts(all)).toEqual([1, 3, 0, 3])
    const long = 'x'.repeat(60)
    const wide = askerOf(
      loadedZone({
        imports: [aHeadless('prod/wide')],
        slices: [
          aSlice(
            'prod/wide',
            'east',
            ['p/TCP/1'],
            [0, 1, 2].map(i => `${long}${i} 10.0.0.${i},fd00::${i}`),
          ),
        ],
      }),
    )
    const reply = wide.raw(question('wide.prod.svc.clusterset.local', 'SRV'))
    expect(reply && counts(reply)).toEqual([1, 3, 0, 0])
    expect(reply && shown(reply).flags).toBe('qr aa rd')
    const overTcp = wide.raw(question('wide.prod.svc.clusterset.local', 'SRV'), 'tcp')
    expect(overTcp && counts(overTcp)).toEqual([1, 3, 0, 6])
  })

  it('has TC and no additional section when SRV records do not fit', () => {
    const reply = raw(big, 'SRV', { edns: { size: 1232 } })
    const [, answers, , additionals] = counts(reply)
    expect(answers).toBeGreaterThan(10)
    expect(additionals).toBe(1)
    expect(shown(reply)).toMatchObject({ flags: 'qr aa tc rd', additional: [], edns: '1232 v0' })
  })

  it('is capped over TCP without TC', () => {
    const endpoints = Array.from({ length: 4200 }, (_, i) => `h-${i} 10.20.${i >> 8}.${i & 255}`)
    const huge = askerOf(
      loadedZone(
        {
          imports: [aHeadless('prod/huge')],
          slices: [aSlice('prod/huge', 'east', ['p/TCP/1'], endpoints)],
        },
        { ...settings, maxEndpoints: 5000 },
      ),
    )
    const reply = huge.raw(question('huge.prod.svc.clusterset.local', 'A'), 'tcp')
    expect(reply && counts(reply)).toEqual([1, 4092, 0, 0])
    expect(reply?.length).toBeLessThanOrEqual(65_535)
    expect(reply && shown(reply).flags).toBe('qr aa rd')
    expect(huge.observer.seen.at(-1)).toMatchObject({ truncated: true, transport: 'tcp' })
    const withEdns = Buffer.concat([question('huge.prod.svc.clusterset.local', 'A'), opt({})])
    withEdns[11] = 1
    const second = huge.raw(withEdns, 'tcp')
    expect(second && counts(second)).toEqual([1, 4092, 0, 1])
    expect(second?.length).toBeLessThanOrEqual(65_535)
  })
})

describe('SRV records', () => {
  const overTcp = raw(big, 'SRV', { tcp: true })

  /** The octets of the names in the answer's records, and the owners in the additional section. */
  function parts(reply: Buffer): { readonly targets: Buffer[]; readonly owners: (Buffer | number)[] } {
    const targets: Buffer[] = []
    const owners: (Buffer | number)[] = []
    let at = 12 + wire(big).length + 4
    for (let i = 0; i < reply.readUInt16BE(6); i++) {
      const end = at + 12 + reply.readUInt16BE(at + 10)
      targets.push(reply.subarray(at + 18, end))
      at = end
    }
    for (let i = 0; i < reply.readUInt16BE(10); i++) {
      const pointer = (reply[at] ?? 0) >= 0xc0
      owners.push(pointer ? reply.readUInt16BE(at) & 0x3fff : reply.subarray(at, reply.indexOf(0, at) + 1))
      const fields = pointer ? at + 2 : reply.indexOf(0, at) + 1
      at = fields + 10 + reply.readUInt16BE(fields + 8)
    }
    expect(at).toBe(reply.length)
    return { targets, owners }
  }

  it('do not compress their targets', () => {
    const { targets } = parts(overTcp)
    expect(targets.length).toBeGreaterThan(1000)
    for (const target of targets) {
      expect(target.every(octet => octet < 0xc0)).toBe(true)
      expect(target.at(-1)).toBe(0)
    }
  })

  it('point to targets from additional owners as far as pointers reach, and repeat the name beyond', () => {
    const endpoints = Array.from({ length: 450 }, (_, i) => `h-${i} 10.20.${i >> 8}.${i & 255}`)
    const many = askerOf(
      loadedZone({
        imports: [aHeadless('prod/big')],
        slices: [aSlice('prod/big', 'east', ['p/TCP/1'], endpoints)],
      }),
    )
    const reply = many.raw(question(big, 'SRV'), 'tcp')
    if (reply === undefined) throw new Error('no reply')
    const { targets, owners } = parts(reply)
    expect(targets).toHaveLength(450)
    expect(owners).toHaveLength(450)
    const pointers = owners.filter(owner => typeof owner === 'number')
    expect(pointers.length).toBeGreaterThan(200)
    expect(pointers.length).toBeLessThan(450)
    const pointed = pointers.map(at => reply.subarray(at, reply.indexOf(0, at) + 1).toString('latin1'))
    const written = owners.filter(owner => typeof owner !== 'number').map(owner => owner.toString('latin1'))
    const expected = targets.map(target => target.toString('latin1'))
    expect(new Set([...pointed, ...written])).toEqual(new Set(expected))
    expect(shown(reply).additional).toHaveLength(450)
  })
})

describe('rotation', () => {
  it('begins at every record equally often, also when the set is cut', () => {
    const asks = 24_000
    const query = question(big, 'A')
    const start = 12 + wire(big).length + 4
    const frequency = new Map<string, number>()
    let state = 42
    // A generator with a seed: the test must not fail once in a thousand runs.
    const random = (): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return state / 2 ** 32
    }
    const seeded = askerOf(zone, { random })
    for (let i = 0; i < asks; i++) {
      const reply = seeded.raw(query)
      const first = reply?.subarray(start + 12, start + 16).join('.') ?? ''
      frequency.set(first, (frequency.get(first) ?? 0) + 1)
    }
    expect(new Set(frequency.keys())).toEqual(everyAddress)
    const expected = asks / 1200
    const chiSquare = [...frequency.values()].reduce((sum, n) => sum + (n - expected) ** 2 / expected, 0)
    // 1199 degrees of freedom: mean 1199, standard deviation 49.
    expect(chiSquare).toBeGreaterThan(1000)
    expect(chiSquare).toBeLessThan(1400)
  })

  it('keeps the set whole wherever it begins', () => {
    for (const start of [0, 0.34, 0.67, 0.999_999]) {
      const rotated = askerOf(zone, { random: () => start })
      expect(rotated.ask('db.prod.svc.clusterset.local', 'A').answer).toHaveLength(3)
      expect(rotated.ask('db.prod.svc.clusterset.local', 'SRV').answer).toHaveLength(3)
    }
  })
})
