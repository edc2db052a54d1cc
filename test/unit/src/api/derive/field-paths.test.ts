import { describe, expect, it } from 'vitest'
import { type Changes, compareFields, takenFields } from '../../../../../src/api/derive/field-changes.ts'
import { everyField } from '../../../../../src/api/derive/field-paths.ts'
import { leaf, pathsOf } from '../../../../../src/api/derive/field-set.ts'
import { shapeOf } from '../../../../../src/api/derive/field-shape.ts'
import { ShelfKind } from '../../../../support/shelf.ts'

const shape = shapeOf(ShelfKind)

const pathsIn = ({ added, modified, removed }: Changes) => ({
  added: pathsOf(added),
  modified: pathsOf(modified),
  removed: pathsOf(removed),
})
const none = { added: [], modified: [], removed: [] }
const change = (before: unknown, after: unknown) =>
  pathsIn(compareFields(shape, { spec: before }, { spec: after }))
const named = (...names: readonly string[]) => names.map(name => ({ name }))

describe('the changes of a list', () => {
  it.each([
    ['the same items', named('a', 'b'), named('a', 'b'), none],
    ['another order of the items', named('a', 'b', 'c'), named('c', 'a', 'b'), none],
    [
      'another item in the place of one',
      named('a'),
      named('b'),
      {
        added: ['.spec.items[name="b"]', '.spec.items[name="b"].name'],
        modified: [],
        removed: ['.spec.items[name="a"]', '.spec.items[name="a"].name'],
      },
    ],
    [
      'a change within an item that has moved',
      [{ name: 'a', size: 1 }, { name: 'b' }],
      [{ name: 'b' }, { name: 'a', size: 2 }],
      { ...none, modified: ['.spec.items[name="a"].size'] },
    ],
    [
      'items with other fields than the one before',
      [],
      [
        { name: 'a', size: 1 },
        { name: 'b', words: [] },
        { size: 1, name: 'c' },
        { name: 'd', labels: { x: 'y' } },
      ],
      {
        ...none,
        added: [
          '.spec.items[name="a"]',
          '.spec.items[name="b"]',
          '.spec.items[name="c"]',
          '.spec.items[name="d"]',
          '.spec.items[name="a"].name',
          '.spec.items[name="a"].size',
          '.spec.items[name="b"].name',
          '.spec.items[name="b"].words',
          '.spec.items[name="c"].name',
          '.spec.items[name="c"].size',
          '.spec.items[name="d"].labels',
          '.spec.items[name="d"].name',
          '.spec.items[name="d"].labels.x',
        ],
      },
    ],
    [
      'an item whose key has its default',
      [{ name: 'none', size: 1 }],
      [{ size: 1 }],
      { ...none, removed: ['.spec.items[name="none"].name'] },
    ],
    [
      'a key that is there twice',
      named('a'),
      [{ name: 'a' }, { name: 'a', size: 1 }],
      {
        ...none,
        added: ['.spec.items[name="a"]', '.spec.items[name="a"].name', '.spec.items[name="a"].size'],
      },
    ],
    ['a key that is there once less', named('a', 'a'), named('a'), none],
    ['null in the place of an empty list', [], null, { ...none, modified: ['.spec.items'] }],
    ['null in the place of null', null, null, none],
    [
      'all items',
      named('a'),
      [],
      { ...none, removed: ['.spec.items[name="a"]', '.spec.items[name="a"].name'] },
    ],
  ])('%s', (_what, before, after, expected) => {
    expect(change({ items: before }, { items: after })).toEqual(expected)
  })

  it.each([
    ['the same values in another order', ['a', 'b'], ['b', 'a'], none],
    [
      'another value',
      ['a', 'b'],
      ['b', 'c'],
      { added: ['.spec.set[="c"]'], modified: [], removed: ['.spec.set[="a"]'] },
    ],
    ['a value twice', ['a'], ['a', 'a'], { ...none, added: ['.spec.set[="a"]'] }],
    ['an empty set', ['a'], [], { ...none, removed: ['.spec.set[="a"]'] }],
  ])('%s', (_what, before, after, expected) => {
    expect(change({ set: before }, { set: after })).toEqual(expected)
  })

  it.each([
    ['equal values', [1, 2], [1, 2], none],
    ['another value', [1, 2], [1, 3], { ...none, modified: ['.spec.whole'] }],
    ['null', [1], null, { ...none, modified: ['.spec.whole'] }],
  ])('that is owned as a whole: %s', (_what, before, after, expected) => {
    expect(change({ whole: before }, { whole: after })).toEqual(expected)
  })

  it('name keys in the order of their names, as JSON has them', () => {
    const { added } = compareFields(
      shape,
      { spec: { pairs: [] } },
      { spec: { pairs: [{ zone: 'a"\n', at: 7 }] } },
    )
    expect(added).toEqual({
      'f:spec': { 'f:pairs': { 'k:{"at":7,"zone":"a\\"\\n"}': { '.': {}, 'f:at': {}, 'f:zone': {} } } },
    })
  })

  it('of very many items are those of the items that changed', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => ({ name: `n${i}`, size: i }))
    const [first, ...rest] = many.toReversed()
    expect(change({ items: many }, { items: [...rest, { ...first, size: -1 }] })).toEqual({
      ...none,
      modified: ['.spec.items[name="n4999"].size'],
    })
    expect(change({ items: many }, { items: rest })).toEqual({
      ...none,
      removed: [
        '.spec.items[name="n4999"]',
        '.spec.items[name="n4999"].name',
        '.spec.items[name="n4999"].size',
      ],
    })
  })

  it('are read no differently than what JSON makes of them', () => {
    const { added, removed } = compareFields(
      shape,
      { spec: { items: named('a') } },
      { spec: { items: named('b') } },
    )
    expect(JSON.stringify([added, removed])).toBe(
      '[{"f:spec":{"f:items":{"k:{\\"name\\":\\"b\\"}":{".":{},"f:name":{}}}}},{"f:spec":{"f:items":{"k:{\\"name\\":\\"a\\"}":{".":{},"f:name":{}}}}}]',
    )
  })
})

