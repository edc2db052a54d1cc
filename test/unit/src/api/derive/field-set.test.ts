import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  difference,
  exchanged,
  type FieldSet,
  type Fields,
  intersection,
  isMember,
  parseFields,
  pathsOf,
  union,
} from '../../../../../src/api/derive/field-set.ts'

/** Trees of few names, so that they overlap. */
const trees = fc
  .letrec<{ node: FieldSet; leaf: FieldSet }>(tie => ({
    leaf: fc.constant<FieldSet>({}),
    node: fc.dictionary(fc.constantFrom('.', 'f:a', 'f:b', 'k:{"n":1}'), fc.oneof(tie('leaf'), tie('node')), {
      maxKeys: 3,
      depthIdentifier: 'tree',
    }),
  }))
  .node.map(tree => parseFields(tree)?.fields)

const sets = (a: Fields): ReadonlySet<string> => new Set(pathsOf(a))

describe('sets of fields', () => {
  it('join, meet and part like sets of their paths', () => {
    fc.assert(
      fc.property(trees, trees, (a, b) => {
        expect(sets(union(a, b))).toEqual(sets(a).union(sets(b)))
        expect(sets(intersection(a, b))).toEqual(sets(a).intersection(sets(b)))
        expect(sets(difference(a, b))).toEqual(sets(a).difference(sets(b)))
      }),
    )
  })

  it('are exchanged as if one were taken away and another joined', () => {
    fc.assert(
      fc.property(trees, trees, trees, (a, gone, come) => {
        expect(sets(exchanged(a, gone, come))).toEqual(sets(union(difference(a, gone), come)))
      }),
    )
  })

  it('are undefined when they are empty', () => {
    const set: FieldSet = { 'f:a': { '.': {}, 'f:b': {} } }
    expect(difference(set, set)).toBeUndefined()
    expect(difference(set, { 'f:a': { 'f:b': {} } })).toEqual({ 'f:a': {} })
    expect(isMember({ 'f:b': {} })).toBe(false)
  })

  it('are named as kubectl shows them', () => {
    const set: FieldSet = {
      'f:spec': {
        'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { 'f:name': {} } },
        'f:tags': { 'v:"x"': {}, 'v:7': {} },
        'f:type': {},
      },
    }
    expect(pathsOf(set)).toEqual([
      '.spec.type',
      '.spec.ports[port=80,protocol="TCP"].name',
      '.spec.tags[="x"]',
      '.spec.tags[=7]',
    ])
  })

  it('take the keys of items in any order', () => {
    expect(parseFields({ 'k:{ "b": 1, "a": "x" }': { '.': {} } })).toEqual({
      fields: { 'k:{"a":"x","b":1}': {} },
    })
  })

  it.each([
    ['a string', 'x'],
    ['an element of no kind', { spec: {} }],
    ['a leaf that is none', { 'f:a': 1 }],
    ['keys that are no JSON', { 'k:{': {} }],
    ['keys that are no object', { 'k:[]': {} }],
    ['an index that is no number', { 'i:x': {} }],
  ])('are not read from %s', (_what, value) => {
    expect(parseFields(value)).toBeUndefined()
  })
})
