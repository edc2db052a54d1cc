import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Applied, applyConfig } from '../../../../../src/api/derive/apply-config.ts'
import { compareFields } from '../../../../../src/api/derive/field-changes.ts'
import { claimedFields } from '../../../../../src/api/derive/field-paths.ts'
import { emptyOf, shapeOf } from '../../../../../src/api/derive/field-shape.ts'
import type { FieldManager } from '../../../../../src/api/derive/managed-fields.ts'
import { mergeApplied } from '../../../../../src/api/derive/merge-applied.ts'
import { defineKind } from '../../../../../src/api/kind.ts'
import type { KubeObject } from '../../../../../src/api/meta.ts'
import { s } from '../../../../../src/api/schema.ts'

const item = s.object({
  key: s.string({ default: 'k' }),
  value: s.optional(s.int()),
  deep: s.optional(s.map(s.string())),
})

const TreeKind = defineKind({
  group: 'test.example.com',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Tree',
  plural: 'trees',
  scope: 'Namespaced',
  description: 'A kind with every rule of merging.',
  servers: ['standalone'],
  properties: {
    spec: s.optional(
      s.object({
        scalar: s.optional(s.int()),
        struct: s.optional(s.object({ a: s.optional(s.int()), b: s.optional(s.int()) })),
        map: s.optional(s.map(s.string())),
        atomicMap: s.optional(s.atomic(s.map(s.string()))),
        atomicList: s.optional(s.atomicList(s.int())),
        set: s.optional(s.setList(s.string())),
        items: s.optional(s.mapList(item, ['key'])),
        free: s.optional(s.anything()),
      }),
    ),
  },
})

const shape = shapeOf(TreeKind)
const tree = (spec?: unknown): KubeObject => ({
  apiVersion: 'test.example.com/v1',
  kind: 'Tree',
  metadata: { name: 't' },
  ...(spec === undefined ? {} : { spec }),
})
const bare = tree()

type State = { readonly object: KubeObject; readonly managers: readonly FieldManager[] }

function applied(state: State, name: string, spec: unknown, force = true): Applied {
  const writer = {
    name,
    operation: 'Apply',
    apiVersion: 'test.example.com/v1',
    subresource: '',
    time: '2026-01-02T03:04:05Z',
  } as const
  const outcome = applyConfig({
    kind: TreeKind,
    live: state.object,
    managers: state.managers,
    applied: tree(spec),
    writer,
    force,
  })
  if (outcome.type === 'conflict') throw new Error(JSON.stringify(outcome.conflicts))
  return outcome
}

const nothing: State = { object: bare, managers: [] }

describe('a null that is applied', () => {
  it('stands for itself where nothing was', () => {
    const map = { type: 'map', values: { type: 'whole' } } as const
    expect(mergeApplied(map, { b: 'c' }, { a: null })).toEqual({ a: null, b: 'c' })
  })
})

describe('a merge', () => {
  it.each([
    ['replaces scalars', { scalar: 1 }, { scalar: 2 }, { scalar: 2 }],
    ['goes into structs', { struct: { a: 1, b: 1 } }, { struct: { b: 2 } }, { struct: { a: 1, b: 2 } }],
    ['goes into maps', { map: { a: '1' } }, { map: { b: '2' } }, { map: { a: '1', b: '2' } }],
    ['replaces atomic maps', { atomicMap: { a: '1' } }, { atomicMap: { b: '2' } }, { atomicMap: { b: '2' } }],
    ['replaces atomic lists', { atomicList: [1] }, { atomicList: [2] }, { atomicList: [2] }],
    ['unites sets', { set: ['a', 'b'] }, { set: ['b', 'c'] }, { set: ['a', 'b', 'c'] }],
    [
      'merges items by their keys, defaults among them',
      { items: [{ key: 'k', value: 1 }] },
      { items: [{ deep: { x: 'y' } }, { key: 'l' }] },
      { items: [{ key: 'k', value: 1, deep: { x: 'y' } }, { key: 'l' }] },
    ],
    [
      'goes by the value where the schema is open',
      { free: { a: { x: 1 }, l: [1], s: 1 } },
      { free: { a: { y: 2 }, l: [2], s: { t: 1 } } },
      { free: { a: { x: 1, y: 2 }, l: [2], s: { t: 1 } } },
    ],
    ['keeps what null says nothing of', { map: { a: '1' } }, { map: null }, { map: { a: '1' } }],
    [
      'takes keys that objects have by birth',
      { map: {} },
      JSON.parse('{"map":{"__proto__":"x"}}'),
      JSON.parse('{"map":{"__proto__":"x"}}'),
    ],
  ])('%s', (_what, live, config, merged) => {
    expect(mergeApplied(shape, tree(live), tree(config))).toEqual(tree(merged))
  })

  it.each([
    [
      ['a', 'x', 'b', 'y'],
      ['b', 'a', 'c'],
      ['x', 'b', 'y', 'a', 'c'],
    ],
    [
      ['x', 'a'],
      ['a', 'b'],
      ['x', 'a', 'b'],
    ],
    [
      ['a', 'x'],
      ['a', 'b'],
      ['a', 'x', 'b'],
    ],
    [[], ['b', 'a'], ['b', 'a']],
    [['a', 'b'], [], ['a', 'b']],
  ])('of %j and %j keeps the order of what is applied', (live, config, merged) => {
    expect(mergeApplied({ type: 'set' }, live, config)).toEqual(merged)
  })
})

