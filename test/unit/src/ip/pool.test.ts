import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseAddress } from '../../../../src/ip/address.ts'
import { AddressPool } from '../../../../src/ip/pool.ts'

function drain(pool: AddressPool): string[] {
  const all: string[] = []
  for (let ip = pool.allocate(); ip !== undefined; ip = pool.allocate()) all.push(ip)
  return all
}

it('an address pool hands out each address once, without network and broadcast', () => {
  const pool = new AddressPool(['10.0.0.0/29'])
  expect(pool.size).toBe(6n)
  expect(drain(pool)).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4', '10.0.0.5', '10.0.0.6'])
  expect(pool.used).toBe(6)
  expect(pool.reserve('10.0.0.0')).toBe(false)
  expect(pool.reserve('10.0.0.7')).toBe(false)
})

it('an address pool keeps the last address of IPv6 blocks', () => {
  expect(drain(new AddressPool(['fd00::/126']))).toEqual(['fd00::1', 'fd00::2', 'fd00::3'])
})

it('an address pool hands out all of blocks that are too small for a network address', () => {
  expect(drain(new AddressPool(['10.0.0.2/31', '10.0.0.9/32']))).toEqual(['10.0.0.2', '10.0.0.3', '10.0.0.9'])
})

it('an address pool gives addresses that end in .0 only to who asks', () => {
  const pool = new AddressPool(['10.0.0.0/23'])
  expect(drain(pool)).not.toContain('10.0.1.0')
  expect(pool.reserve('10.0.1.0')).toBe(true)
  expect(pool.used).toBe(510)
})

it('an address pool goes on behind the last address before it reuses a released one', () => {
  const pool = new AddressPool(['10.0.0.0/29'])
  const first = pool.allocate() ?? ''
  pool.release(first)
  expect(pool.allocate()).toBe('10.0.0.2')
  expect(drain(pool).at(-1)).toBe('10.0.0.1')
})

it('an address pool refuses what is taken, foreign or no address', () => {
  const pool = new AddressPool(['10.0.0.0/24'])
  expect(pool.reserve('10.0.0.5')).toBe(true)
  expect(['10.0.0.5', '10.0.1.5', 'fd00::5', 'web', '10.0.0.05'].map(ip => pool.reserve(ip))).toEqual(
    Array(5).fill(false),
  )
  expect(['10.0.0.6', '10.0.1.5', 'web'].map(ip => pool.release(ip))).toEqual(Array(3).fill(false))
})

it('an address pool knows an IPv6 address by any spelling', () => {
  const pool = new AddressPool(['fd00::/64'])
  pool.reserve('fd00:0:0:0::00A')
  expect(pool.has('fd00::a')).toBe(true)
  expect(pool.release('FD00::A')).toBe(true)
  expect(pool.used).toBe(0)
})

it('an address pool passes over what is to be avoided', () => {
  const pool = new AddressPool(['10.0.0.0/29'])
  expect(pool.allocate(ip => ip !== '10.0.0.4')).toBe('10.0.0.4')
  expect(pool.allocate(() => true)).toBeUndefined()
  expect(pool.used).toBe(1)
})

it('an address pool gives up on a huge block where all is avoided, and goes on from there', () => {
  const pool = new AddressPool(['fd00::/64'])
  expect(pool.allocate(() => true)).toBeUndefined()
  expect(pool.allocate()).toBe('fd00::4001')
})

it('an address pool grows', () => {
  const pool = new AddressPool(['10.0.0.0/30'])
  drain(pool)
  pool.add('10.0.1.0/30')
  expect(drain(pool)).toEqual(['10.0.1.1', '10.0.1.2'])
  expect(pool.cidrs).toEqual(['10.0.0.0/30', '10.0.1.0/30'])
})

it('an address pool keeps the lowest addresses of a block for last when asked', () => {
  const pool = new AddressPool(['10.0.0.0/22'], { lowestLast: true })
  const all = drain(pool)
  expect(all[0]).toBe('10.0.0.64')
  expect(all.slice(-63)).toEqual(Array.from({ length: 63 }, (_, index) => `10.0.0.${index + 1}`))
  expect(all.length).toBe(1019)
})

it.each([
  [['10.0.0.0/8', '10.1.0.0/16'], '10.1.0.0/16 overlaps 10.0.0.0/8'],
  [['10.0.0.0/8', 'fd00::/64'], 'fd00::/64 is not of IPv4'],
  [['10.0.0.1/8'], '"10.0.0.1/8" is not a CIDR'],
])('refuses %j', (cidrs, message) => {
  expect(() => new AddressPool(cidrs)).toThrow(message)
})

type Operation = { readonly do: 'allocate' | 'reserve' | 'release'; readonly ip: string }

/** Does the same to a pool and to a set, and compares the answers. */
function step(pool: AddressPool, model: Set<string>, operation: Operation): void {
  const { do: what, ip } = operation
  if (what === 'allocate') {
    const got = pool.allocate()
    expect(got === undefined ? pool.used === Number(pool.size) : !model.has(got)).toBe(true)
    if (got !== undefined) model.add(got)
  } else if (what === 'reserve') {
    const free = pool.contains(ip) && !model.has(ip)
    expect(pool.reserve(ip)).toBe(free)
    if (free) model.add(ip)
  } else {
    expect(pool.release(ip)).toBe(model.delete(ip))
  }
  expect(pool.used).toBe(model.size)
  expect([...model].every(taken => pool.has(taken) && parseAddress(taken)?.text === taken)).toBe(true)
}

it.each([
  { blocks: ['10.0.0.0/28', '10.0.0.16/29'], base: '10.0.0.' },
  { blocks: ['fd00::/125', 'fd00::10/125'], base: 'fd00::' },
  { blocks: ['10.0.1.2/31'], base: '10.0.1.' },
])('an address pool of $blocks agrees with a set of addresses', ({ blocks, base }) => {
  const operation = fc.record({
    do: fc.constantFrom('allocate' as const, 'reserve' as const, 'release' as const),
    ip: fc.integer({ min: 0, max: 31 }).map(low => `${base}${low.toString(base.includes(':') ? 16 : 10)}`),
  })
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 120 }), operations => {
      const pool = new AddressPool(blocks)
      const model = new Set<string>()
      for (const each of operations) step(pool, model, each)
    }),
  )
})
