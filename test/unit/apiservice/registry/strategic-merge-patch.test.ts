import { describe, expect, it } from 'vitest'
import { strategicMergePatch } from '../../../../apiservice/registry/strategic-merge-patch.ts'
import { objectSchema, s } from '../../../../src/api/schema.ts'

const port = s.object({
  port: s.int(),
  name: s.optional(s.string()),
  tags: s.optional(s.patchList(s.setList(s.string()), '')),
})
const schema = objectSchema({
  plain: s.optional(s.map(s.string())),
  union: s.optional(s.object({ a: s.optional(s.int()), b: s.optional(s.int()) })),
  atomic: s.optional(s.atomicList(s.int())),
  words: s.optional(s.patchList(s.setList(s.string()), '')),
  ports: s.optional(s.patchList(s.mapList(port, ['port']), 'port')),
})

const ports = [
  { port: 80, name: 'http' },
  { port: 443, name: 'https' },
  { port: 53, name: 'dns' },
]

describe('strategic merge patch', () => {
  it.each([
    [
      'merges maps key by key',
      { plain: { a: '1', b: '2' } },
      { plain: { b: null, c: '3' } },
      { plain: { a: '1', c: '3' } },
    ],
    ['drops nulls of what was not there', {}, { plain: { a: null, b: '1' } }, { plain: { b: '1' } }],
    ['removes', { plain: { a: '1' }, atomic: [1] }, { plain: null }, { atomic: [1] }],
    [
      'replaces a map',
      { plain: { a: '1' } },
      { plain: { $patch: 'replace', b: '2' } },
      { plain: { b: '2' } },
    ],
    ['empties a map', { plain: { a: '1' } }, { plain: { $patch: 'delete' } }, { plain: {} }],
    [
      'merges a map when told to',
      { plain: { a: '1' } },
      { plain: { $patch: 'merge', b: '2' } },
      { plain: { a: '1', b: '2' } },
    ],
    [
      'keeps only what is retained',
      { union: { a: 1 } },
      { union: { $retainKeys: ['b'], b: 2 } },
      { union: { b: 2 } },
    ],
    ['replaces atomic lists', { atomic: [1, 2] }, { atomic: [3] }, { atomic: [3] }],
    ['adds to sets', { words: ['a', 'b'] }, { words: ['b', 'c'] }, { words: ['a', 'b', 'c'] }],
    [
      'takes out of sets',
      { words: ['a', 'b', 'c'] },
      { '$deleteFromPrimitiveList/words': ['b'] },
      { words: ['a', 'c'] },
    ],
    [
      'takes out of and adds to sets',
      { words: ['a', 'b'] },
      { words: ['c'], '$deleteFromPrimitiveList/words': ['a'], '$setElementOrder/words': ['c', 'b'] },
      { words: ['c', 'b'] },
    ],
    [
      'merges items by their key',
      { ports },
      { ports: [{ port: 443, name: 'tls' }] },
      { ports: [ports[0], { port: 443, name: 'tls' }, ports[2]] },
    ],
    [
      'removes fields of items',
      { ports: [ports[0]] },
      { ports: [{ port: 80, name: null }] },
      { ports: [{ port: 80 }] },
    ],
    [
      'takes items out',
      { ports },
      { ports: [{ $patch: 'delete', port: 443 }] },
      { ports: [ports[0], ports[2]] },
    ],
    [
      'replaces a list of items',
      { ports },
      { ports: [{ port: 1 }, { $patch: 'replace' }] },
      { ports: [{ port: 1 }] },
    ],
    [
      'drops directives of new items',
      {},
      { ports: [{ port: 1, $patch: 'merge', tags: ['x'] }] },
      { ports: [{ port: 1, tags: ['x'] }] },
    ],
    [
      'merges lists within items',
      { ports: [{ port: 1, tags: ['a'] }] },
      { ports: [{ port: 1, tags: ['b'] }] },
      { ports: [{ port: 1, tags: ['b', 'a'] }] },
    ],
    [
      'leaves items that share a key, and means the first',
      {
        ports: [
          { port: 53, name: 'udp' },
          { port: 53, name: 'tcp' },
        ],
      },
      { ports: [{ port: 53, name: 'dns' }] },
      {
        ports: [
          { port: 53, name: 'dns' },
          { port: 53, name: 'tcp' },
        ],
      },
    ],
    ['makes no list by a directive alone', {}, { '$setElementOrder/words': ['a'] }, {}],
    ['sets what it does not know', { x: { y: 1 } }, { x: { z: [2] } }, { x: { y: 1, z: [2] } }],
    ['replaces a scalar by a map', { plain: 'x' }, { plain: { a: '1' } }, { plain: { a: '1' } }],
    ['replaces a list by a scalar', { ports }, { ports: 'x' }, { ports: 'x' }],
  ])('%s', (_what, original, patch, expected) => {
    expect(strategicMergePatch(original, patch, schema)).toEqual(expected)
  })

  const keys = (patch: Readonly<Record<string, unknown>>): string => {
    const { ports: merged } = strategicMergePatch({ ports }, patch, schema)
    return JSON.stringify(merged).match(/\d+/g)?.join(' ') ?? ''
  }

  it.each([
    [
      {
        ports: [{ port: 1 }],
        '$setElementOrder/ports': [{ port: 80 }, { port: 443 }, { port: 53 }, { port: 1 }],
      },
      '80 443 53 1',
    ],
    [{ ports: [{ port: 1 }], '$setElementOrder/ports': [{ port: 1 }, { port: 53 }] }, '1 80 443 53'],
    [{ '$setElementOrder/ports': [{ port: 53 }, { port: 443 }, { port: 80 }] }, '53 443 80'],
    [{ '$setElementOrder/ports': [{ port: 443 }] }, '80 443 53'],
    [{ ports: [{ port: 53 }, { port: 80 }] }, '443 53 80'],
    [{ ports: [{ port: 1 }] }, '1 80 443 53'],
  ])('orders by %j', (patch, order) => {
    expect(keys(patch)).toBe(order)
  })

  it.each([
    [{ plain: { $patch: 'frobnicate' } }, 'unknown patch type: frobnicate'],
    [{ ports: [{ name: 'http' }] }, 'an item does not contain the declared merge key: port'],
    [{ ports: ['x'] }, 'an item of a list that merges by a key must be an object'],
    [{ words: ['a'], '$setElementOrder/words': 'a' }, '$setElementOrder/words must be a list'],
    [{ union: { $retainKeys: ['b'], a: 1 } }, '$retainKeys does not name a, which the patch sets'],
  ])('refuses %j', (patch, message) => {
    expect(() => strategicMergePatch({ words: ['a'] }, patch, schema)).toThrow(
      expect.objectContaining({ code: 400, message }),
    )
  })

  it('changes neither document', () => {
    const original = { ports: structuredClone(ports), words: ['a'] }
    const patch = { ports: [{ port: 80, name: 'x' }], words: ['b'] }
    const before = structuredClone([original, patch])
    strategicMergePatch(original, patch, schema)
    expect([original, patch]).toEqual(before)
  })
})
