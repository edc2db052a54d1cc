import { expect, it } from 'vitest'
import { parseAddress } from '../../../../src/ip/address.ts'
import { type Cidr, contains, joined, overlaps, parseCidr, sizeOf } from '../../../../src/ip/cidr.ts'

function cidr(text: string): Cidr {
  const parsed = parseCidr(text)
  if (parsed === undefined) throw new Error(`${text} is no CIDR`)
  return parsed
}

it('a CIDR is written canonically', () => {
  expect(cidr('10.96.0.0/12')).toEqual({
    family: 'IPv4',
    text: '10.96.0.0/12',
    prefix: 12,
    first: 0x0a600000n,
    last: 0x0a6fffffn,
  })
  expect(cidr('FD00:0::/112').text).toBe('fd00::/112')
})

it.each([
  '10.0.0.0',
  '10.0.0.0/',
  '10.0.0.0/33',
  '10.0.0.0/08',
  '10.0.0.0/+8',
  '10.0.0.0/8/8',
  '10.0.0.1/8',
  'fd00::1/64',
  'fd00::/129',
  '010.0.0.0/8',
  '/8',
  '::ffff:1.2.3.4/128',
])('a CIDR: %j is none', text => {
  expect(parseCidr(text)).toBeUndefined()
})

it('a CIDR counts its addresses', () => {
  expect(['10.0.0.0/24', '10.0.0.1/32', '0.0.0.0/0', 'fd00::/64'].map(text => sizeOf(cidr(text)))).toEqual([
    256n,
    1n,
    2n ** 32n,
    2n ** 64n,
  ])
})

it.each([
  ['10.0.0.0/24', '10.0.0.0', true],
  ['10.0.0.0/24', '10.0.0.255', true],
  ['10.0.0.0/24', '10.0.1.0', false],
  ['0.0.0.0/0', '::1', false],
  ['::/0', '1.2.3.4', false],
  ['fd00::/64', 'fd00::ffff:ffff:ffff:ffff', true],
  ['fd00::/64', 'fd00:0:0:1::', false],
])('a CIDR: %s and %s: %s', (block, text, inside) => {
  const address = parseAddress(text)
  expect(address !== undefined && contains(cidr(block), address)).toBe(inside)
})

it.each([
  ['10.0.0.0/8', '10.96.0.0/12', true],
  ['10.96.0.0/12', '10.0.0.0/8', true],
  ['10.0.0.0/24', '10.0.1.0/24', false],
  ['0.0.0.0/0', '::/0', false],
])('a CIDR: %s and %s overlap: %s', (one, other, expected) => {
  expect(overlaps(cidr(one), cidr(other))).toBe(expected)
})

it.each([
  ['10.0.1.0/24 10.0.0.0/24', '10.0.0.0/23'],
  ['10.0.1.0/24 10.0.2.0/24', '10.0.1.0/24 10.0.2.0/24'],
  ['10.0.0.0/24 10.0.1.0/24 10.0.2.0/23', '10.0.0.0/22'],
  ['10.0.0.0/16 10.0.7.0/24 10.0.0.0/24', '10.0.0.0/16'],
  ['fd00::/65 10.0.0.0/25 fd00:0:0:0:8000::/65 10.0.0.128/25', '10.0.0.0/24 fd00::/64'],
  ['x 10.0.0.1/8', ''],
])('CIDRs: %s are joined to %s', (texts, expected) => {
  expect(joined(texts.split(' ')).join(' ')).toBe(expected)
})
