import { beforeEach, describe, expect, it } from 'vitest'
import { SliceFailures } from '../../../../src/export/slice-failures.ts'

const ref = (name: string) => ({ namespace: 'shop', name })
const refused = (message: string) => ({ refused: true, message })
const late = { refused: false, message: 'the hub is away' }

describe('slices that the hub refuses', () => {
  /** What is read at once when a change is told. */
  let told: (string | undefined)[]
  let failures: SliceFailures
  beforeEach(() => {
    told = []
    failures = new SliceFailures(service => told.push(`${service}: ${failures.of(service)?.message}`))
  })

  it('are told of once, however often they are refused alike', () => {
    failures.set(ref('web-a'), ref('web'), refused('full'))
    failures.set(ref('web-a'), ref('web'), refused('full'))
    expect(told).toEqual(['shop/web: full'])
  })

  it('go from one reason to another without a moment in which nothing is wrong', () => {
    failures.set(ref('web-a'), ref('web'), refused('full'))
    failures.set(ref('web-a'), ref('web'), refused('invalid'))
    failures.set(ref('web-a'), ref('web'), undefined)
    expect(told).toEqual(['shop/web: full', 'shop/web: invalid', 'shop/web: undefined'])
  })

  it('stay refused while the hub is away, and tell of nothing that is only late', () => {
    failures.set(ref('web-a'), ref('web'), refused('full'))
    failures.set(ref('web-a'), ref('web'), late)
    failures.set(ref('web-b'), ref('web'), late)
    failures.set(ref('web-b'), ref('web'), undefined)
    expect(told).toEqual(['shop/web: full'])
    expect(failures.of('shop/web')).toEqual(refused('full'))
  })

  it('keep their order, so that a service names the same one each time', () => {
    for (const name of ['web-a', 'web-b', 'web-a']) failures.set(ref(name), ref('web'), refused(name))
    expect(failures.of('shop/web')).toEqual(refused('web-a'))
  })

  it('go with their service to another, also when that is late there', () => {
    failures.set(ref('web-a'), ref('web'), refused('full'))
    failures.set(ref('web-a'), ref('api'), refused('full'))
    expect(told).toEqual(['shop/web: full', 'shop/web: undefined', 'shop/api: full'])
    failures.set(ref('web-a'), undefined, late)
    expect(failures.of('shop/api')).toBeUndefined()
  })
})