describe('every field', () => {
  it('of items with the same fields is the very same set', () => {
    const items = [{ name: 'a', size: 1 }, { name: 'b', size: 2 }, { name: 'c' }, { name: 'd', size: null }]
    const { 'f:spec': spec = leaf } = everyField(shape, { spec: { items } })
    const { 'f:items': set = leaf } = spec
    const fields = { '.': {}, 'f:name': {}, 'f:size': {} }
    expect(set).toEqual({
      '.': {},
      'k:{"name":"a"}': fields,
      'k:{"name":"b"}': fields,
      'k:{"name":"c"}': { '.': {}, 'f:name': {} },
      'k:{"name":"d"}': fields,
    })
    expect(set['k:{"name":"b"}']).toBe(set['k:{"name":"a"}'])
  })

  it('that nobody names is none', () => {
    const items = [{ name: 'a', odd: 1 }, { name: undefined, size: 1 }, 'text', null]
    expect(pathsOf(everyField(shape, { spec: { items } }))).toEqual([
      '.spec',
      '.spec.items',
      '.spec.items[name="a"]',
      '.spec.items[name="none"]',
      '.spec.items[name="a"].name',
    ])
  })
})

describe('what changed and is still there', () => {
  it('is what came and what is other than it was', () => {
    const changes = compareFields(
      shape,
      { spec: { items: [{ name: 'a', size: 1 }, { name: 'b' }] } },
      { spec: { items: [{ name: 'a', size: 2 }, { name: 'c' }] } },
    )
    expect(pathsOf(takenFields(changes))).toEqual([
      '.spec.items[name="c"]',
      '.spec.items[name="a"].size',
      '.spec.items[name="c"].name',
    ])
  })
})
