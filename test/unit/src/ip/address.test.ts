import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  addressOf,
  bytesOf,
  canonicalAddress,
  familyOf,
  parseAddress,
  textOf,
} from '../../../../src/ip/address.ts'

it.each([
  ['10.0.0.1', '10.0.0.1'],
  ['255.255.255.255', '255.255.255.255'],
  ['2001:DB8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['::', '::'],
  ['fd00:0:0:1::00a', 'fd00:0:0:1::a'],
  ['1:0:0:2:0:0:0:3', '1:0:0:2::3'],
  ['::1.2.3.4', '::102:304'],
])('an address: %s is written as %s', (text, canonical) => {
  expect(canonicalAddress(text)).toBe(canonical)
})

it.each([
  '',
  '1.2.3',
  '01.2.3.4',
  '1.2.3.04',
  '0x1.2.3.4',
  '1.2.3.256',
  ' 1.2.3.4',
  '1.2.3.4\n',
  '1.2.3.4/24',
  '::1/64',
  'fe80::1%eth0',
  '1::2::3',
  ':::',
  '00001::',
  '[::1]',
  '::ffff:1.2.3.4',
  '::ffff:102:304',
])('an address: %j is none', text => {
  expect(parseAddress(text)).toBeUndefined()
})

it('an address has a family', () => {
  expect([familyOf('1.2.3.4'), familyOf('::1'), familyOf('web')]).toEqual(['IPv4', 'IPv6', undefined])
})

it('an address has its bytes in network order', () => {
  expect([...bytesOf(addressOf('IPv4', 0x0a_00_01_02n))]).toEqual([10, 0, 1, 2])
  expect(Buffer.from(bytesOf(addressOf('IPv6', (0xfd00n << 112n) + 0xabcdn))).toString('hex')).toBe(
    'fd00000000000000000000000000abcd',
  )
})

it('an address reads back what it writes', () => {
  const family = fc.constantFrom('IPv4' as const, 'IPv6' as const)
  fc.assert(
    fc.property(family, fc.bigInt(0n, 2n ** 128n - 1n), (of, number) => {
      const value = of === 'IPv4' ? number >> 96n : number
      fc.pre(of === 'IPv4' || value >> 32n !== 0xffffn)
      expect(parseAddress(textOf(of, value))).toEqual(addressOf(of, value))
    }),
  )
})

it('an address is within its family', () => {
  expect(() => addressOf('IPv4', 2n ** 32n)).toThrow(RangeError)
  expect(() => addressOf('IPv6', 2n ** 128n)).toThrow(RangeError)
  expect(() => addressOf('IPv4', -1n)).toThrow(RangeError)
})
