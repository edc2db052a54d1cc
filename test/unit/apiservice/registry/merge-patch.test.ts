import { describe, expect, it } from 'vitest'
import { mergePatch } from '../../../../apiservice/registry/merge-patch.ts'

describe('merge patch', () => {
  // RFC 7386, appendix A, as far as the patch is an object.
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [['a', 'b'], { a: 'b' }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('%j with %j is %j', (target, patch, expected) => {
    expect(mergePatch(target, patch)).toEqual(expected)
  })

  it('changes neither document, and keeps the order of keys', () => {
    const target = { z: 1, a: { b: 1 } }
    const patch = { a: { c: 2 } }
    expect(JSON.stringify(mergePatch(target, patch))).toBe('{"z":1,"a":{"b":1,"c":2}}')
    expect([target, patch]).toEqual([{ z: 1, a: { b: 1 } }, { a: { c: 2 } }])
  })

  it('keeps keys that programs trip over', () => {
    const merged = mergePatch(
      JSON.parse('{"__proto__":{"a":1}}'),
      JSON.parse('{"__proto__":{"b":2},"constructor":3}'),
    )
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"a":1,"b":2},"constructor":3}')
    expect({}).not.toHaveProperty('b')
  })
})
