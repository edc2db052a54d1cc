import { describe, expect, it } from 'vitest'
import { Allocator } from '../../../../src/allocate/allocator.ts'
import type { Family } from '../../../../src/ip/address.ts'
import { familyOf } from '../../../../src/ip/address.ts'

const dual: readonly Family[] = ['IPv4', 'IPv6']

describe('Allocator', () => {
  it('gives one address of each wanted family, in the order that was wanted', () => {
    const allocator = new Allocator(['10.7.0.0/16', 'fd07::/112'])
    const { ips, ipFamilies, problem } = allocator.assign('shop.web', ['IPv6', 'IPv4'], [])
    expect(ips.map(familyOf)).toEqual(['IPv6', 'IPv4'])
    expect(ipFamilies).toEqual(['IPv6', 'IPv4'])
    expect(problem).toBeUndefined()
  })

  it('gives the same addresses when asked again, also when a family was not wanted in between', () => {
    const allocator = new Allocator(['10.7.0.0/16', 'fd07::/112'])
    const first = allocator.assign('shop.web', dual, [])
    expect(allocator.assign('shop.web', ['IPv4'], []).addresses).toEqual(first.ips)
    expect(allocator.assign('shop.web', [], [])).toEqual({
      ips: [],
      ipFamilies: [],
      addresses: first.ips,
      problem: undefined,
    })
    expect(allocator.assign('shop.web', dual, []).ips).toEqual(first.ips)
  })

  it('narrows the families to those that it has pools of, and says so when none is left', () => {
    const allocator = new Allocator(['10.7.0.0/16'])
    expect(allocator.assign('shop.web', dual, [])).toMatchObject({ ipFamilies: ['IPv4'], problem: undefined })
    expect(allocator.assign('shop.six', ['IPv6'], [])).toEqual({
      ips: [],
      ipFamilies: ['IPv6'],
      addresses: [],
      problem: {
        reason: 'IPFamilyNotSupported',
        message: 'the ClusterSet has no pool of IPv6 addresses',
      },
    })
  })

  it('says which pool is exhausted, and tells the waiting when something becomes free', () => {
    const allocator = new Allocator(['10.7.0.0/30'])
    const told: string[] = []
    allocator.onFree(owner => told.push(owner))
    allocator.assign('a', ['IPv4'], [])
    allocator.assign('b', ['IPv4'], [])
    expect(allocator.assign('c', ['IPv4'], [])).toMatchObject({
      ips: [],
      problem: { reason: 'Pending', message: "no free IPv4 address in the ClusterSet's pool (10.7.0.0/30)" },
    })
    allocator.release('unknown')
    expect(told).toEqual([])
    allocator.release('a')
    expect(told).toEqual(['c'])
    expect(allocator.assign('c', ['IPv4'], [])).toMatchObject({
      ips: [expect.any(String)],
      problem: undefined,
    })
    allocator.release('b')
    expect(told).toEqual(['c'])
  })

  it('publishes the family that it has while the other is exhausted', () => {
    const allocator = new Allocator(['10.7.0.0/16', 'fd07::/127'])
    allocator.assign('a', dual, [])
    allocator.assign('b', dual, [])
    const { ips, ipFamilies, problem } = allocator.assign('c', dual, [])
    expect(ips.map(familyOf)).toEqual(['IPv4'])
    expect(ipFamilies).toEqual(['IPv4'])
    expect(problem?.message).toContain('IPv6')
  })

  it('leaves an address with the owner that was adopted first', () => {
    const allocator = new Allocator(['10.7.0.0/16'])
    allocator.adopt('old', ['10.7.1.1'])
    allocator.adopt('young', ['10.7.1.1'])
    expect(allocator.assign('old', ['IPv4'], []).ips).toEqual(['10.7.1.1'])
    expect(allocator.assign('young', ['IPv4'], []).ips).not.toEqual(['10.7.1.1'])
  })

  it('leaves an owner an address that no pool holds any more', () => {
    const allocator = new Allocator(['10.8.0.0/16'])
    allocator.adopt('shop.web', ['10.7.1.1'])
    expect(allocator.assign('shop.web', ['IPv4'], []).ips).toEqual(['10.7.1.1'])
    allocator.release('shop.web')
    expect(familyOf(allocator.assign('shop.web', ['IPv4'], []).ips[0] ?? '')).toBe('IPv4')
  })

  it('gives the address that is asked for, and no other', () => {
    const allocator = new Allocator(['10.7.0.0/16', 'fd07::/112'])
    expect(allocator.assign('a', dual, ['fd07::9']).ips).toEqual([
      expect.stringMatching(/^10\.7\./),
      'fd07::9',
    ])
    expect(allocator.assign('b', ['IPv6'], ['fd07::9'])).toMatchObject({
      ips: [],
      problem: { reason: 'Pending', message: 'fd07::9 was asked for, and another service has it' },
    })
    expect(allocator.assign('c', ['IPv4'], ['10.8.0.1']).problem?.message).toBe(
      "10.8.0.1 was asked for, and is not in the ClusterSet's pool of IPv4 addresses (10.7.0.0/16)",
    )
    const told: string[] = []
    allocator.onFree(owner => told.push(owner))
    allocator.release('a')
    expect(told).toEqual(['b', 'c'])
    expect(allocator.assign('b', ['IPv6'], ['fd07::9'])).toMatchObject({
      ips: ['fd07::9'],
      problem: undefined,
    })
  })

  it('never takes from a service what it has, whatever is asked for later', () => {
    const allocator = new Allocator(['10.7.0.0/16'])
    const { ips } = allocator.assign('a', ['IPv4'], [])
    expect(allocator.assign('a', ['IPv4'], ['10.7.0.9'])).toMatchObject({
      ips,
      problem: { message: `10.7.0.9 was asked for, but a service keeps the address that it has: ${ips[0]}` },
    })
  })

  it.each([['10.7.0.1/16'], ['rubbish']])('refuses %s', text => {
    expect(() => new Allocator([text])).toThrow(`"${text}" is not a CIDR`)
  })
})