describe('ownership', () => {
  it('of a configuration is in its leaves, the entries of its maps and the items of its lists', () => {
    const spec = {
      scalar: 1,
      struct: {},
      map: { a: '1' },
      atomicMap: { a: '1' },
      atomicList: [1],
      set: ['a'],
      items: [{ key: 'k', deep: { x: 'y' } }],
      free: { a: { b: 1 }, l: [1] },
    }
    expect(claimedFields(shape, tree(spec))).toEqual({
      'f:spec': {
        'f:scalar': {},
        'f:struct': {},
        'f:map': { 'f:a': {} },
        'f:atomicMap': {},
        'f:atomicList': {},
        'f:set': { 'v:"a"': {} },
        'f:items': { 'k:{"key":"k"}': { '.': {}, 'f:key': {}, 'f:deep': { 'f:x': {} } } },
        'f:free': { 'f:a': { '.': {}, 'f:b': {} }, 'f:l': {} },
      },
    })
  })

  it.each([
    ['a leaf', { scalar: 1 }, { scalar: 2 }, { modified: { 'f:scalar': {} } }],
    ['a new map', {}, { map: { a: '1' } }, { added: { 'f:map': { '.': {}, 'f:a': {} } } }],
    ['a new entry', { map: {} }, { map: { a: '1' } }, { added: { 'f:map': { 'f:a': {} } } }],
    ['an entry that is gone', { map: { a: '1' } }, { map: {} }, { removed: { 'f:map': { 'f:a': {} } } }],
    [
      'an item of a set',
      { set: ['a'] },
      { set: ['b'] },
      { added: { 'f:set': { 'v:"b"': {} } }, removed: { 'f:set': { 'v:"a"': {} } } },
    ],
    [
      'a part of an item',
      { items: [{ key: 'k', value: 1 }] },
      { items: [{ value: 2 }] },
      {
        modified: { 'f:items': { 'k:{"key":"k"}': { 'f:value': {} } } },
        removed: { 'f:items': { 'k:{"key":"k"}': { 'f:key': {} } } },
      },
    ],
    ['an empty map in the place of null', { map: null }, { map: {} }, { modified: { 'f:map': {} } }],
    [
      'a value that becomes an object',
      { free: { a: 1 } },
      { free: { a: { b: 1 } } },
      { added: { 'f:free': { 'f:a': { 'f:b': {} } } }, modified: { 'f:free': { 'f:a': {} } } },
    ],
  ])('changes with %s', (_what, before, after, expected) => {
    const within = Object.fromEntries(Object.entries(expected).map(([how, set]) => [how, { 'f:spec': set }]))
    expect(compareFields(shape, tree(before), tree(after))).toEqual({
      added: undefined,
      modified: undefined,
      removed: undefined,
      ...within,
    })
  })

  it('does not begin at metadata', () => {
    expect(compareFields(shape, emptyOf(TreeKind), bare)).toEqual({})
  })
})

const specs = fc.record(
  {
    scalar: fc.nat(3),
    struct: fc.record({ a: fc.nat(2), b: fc.nat(2) }, { requiredKeys: [] }),
    map: fc.dictionary(fc.constantFrom('a', 'b', 'constructor'), fc.constantFrom('1', '2')),
    atomicList: fc.array(fc.nat(2), { maxLength: 2 }),
    set: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
    items: fc.uniqueArray(fc.record({ key: fc.constantFrom('k', 'l', 'm'), value: fc.nat(2) }), {
      selector: found => found.key,
      maxLength: 3,
    }),
  },
  { requiredKeys: [] },
)

describe('the laws of apply', () => {
  it('applying twice is applying once', () => {
    fc.assert(
      fc.property(specs, specs, specs, (other, before, now) => {
        const start = applied(applied(nothing, 'bob', other), 'ann', before)
        const once = applied(start, 'ann', now)
        expect(applied(once, 'ann', now)).toEqual(once)
      }),
    )
  })

  it('what one applies is there, and what it alone applied before and drops is not', () => {
    fc.assert(
      fc.property(specs, specs, (before, now) => {
        const { object } = applied(applied(nothing, 'ann', before), 'ann', now)
        const fresh = applied(nothing, 'ann', now)
        expect(claimedFields(shape, object)).toEqual(claimedFields(shape, fresh.object))
      }),
    )
  })

  it('those who apply different fields may come in any order', () => {
    const words = (letters: readonly string[]) =>
      fc.record({
        map: fc.dictionary(fc.constantFrom(...letters), fc.constantFrom('1', '2'), { minKeys: 1 }),
        items: fc.uniqueArray(fc.record({ key: fc.constantFrom(...letters), value: fc.nat(2) }), {
          selector: found => found.key,
        }),
      })
    fc.assert(
      fc.property(words(['a', 'b']), words(['x', 'y']), (ann, bob) => {
        const first = applied(applied(nothing, 'ann', ann), 'bob', bob, false)
        const second = applied(applied(nothing, 'bob', bob), 'ann', ann, false)
        expect(sorted(first.object)).toEqual(sorted(second.object))
        expect(new Set(first.managers)).toEqual(new Set(second.managers))
      }),
    )
  })
})

/** The object with its items in the order of their keys: where new ones go depends on who came first. */
function sorted(object: KubeObject): unknown {
  // The objects of these tests have such a spec.
  const spec = object.spec as { readonly items?: readonly { readonly key: string }[] }
  return { ...object, spec: { ...spec, items: spec.items?.toSorted((a, b) => a.key.localeCompare(b.key)) } }
}
