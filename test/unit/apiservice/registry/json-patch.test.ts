import { describe, expect, it } from 'vitest'
import {
  applyJsonPatch,
  jsonPatch,
  maxCopiedBytes,
  maxOperations,
  unshared,
} from '../../../../apiservice/registry/json-patch.ts'

const apply = (document: unknown, operations: unknown): unknown =>
  applyJsonPatch(structuredClone(document), jsonPatch(operations))

describe('JSON patch', () => {
  it.each([
    ['adds a member', { a: 1 }, [{ op: 'add', path: '/b', value: 2 }], { a: 1, b: 2 }],
    ['replaces a member that is there', { a: 1 }, [{ op: 'add', path: '/a', value: null }], { a: null }],
    ['adds into a list', { a: [1, 3] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2, 3] }],
    ['adds behind the last', { a: [1] }, [{ op: 'add', path: '/a/1', value: 2 }], { a: [1, 2] }],
    ['appends', { a: [1] }, [{ op: 'add', path: '/a/-', value: 2 }], { a: [1, 2] }],
    ['removes a member', { a: 1, b: 2 }, [{ op: 'remove', path: '/a' }], { b: 2 }],
    ['removes a null', { a: null }, [{ op: 'remove', path: '/a' }], {}],
    ['removes from a list', { a: [1, 2, 3] }, [{ op: 'remove', path: '/a/1' }], { a: [1, 3] }],
    ['replaces', { a: { b: 1 } }, [{ op: 'replace', path: '/a/b', value: [2] }], { a: { b: [2] } }],
    ['replaces in a list', { a: [1, 2] }, [{ op: 'replace', path: '/a/0', value: 9 }], { a: [9, 2] }],
    ['replaces the whole', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
    ['moves', { a: { b: 1 }, c: {} }, [{ op: 'move', from: '/a/b', path: '/c/d' }], { a: {}, c: { d: 1 } }],
    ['moves in a list', { a: [1, 2, 3] }, [{ op: 'move', from: '/a/0', path: '/a/2' }], { a: [2, 3, 1] }],
    ['copies', { a: [1], b: {} }, [{ op: 'copy', from: '/a', path: '/b/c' }], { a: [1], b: { c: [1] } }],
    [
      'tests deeply',
      { a: { b: [1, { c: null }] } },
      [{ op: 'test', path: '/a', value: { b: [1, { c: null }] } }],
      { a: { b: [1, { c: null }] } },
    ],
    ['tests that nothing is there', { a: 1 }, [{ op: 'test', path: '/b', value: null }], { a: 1 }],
    ['reads ~1 as a slash', { 'a/b': 1 }, [{ op: 'replace', path: '/a~1b', value: 2 }], { 'a/b': 2 }],
    ['reads ~0 as a tilde, once', { '~1': 1 }, [{ op: 'replace', path: '/~01', value: 2 }], { '~1': 2 }],
    ['finds the empty key', { '': { '': 1 } }, [{ op: 'remove', path: '//' }], { '': {} }],
    ['does nothing', { a: 1 }, [], { a: 1 }],
    ['does nothing for null', { a: 1 }, null, { a: 1 }],
    [
      'replaces a member that is not there',
      { a: 1 },
      [{ op: 'replace', path: '/b', value: 2 }],
      { a: 1, b: 2 },
    ],
    ['counts from the end', { a: [1, 2, 3] }, [{ op: 'remove', path: '/a/-2' }], { a: [1, 3] }],
    ['counts from the end', { a: [1, 2] }, [{ op: 'replace', path: '/a/-1', value: 9 }], { a: [1, 9] }],
    ['adds behind the last', { a: [1, 2] }, [{ op: 'add', path: '/a/-1', value: 3 }], { a: [1, 2, 3] }],
    ['adds before the first', { a: [1, 2] }, [{ op: 'add', path: '/a/-3', value: 0 }], { a: [0, 1, 2] }],
    [
      'finds a place from the end',
      { a: [{}, {}] },
      [{ op: 'add', path: '/a/-1/b', value: 1 }],
      { a: [{}, { b: 1 }] },
    ],
    ['reads indices as Go', { a: [1, 2] }, [{ op: 'remove', path: '/a/+01' }], { a: [1] }],
    ['adds null for no value', { a: 1 }, [{ op: 'add', path: '/a' }], { a: null }],
    ['tests that null is there', { a: null }, [{ op: 'test', path: '/a' }], { a: null }],
    [
      'does not read what is before the first slash',
      { a: 1, b: 2 },
      [{ op: 'remove', path: 'x/a' }],
      { b: 2 },
    ],
    [
      'copies what is not there as null',
      { a: 1 },
      [{ op: 'copy', from: '/b', path: '/c' }],
      { a: 1, c: null },
    ],
    ['keeps an escape that is none', { '~2': 1 }, [{ op: 'remove', path: '/~2' }], {}],
    [
      'moves into what takes its place',
      { a: [{ b: 1 }, { c: 2 }] },
      [{ op: 'move', from: '/a/0', path: '/a/0/x' }],
      { a: [{ c: 2, x: { b: 1 } }] },
    ],
  ])('%s', (_what, document, operations, expected) => {
    expect(apply(document, operations)).toEqual(expected)
  })

  it.each([
    ['a missing member', { a: 1 }, { op: 'remove', path: '/b' }],
    ['a missing parent', { a: 1 }, { op: 'add', path: '/b/c', value: 1 }],
    ['a parent that holds nothing', { a: 1 }, { op: 'add', path: '/a/b', value: 1 }],
    ['a place behind the end', { a: [1] }, { op: 'add', path: '/a/2', value: 1 }],
    ['an index that is none', { a: [1] }, { op: 'replace', path: '/a/-', value: 1 }],
    ['an index that is none', { a: [1] }, { op: 'add', path: '/a/x', value: 1 }],
    ['what every object inherits', { a: 1 }, { op: 'remove', path: '/toString' }],
    ['what every list inherits', { a: [1] }, { op: 'replace', path: '/a/length', value: 0 }],
    ['another value', { a: 1 }, { op: 'test', path: '/a', value: '1' }],
    ['a value that is not there', { a: 1 }, { op: 'test', path: '/b', value: 1 }],
    ['a move into itself', { a: { b: 1 } }, { op: 'move', from: '/a', path: '/a/b' }],
    ['a missing source', { a: 1 }, { op: 'move', from: '/b', path: '/c' }],
    ['the removal of everything', { a: 1 }, { op: 'remove', path: '' }],
    ['an addition to nothing', { a: 1 }, { op: 'add', path: '', value: {} }],
    ['text in place of everything', { a: 1 }, { op: 'replace', path: '', value: '' }],
    ['nothing in place of everything', { a: 1 }, { op: 'replace', path: '' }],
    ['a place before the first', { a: [1] }, { op: 'add', path: '/a/-3', value: 1 }],
    ['a place before the first', { a: [1] }, { op: 'remove', path: '/a/-2' }],
    ['nothing for an operation', { a: 1 }, null],
    ['an operation that is none', { a: 1 }, { op: 'frobnicate', path: '/a' }],
    ['no path', { a: 1 }, { op: 'remove' }],
    ['no from', { a: 1 }, { op: 'move', path: '/a' }],
    ['a path without a slash', { a: 1 }, { op: 'remove', path: 'a' }],
  ])('refuses %s', (_what, document, operation) => {
    expect(() => apply(document, [operation])).toThrow(
      expect.objectContaining({
        code: 422,
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
      }),
    )
  })

  it.each([[{ op: 'add' }], [['add']], ['x']])('is a list of objects, not %j', document => {
    expect(() => jsonPatch(document)).toThrow(expect.objectContaining({ code: 400 }))
  })

  it('keeps keys that programs trip over', () => {
    const document: unknown = JSON.parse('{"data":{"__proto__":"1","constructor":"2"}}')
    const operations: unknown = JSON.parse(
      '[{"op":"test","path":"/data/constructor","value":"2"},{"op":"replace","path":"/data/__proto__","value":"3"},{"op":"add","path":"/more","value":{"__proto__":"4"}},{"op":"add","path":"/data/prototype","value":"5"}]',
    )
    expect(JSON.stringify(apply(document, operations))).toBe(
      '{"data":{"__proto__":"3","constructor":"2","prototype":"5"},"more":{"__proto__":"4"}}',
    )
    expect({}).not.toHaveProperty('more')
  })

  it('changes one place, also of a document that has one record in several', () => {
    const shared = { a: 1, b: 2 }
    const document = { x: shared, y: [shared], __proto__: null }
    const patched = applyJsonPatch(unshared(document), jsonPatch([{ op: 'remove', path: '/x/a' }]))
    expect(patched).toEqual({ x: { b: 2 }, y: [{ a: 1, b: 2 }] })
    expect(document.x).toEqual({ a: 1, b: 2 })
  })

  it('is carried out on one document after another with the same result', () => {
    const operations = jsonPatch([
      { op: 'add', path: '/a', value: { b: 1 } },
      { op: 'replace', path: '/a/b', value: 2 },
    ])
    expect(applyJsonPatch({}, operations)).toEqual({ a: { b: 2 } })
    expect(applyJsonPatch({}, operations)).toEqual({ a: { b: 2 } })
  })

  it('has at most so many operations', () => {
    const operation = { op: 'test', path: '/a', value: 1 }
    expect(jsonPatch(Array(maxOperations).fill(operation))).toHaveLength(maxOperations)
    expect(() => jsonPatch(Array(maxOperations + 1).fill(operation))).toThrow(
      expect.objectContaining({ code: 413, message: expect.stringContaining('10000, got 10001') }),
    )
  })

  it('does not let copies grow the document beyond its bound', () => {
    const text = 'x'.repeat(maxCopiedBytes / 4)
    const copies = [1, 2, 3].map(i => ({ op: 'copy', from: '/a', path: `/b${i}` }))
    expect(apply({ a: text }, copies)).toHaveProperty('b3', text)
    const doubling = Array.from({ length: 30 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/${i}` }))
    expect(() => apply({ a: { x: text.slice(0, 1000) } }, doubling)).toThrow(
      expect.objectContaining({ code: 413 }),
    )
  })

  it('tests long lists in one pass', () => {
    const long = Array.from({ length: 50_000 }, (_, i) => i)
    const other = [...long.slice(1), 0]
    expect(() => apply({ a: long }, [{ op: 'test', path: '/a', value: other }])).toThrow(
      expect.objectContaining({ code: 422 }),
    )
  })
})
