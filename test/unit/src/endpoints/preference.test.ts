import { describe, expect, it } from 'vitest'
import type { EndpointSlice } from '../../../../src/api/kinds/endpoint-slice.ts'
import { wellKnown } from '../../../../src/api/well-known.ts'
import { distanceOf, isStandby, preferenceOf, standbySlice } from '../../../../src/endpoints/preference.ts'
import { slice } from '../../../support/shop.ts'

const annotated = (text: string) => ({ metadata: { annotations: { [wellKnown.prefer]: text } } })

describe('a preference', () => {
  it.each([
    ['cluster', [0, undefined, undefined]],
    ['cluster, any', [0, 1, 1]],
    ['cluster,region=eu,any', [0, 1, 2]],
    ['region=eu', [0, 0, undefined]],
    ['region=us,region=eu', [1, 1, 0]],
    ['any', [0, 0, 0]],
  ])('%s has its own cluster, another of its region and a far one at %j', (text, expected) => {
    const { problem, rings = [] } = preferenceOf(annotated(text), undefined)
    expect(problem).toBeUndefined()
    const places = [
      { isOwn: true, region: 'eu' },
      { isOwn: false, region: 'eu' },
      { isOwn: false, region: 'us' },
    ]
    expect(places.map(place => distanceOf(rings, place))).toEqual(expected)
  })

  it('never takes endpoints of the own cluster for too far', () => {
    const { rings = [] } = preferenceOf(annotated('region=eu'), undefined)
    expect(distanceOf(rings, { isOwn: true, region: undefined })).toBe(0)
    expect(distanceOf(rings, { isOwn: false, region: undefined })).toBeUndefined()
  })

  it('of the import counts before that of the namespace', () => {
    expect(preferenceOf(annotated('any'), annotated('cluster')).rings).toEqual([{ type: 'any' }])
    expect(preferenceOf(undefined, annotated('cluster')).rings).toEqual([{ type: 'cluster' }])
    expect(preferenceOf(undefined, undefined)).toEqual({ rings: undefined, problem: undefined })
  })

  it.each([
    ['near', undefined],
    ['', undefined],
    ['cluster, near', [{ type: 'cluster' }]],
    ['region=, any', [{ type: 'any' }]],
    [Array(11).fill('any').join(), Array(10).fill({ type: 'any' })],
  ])('that cannot be read is told, and never lets more in: %s', (text, rings) => {
    const found = preferenceOf(annotated(text), undefined)
    expect(found.rings).toEqual(rings)
    expect(found.problem).toMatch(/^metadata\.annotations\[isthmus\.dev\/prefer\]: must be/)
    expect(preferenceOf(undefined, annotated(text)).problem).toMatch(/^of the Namespace, metadata/)
  })
})

describe('a slice stands by', () => {
  const near = slice('web-near', ['10.1.0.1'])
  const far = { slice: slice('web-far', ['10.2.0.1']), distance: 2 }
  const beside = (over: Partial<EndpointSlice>, distance = 1) =>
    isStandby(far, [far, { slice: { ...near, ...over }, distance }])

  it('while something nearer serves the same', () => {
    expect(beside({})).toBe(true)
    expect(beside({}, 2)).toBe(false)
    expect(beside({ endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: false } }] })).toBe(false)
    expect(beside({ endpoints: [] })).toBe(false)
    expect(beside({ addressType: 'IPv6' })).toBe(false)
    expect(beside({ ports: [{ name: 'other', protocol: 'TCP', port: 1 }] })).toBe(false)
  })

  it('as not ready, and as serving where it was ready', () => {
    const terminating = { ready: false, serving: true, terminating: true }
    const ready = { addresses: ['10.2.0.1'], conditions: {} }
    const going = { addresses: ['10.2.0.2'], conditions: terminating }
    const drained = { addresses: ['10.2.0.3'], conditions: { ready: false, serving: true } }
    const { endpoints, metadata } = standbySlice({ ...far.slice, endpoints: [ready, going, drained] })
    expect(metadata.labels).toMatchObject({ [wellKnown.standby]: 'true' })
    expect(endpoints.map(({ conditions }) => conditions)).toEqual([
      { ready: false, serving: true },
      terminating,
      { ready: false, serving: false },
    ])
  })
})
