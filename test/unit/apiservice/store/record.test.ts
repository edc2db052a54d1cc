import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bodyOf,
  DamagedRecord,
  decodeRecord,
  encodeRecord,
  isStorableKey,
} from '../../../../apiservice/store/record.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 80 })
const revision = fc.maxSafeNat()
const aRecord = fc.record({
  type: fc.constantFrom<'PUT' | 'DELETE'>('PUT', 'DELETE'),
  at: fc.maxSafeNat(),
  revision,
  before: revision,
  previous: revision,
  key: fc.record({ resource: text, namespace: text, name: text }),
  body: fc.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
})

describe('a record', () => {
  it('comes back as it was written', () => {
    fc.assert(
      fc.property(aRecord, record => {
        const value = encodeRecord(record)
        expect(decodeRecord(record.revision, value)).toEqual(record)
        expect(bodyOf(value)).toEqual(record.body)
      }),
    )
  })

  it('lies on the disk as every release has written it', () => {
    const record = {
      at: 1.5e12,
      revision: 2 ** 33 + 7,
      before: 6,
      previous: 5,
      body: Buffer.from('"name":"web"}'),
    }
    const key = { resource: 'configmaps', namespace: 'shop', name: 'web' }
    const put = encodeRecord({ type: 'PUT', ...record, key })
    const deleted = encodeRecord({ type: 'DELETE', ...record, key: { ...key, name: 'w\u00e9b\u{1f600}' } })
    expect([put, deleted].map(value => value.toString('hex'))).toEqual([
      '0101000a000400034275d3ef7980000042000000003800004018000000000000401400000000000' +
        '08249a64b636f6e6669676d61707373686f70776562226e616d65223a22776562227d',
      '0102000a000400084275d3ef7980000042000000003800004018000000000000401400000000000' +
        '0fd9ad420636f6e6669676d61707373686f7077c3a962f09f9880226e616d65223a22776562227d',
    ])
  })

  it('is not written with a part of its key that is longer than it can say', () => {
    const record = {
      type: 'PUT',
      at: 1,
      revision: 2,
      before: 1,
      previous: 0,
      body: Buffer.from('{}}'),
    } as const
    const key = { resource: 'widgets', namespace: 'shop', name: 'n'.repeat(65_535) }
    expect(decodeRecord(2, encodeRecord({ ...record, key })).key).toEqual(key)
    for (const part of ['resource', 'namespace', 'name'] as const) {
      expect(() => encodeRecord({ ...record, key: { ...key, [part]: 'n'.repeat(65_536) } })).toThrow(
        RangeError,
      )
    }
  })

  it('hands out its body without a copy, and keeps no memory beside its own', () => {
    const value = encodeRecord({
      type: 'PUT',
      at: 1,
      revision: 2,
      before: 1,
      previous: 0,
      key: { resource: 'r', namespace: 'n', name: 'm' },
      body: Buffer.from('body'),
    })
    expect(bodyOf(value).buffer).toBe(value.buffer)
    expect(value.buffer.byteLength).toBe(value.length)
  })

  it('is refused when any byte is changed, missing or added', () => {
    fc.assert(
      fc.property(aRecord, fc.nat(), fc.integer({ min: 1, max: 255 }), (record, place, flip) => {
        const value = encodeRecord(record)
        const changed = Buffer.from(value)
        const at = place % value.length
        changed[at] = (changed[at] ?? 0) ^ flip
        const damaged = [changed, value.subarray(0, at), Buffer.concat([value, Buffer.from([flip])])]
        for (const bytes of damaged) {
          expect(() => decodeRecord(record.revision, bytes)).toThrow(DamagedRecord)
        }
      }),
    )
  })

  it('is refused under the key of another revision', () => {
    fc.assert(
      fc.property(aRecord, record => {
        expect(() => decodeRecord(record.revision + 1, encodeRecord(record))).toThrow(DamagedRecord)
      }),
    )
  })
})

describe('a key', () => {
  it('can be stored when it is Unicode of a bounded length', () => {
    const key = { resource: 'r', namespace: '', name: 'a' }
    expect(isStorableKey(key)).toBe(true)
    expect(isStorableKey({ ...key, name: 'a'.repeat(65_535) })).toBe(true)
    expect(isStorableKey({ ...key, name: 'a'.repeat(65_536) })).toBe(false)
    expect(isStorableKey({ ...key, name: '\u20ac'.repeat(21_845) })).toBe(true)
    expect(isStorableKey({ ...key, name: '\u20ac'.repeat(21_846) })).toBe(false)
    expect(isStorableKey({ ...key, namespace: '\ud800' })).toBe(false)
    expect(isStorableKey({ ...key, resource: '\udc00'.repeat(30_000) })).toBe(false)
  })
})
