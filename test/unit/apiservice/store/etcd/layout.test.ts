import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeValue, EtcdLayout, encodeValue } from '../../../../../apiservice/store/etcd/layout.ts'

const layout = new EtcdLayout('/isthmus/hub')
const aPart = fc.oneof(
  fc.string({ unit: 'binary' }).filter(text => text.isWellFormed()),
  fc.constantFrom('', '/', '%', '%2F', 'a/b', '%25'),
)

describe('the keys of a store in etcd', () => {
  it('name every object, each another one', () => {
    const aKey = fc.record({ resource: aPart, namespace: aPart, name: aPart })
    fc.assert(
      fc.property(aKey, key => {
        expect(layout.objectAt(layout.keyOf(key))).toEqual(key)
      }),
    )
  })

  it('can be read by people', () => {
    const key = { resource: 'serviceexports.multicluster.x-k8s.io', namespace: 'shop', name: 'web' }
    expect(layout.keyOf(key).toString()).toBe(
      '/isthmus/hub/objects/serviceexports.multicluster.x-k8s.io/shop/web',
    )
  })

  it.each([
    '/isthmus/hub/floor',
    '/isthmus/hub/objects/a/b',
    '/isthmus/hub/objects/a/b/c/d',
    '/isthmus/hub2/objects/a/b/c',
  ])('%s is none of an object', key => expect(layout.objectAt(Buffer.from(key))).toBeUndefined())

  it('lie in ranges that hold all of a store and nothing of another', () => {
    const { key, end } = layout.all
    const isIn = (text: string): boolean =>
      Buffer.compare(Buffer.from(text), key) >= 0 && Buffer.compare(Buffer.from(text), end ?? key) < 0
    for (const own of ['/isthmus/hub/floor', '/isthmus/hub/objects/a//b', '/isthmus/hub/\u{10ffff}']) {
      expect([own, isIn(own)]).toEqual([own, true])
    }
    for (const other of ['/isthmus/hub', '/isthmus/hub2/floor', '/isthmus/hub-east/floor', '/isthmus/hub0']) {
      expect([other, isIn(other)]).toEqual([other, false])
    }
  })
})

describe('a value in etcd', () => {
  it('carries its body and its time, and leaves the memory of the answer alone', () => {
    const body = Buffer.from('"name":"web"}}')
    const value = encodeValue({ at: 1_767_323_045_000.5, body })
    const read = decodeValue(value)
    value.fill(0)
    expect(read).toEqual({ at: 1_767_323_045_000.5, body })
  })

  it.each([Buffer.alloc(0), Buffer.from('{}'), Buffer.from('{"kind":"Pod"}'), Buffer.alloc(20, 2)])(
    'that nobody of ours has written is none (%s)',
    value => expect(decodeValue(value)).toBeUndefined(),
  )
})
