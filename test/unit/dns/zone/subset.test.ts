import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SliceFacts } from '../../../../dns/contract.ts'
import { chooseEndpoints } from '../../../../dns/zone/subset.ts'
import { aHeadless, aSlice } from '../../../support/dns-objects.ts'
import { askerOf, loadedZone, settings } from '../../../support/dns-zone.ts'

const count = 300
const hosts = (family: 'v4' | 'v6') =>
  Array.from({ length: count }, (_, i) =>
    family === 'v4' ? `h-${i} 10.1.${i >> 8}.${i & 255}` : `h-${i} fd00::${(i + 1).toString(16)}`,
  )
const dual = {
  imports: [aHeadless('prod/db')],
  slices: [
    aSlice('prod/db', 'east', ['pg/TCP/5432'], hosts('v4')),
    aSlice('prod/db', 'east', ['pg/TCP/5432'], hosts('v6')),
    aSlice('prod/db', 'west', ['pg/TCP/5432'], ['w-0 10.2.0.1', 'w-1 10.2.0.2']),
  ],
}

describe('a headless service with more endpoints than an answer is to have', () => {
  const asker = askerOf(loadedZone(dual, { ...settings, maxEndpoints: 20 }))
  const ask = (name: string, type: string) =>
    asker.ask(`${name}.prod.svc.clusterset.local`, type, { transport: 'tcp' })
  const last = (record: string): string => record.split(' ').at(-1) ?? ''

  it('answers A and AAAA with the same endpoints, of every cluster', () => {
    const v4 = ask('db', 'A').answer.map(last)
    expect(v4).toHaveLength(20)
    expect(v4.filter(address => address.startsWith('10.2.'))).toHaveLength(2)
    const ofIpv4 = v4
      .filter(address => address.startsWith('10.1.'))
      .map(address => {
        const [, , high = 0, low = 0] = address.split('.').map(Number)
        return high * 256 + low
      })
    const ofIpv6 = ask('db', 'AAAA').answer.map(record => Number.parseInt(last(record).slice(6), 16) - 1)
    expect(new Set(ofIpv6)).toEqual(new Set(ofIpv4))
    const targets = ask('db', 'SRV').answer.map(last)
    expect(new Set(targets.filter(target => target.includes('.east.')))).toEqual(
      new Set(ofIpv4.map(i => `h-${i}.east.db.prod.svc.clusterset.local.`)),
    )
  })

  it('still has the names of all of them', () => {
    for (let i = 0; i < count; i++) expect(ask(`h-${i}.east.db`, 'A').answer).toHaveLength(1)
  })
})

describe('the longest name of a service', () => {
  const key = `${'n'.repeat(63)}/${'s'.repeat(63)}`
  const ofFamily = (family: 'v4' | 'v6') => ({
    imports: [aHeadless(key)],
    slices: [
      aSlice(
        key,
        'east',
        [],
        hosts(family).map(host => host.replace(/^\S+/, '-')),
      ),
    ],
  })
  it.each([
    ['A', 'v4', 20],
    ['AAAA', 'v6', 11],
  ] as const)('has room for %s of %s of so many endpoints in 512 octets: %i', (type, family, most) => {
    const asked = (maxEndpoints: number) => {
      const asker = askerOf(loadedZone(ofFamily(family), { ...settings, maxEndpoints }))
      const [namespace, name] = key.split('/')
      return asker.ask(`${name}.${namespace}.svc.clusterset.local`, type, { edns: { size: 512 } })
    }
    const { flags, answer } = asked(most)
    expect({ flags, answers: answer.length }).toEqual({ flags: 'qr aa rd', answers: most })
    expect(asked(most + 1).flags).toBe('qr aa tc rd')
  })
})

describe('the subset', () => {
  const endpoint = (id: number) => ({ addresses: [`10.0.${id >> 8}.${id & 255}`], hostname: '' })
  const slice = (cluster: string, ids: readonly number[]): SliceFacts => ({
    cluster,
    ports: [],
    endpoints: ids.map(endpoint),
  })
  const chosenOf = (slices: readonly SliceFacts[], most: number): ReadonlySet<string> => {
    const chosen = chooseEndpoints(slices, most)
    return new Set(
      slices.flatMap(one =>
        one.endpoints.flatMap(e => (chosen(one, e) ? [`${one.cluster} ${e.addresses[0]}`] : [])),
      ),
    )
  }
  const idLists = fc.uniqueArray(fc.nat(2000), { minLength: 1, maxLength: 80 })

  it('does not depend on the order of slices and endpoints, and changes by one with one endpoint', () => {
    fc.assert(
      fc.property(idLists, idLists, fc.integer({ min: 1, max: 60 }), (east, west, most) => {
        const slices = [slice('east', east), slice('west', west)]
        const chosen = chosenOf(slices, most)
        expect(chosen.size).toBe(Math.min(most, east.length + west.length))
        const shuffled = [slice('west', west.toReversed()), slice('east', east.toReversed())]
        expect(chosenOf(shuffled, most)).toEqual(chosen)
        const fewer = chosenOf([slice('east', east.slice(1)), slice('west', west)], most)
        const [gone] = east
        const kept = [...chosen].filter(key => key !== `east ${endpoint(gone ?? 0).addresses[0]}`)
        expect(kept.filter(key => !fewer.has(key)).length).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('is everything when there is room', () => {
    expect(chosenOf([slice('east', [1, 2, 3])], 3).size).toBe(3)
    expect(chosenOf([slice('east', [1, 2, 3])], 2).size).toBe(2)
  })
})
