import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameOf } from '../../../../dns/zone/names.ts'
import { aHeadless, aSlice } from '../../../support/dns-objects.ts'
import { compiledServices, emptyZone, put } from '../../../support/dns-zone.ts'

/** More services than there are places for names, so that names take each other's place. */
const services = 6000

function headless(service: number, address: string) {
  const key = `prod/s${service}`
  return { imports: [aHeadless(key)], slices: [aSlice(key, 'east', [], [`h ${address}`])] }
}

function records(zone: ReturnType<typeof emptyZone>, name: string): string | undefined {
  const octets = Buffer.from(`${name}\0what was there before`, 'latin1')
  const set = zone.findOctets(octets, name.length)
  return set?.bytes.toString('hex', set.start, set.end)
}

describe('a name found by its octets', () => {
  it('is what it is now, however often it was asked and whatever else has its place', () => {
    const zone = emptyZone()
    for (let i = 0; i < services; i++)
      put(
        zone,
        compiledServices(headless(i, '10.0.0.1')).map(c => c.service),
      )
    const step = fc.record({
      service: fc.nat(services + 100),
      host: fc.boolean(),
      change: fc.option(fc.ipV4(), { freq: 20 }),
    })
    fc.assert(
      fc.property(fc.array(step, { minLength: 500, maxLength: 2000 }), steps => {
        for (const { service, host, change } of steps) {
          const name = nameOf(...(host ? ['h', 'east'] : []), `s${service}`, 'prod', 'svc')
          const found = zone.find(name)
          expect(records(zone, name)).toBe(found?.bytes.toString('hex', found.start, found.end))
          if (change !== null)
            put(
              zone,
              compiledServices(headless(service, change)).map(c => c.service),
            )
        }
      }),
      { numRuns: 10 },
    )
  })

  it('may be longer than those that are remembered, or have no labels', () => {
    const zone = emptyZone()
    const long = 'l'.repeat(63)
    const objects = {
      imports: [aHeadless(`prod/${long}`)],
      slices: [aSlice(`prod/${long}`, 'east', [], ['h 10.0.0.7'])],
    }
    put(
      zone,
      compiledServices(objects).map(c => c.service),
    )
    for (const name of [nameOf('h', 'east', long, 'prod', 'svc'), '']) {
      for (let asked = 0; asked < 2; asked++) {
        const found = zone.find(name)
        expect(records(zone, name)).toBe(found?.bytes.toString('hex', found.start, found.end))
        expect(found).toBeDefined()
      }
    }
  })
})
