import { describe, expect, it } from 'vitest'
import { compileFixed } from '../../../../dns/zone/fixed.ts'
import { reverseZone } from '../../../../dns/zone/reverse.ts'
import { Zones } from '../../../../dns/zone/zones.ts'
import { parseCidr } from '../../../../src/ip/cidr.ts'
import { question, wire } from '../../../support/dns-message.ts'
import { aClusterSetIp, aHeadless, aSlice } from '../../../support/dns-objects.ts'
import { askerOf, compiledServices, loadedZones, settings } from '../../../support/dns-zone.ts'

const objects = {
  imports: [
    aClusterSetIp('shop/web', ['10.112.0.10', 'fd00:10:112::a'], ['http/TCP/80']),
    aClusterSetIp('shop/elsewhere', ['10.113.0.10', 'nonsense'], []),
    aHeadless('shop/db'),
  ],
  slices: [aSlice('shop/db', 'east', [], ['db-0 10.112.0.99'])],
}
const reverseZones = ['112.10.in-addr.arpa', '2.1.1.0.0.1.0.0.0.0.d.f.ip6.arpa']
const asker = askerOf(loadedZones(objects, { ...settings, reverseZones }))
const last = 'a.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0'

describe('reverse zones that were configured', () => {
  it.each([
    ['10.0.112.10.in-addr.arpa', 'PTR', 'NOERROR', ['web.shop.svc.clusterset.local.']],
    [`${last}.2.1.1.0.0.1.0.0.0.0.d.f.ip6.arpa`, 'PTR', 'NOERROR', ['web.shop.svc.clusterset.local.']],
    ['10.0.112.10.in-addr.arpa', 'A', 'NODATA', []],
    ['0.112.10.in-addr.arpa', 'PTR', 'NODATA', []],
    ['11.0.112.10.in-addr.arpa', 'PTR', 'NXDOMAIN', []],
    // Endpoints have none.
    ['99.0.112.10.in-addr.arpa', 'PTR', 'NXDOMAIN', []],
    ['112.10.in-addr.arpa', 'NS', 'NOERROR', ['ns.dns.112.10.in-addr.arpa.']],
    ['ns.dns.112.10.in-addr.arpa', 'A', 'NOERROR', ['10.96.0.53']],
    ['dns-version.112.10.in-addr.arpa', 'TXT', 'NXDOMAIN', []],
    ['10.0.113.10.in-addr.arpa', 'PTR', 'REFUSED', []],
    ['web.shop.svc.112.10.in-addr.arpa', 'A', 'NXDOMAIN', []],
  ])('answer %s %s with %s %j', (name, type, status, datas) => {
    const reply = asker.ask(name, type)
    expect(reply.status).toBe(status)
    expect(reply.answer.map(record => record.split(' ').at(-1))).toEqual(datas)
  })

  it('have an SOA of their own under negative answers', () => {
    expect(asker.ask('11.0.112.10.in-addr.arpa', 'PTR').authority[0]).toMatch(
      /^112\.10\.in-addr\.arpa\. 5 SOA ns\.dns\.112\.10\.in-addr\.arpa\. /,
    )
  })

  it('do not compress the name in their data', () => {
    const reply = asker.raw(question('10.0.112.10.in-addr.arpa', 'PTR'))
    expect(reply?.toString('latin1')).toContain(wire('web.shop.svc.clusterset.local').toString('latin1'))
  })
})

describe('an address that two imports have', () => {
  const of = { ...settings, reverseZones: ['112.10.in-addr.arpa', '10.0.112.10.in-addr.arpa'] }
  const imports = ['shop/web', 'shop/copy'].map(key => aClusterSetIp(key, ['10.112.0.10', '10.112.0.11'], []))
  const opened = () => {
    const zones = new Zones(of)
    zones.apply({ serial: 1, put: compileFixed(of), removed: [] })
    zones.loaded()
    const asked = askerOf(zones.all)
    const put = (...some: typeof imports): void => {
      const compiled = compiledServices({ imports: some, slices: [] }, of)
      const all = compiled.flatMap(({ service, reverse }) => [service, ...reverse])
      zones.apply({ serial: 1, put: all, removed: [] })
    }
    return {
      put,
      remove: (...removed: readonly string[]) => zones.apply({ serial: 1, put: [], removed }),
      pointers: (last: string) => {
        const { status, answer } = asked.ask(`${last}.0.112.10.in-addr.arpa`, 'PTR')
        const targets = answer.map(record =>
          record.split(' ').at(-1)?.replace('.shop.svc.clusterset.local.', ''),
        )
        return [status, ...targets.toSorted()]
      },
      types: () => asked.ask('10.0.112.10.in-addr.arpa', 'NS').answer.length,
    }
  }
  const [web = aHeadless('shop/none'), copy = aHeadless('shop/none')] = imports

  it.each([
    ['the one', [web, copy]],
    ['the other', [copy, web]],
  ])(
    'has both names, whichever comes first, and keeps %s when the other goes',
    (_, [first = web, last = copy]) => {
      for (const octet of ['10', '11']) {
        const zone = opened()
        zone.put(first, last)
        expect(zone.pointers(octet)).toEqual(['NOERROR', 'copy', 'web'])
        // Again, as any change of a service does.
        zone.put(first)
        zone.put(last)
        expect(zone.pointers(octet)).toEqual(['NOERROR', 'copy', 'web'])
        zone.remove(`shop/${last.metadata.name}`)
        expect(zone.pointers(octet)).toEqual(['NOERROR', first.metadata.name])
        zone.put(last)
        zone.put(aClusterSetIp(`shop/${first.metadata.name}`, [], []))
        expect(zone.pointers(octet)).toEqual(['NOERROR', last.metadata.name])
        zone.remove(`shop/${last.metadata.name}`)
        expect(zone.pointers(octet)).toEqual([octet === '10' ? 'NODATA' : 'NXDOMAIN'])
        expect(zone.types()).toBe(1)
      }
    },
  )
})

describe('the zone of a block', () => {
  it.each([
    ['10.0.0.0/8', '10.in-addr.arpa'],
    ['10.112.0.0/16', '112.10.in-addr.arpa'],
    ['10.112.3.0/24', '3.112.10.in-addr.arpa'],
    ['fd00:10:112::/48', '2.1.1.0.0.1.0.0.0.0.d.f.ip6.arpa'],
    ['10.112.0.0/12', undefined],
    ['fd00::/7', undefined],
    ['0.0.0.0/0', undefined],
  ])('%s is %s', (block, zone) => {
    const cidr = parseCidr(block)
    expect(cidr && reverseZone(cidr)).toBe(zone)
  })
})
