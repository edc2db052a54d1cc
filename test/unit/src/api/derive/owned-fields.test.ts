import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareFields } from '../../../../../src/api/derive/field-changes.ts'
import { leaf, pathsOf, withSelf } from '../../../../../src/api/derive/field-set.ts'
import { shapeOf } from '../../../../../src/api/derive/field-shape.ts'
import { afterUpdate, afterWrite, type FieldManager } from '../../../../../src/api/derive/managed-fields.ts'
import { writtenFields } from '../../../../../src/api/derive/owned-fields.ts'
import { ShelfKind } from '../../../../support/shelf.ts'

const shape = shapeOf(ShelfKind)
const apiVersion = 'test.example.com/v1'

const few = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l')
const perhaps = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 })
/** Without what is absent, as JSON has it. */
const record = (fields: Record<string, fc.Arbitrary<unknown>>) =>
  fc
    .record(fields)
    .map(made => Object.fromEntries(Object.entries(made).filter(([, value]) => value !== undefined)))

const labels = fc.dictionary(few, fc.constantFrom('x', 'y'), { maxKeys: 3 })
const items = fc.uniqueArray(
  record({
    name: few,
    size: perhaps(fc.constantFrom(1, 2)),
    words: perhaps(fc.array(few, { maxLength: 2 })),
    labels: perhaps(fc.oneof(labels, fc.constant(null))),
  }),
  { selector: ({ name }) => name, maxLength: 12 },
)
const pairs = fc.uniqueArray(
  record({ zone: fc.constantFrom('n', 's'), at: fc.constantFrom(1, 2), note: perhaps(few) }),
  { selector: ({ zone, at }) => `${zone} ${at}`, maxLength: 3 },
)
const spec = record({
  items: perhaps(fc.oneof(items, fc.constant(null))),
  pairs: perhaps(pairs),
  set: perhaps(fc.uniqueArray(few, { maxLength: 3 })),
  whole: perhaps(fc.array(fc.constantFrom(1, 2), { maxLength: 2 })),
  extra: perhaps(
    fc.oneof(labels, fc.dictionary(few, labels, { maxKeys: 2 }), fc.constantFrom(1, 'x', null, [1])),
  ),
})
const states = record({
  metadata: record({ labels: perhaps(labels) }),
  spec: perhaps(fc.oneof({ arbitrary: spec, weight: 5 }, { arbitrary: fc.constant(null), weight: 1 })),
})
const writes = fc.array(fc.tuple(fc.constantFrom('ann', 'bob', 'cid'), states), { maxLength: 6 })

const writer = (name: string, time: string) =>
  ({ name, operation: 'Update', apiVersion, subresource: '', time }) as const
/** Of others than the writers, and of the writers themselves: also twice, and with the object itself among the fields. */
const seeds = fc.array(
  fc.record({
    name: fc.constantFrom('ann', 'bob', 'dan'),
    operation: fc.constantFrom('Apply', 'Update'),
    subresource: fc.constantFrom('', 'status'),
    state: states,
    isWhole: fc.boolean(),
  }),
  { maxLength: 3 },
)
type Seed = typeof seeds extends fc.Arbitrary<readonly (infer T)[]> ? T : never

function managerOf({ state, isWhole, ...names }: Seed): FieldManager {
  const { fields } = writtenFields(shape, { metadata: {} }, state, undefined)
  return {
    ...names,
    apiVersion,
    time: '2026-01-01T00:00:00Z',
    fields: isWhole ? withSelf(fields) : (fields ?? leaf),
  }
}

const told = (managers: readonly FieldManager[]) =>
  managers.map(({ name, time, fields }) => ({ name, time, fields: new Set(pathsOf(fields)) }))

describe('what managers own after a write', () => {
  it('is what they owned, and what has changed, as if it had been compared before', () => {
    fc.assert(
      fc.property(seeds, writes, (first, made) => {
        let before: unknown = { metadata: {} }
        let managers: readonly FieldManager[] = first.map(managerOf)
        for (const [step, [name, after]] of made.entries()) {
          const by = writer(name, `2026-01-02T03:04:0${step}Z`)
          const expected = afterUpdate(managers, compareFields(shape, before, after), by)
          managers = afterWrite(managers, { shape, before, after }, by)
          expect(told(managers)).toEqual(told(expected))
          before = after
        }
      }),
      { numRuns: 500 },
    )
  })

  it('is the same when an item stands twice, as nobody may write it', () => {
    const twice = {
      metadata: {},
      spec: {
        items: [
          { name: 'a', size: 2 },
          { name: 'a', words: [] },
        ],
      },
    }
    const once = { metadata: {}, spec: { items: [{ name: 'a', size: 1 }] } }
    const [ann, bob] = [writer('ann', 'x'), writer('bob', 'y')]
    for (const [before, after] of [
      [once, twice],
      [twice, once],
      [twice, structuredClone(twice)],
    ]) {
      const managers = afterWrite([], { shape, before: { metadata: {} }, after: before }, ann)
      const expected = afterUpdate(managers, compareFields(shape, before, after), ann)
      expect(told(afterWrite(managers, { shape, before, after }, ann))).toEqual(told(expected))
      const others = afterUpdate(managers, compareFields(shape, before, after), bob)
      expect(told(afterWrite(managers, { shape, before, after }, bob))).toEqual(told(others))
    }
  })

  it('says which fields of the object differ, whoever owns them', () => {
    const before = { metadata: { labels: { a: 'x' } }, spec: { set: ['a'], whole: [1] } }
    const written = (after: object) => {
      const { touched, takes } = writtenFields(shape, before, { ...before, ...after }, undefined)
      return { touched, takes }
    }
    expect(written({ metadata: { labels: { a: 'x' } } })).toEqual({ touched: [], takes: false })
    expect(written({ metadata: {} })).toEqual({ touched: ['f:metadata'], takes: false })
    expect(written({ spec: { set: ['b'], whole: [1] } })).toEqual({ touched: ['f:spec'], takes: true })
    expect(written({ metadata: {}, spec: { set: ['a'], whole: [] } })).toEqual({
      touched: ['f:metadata', 'f:spec'],
      takes: true,
    })
  })

  it('is the very set where nothing of it changes', () => {
    const state = { metadata: { labels: { a: 'x' } }, spec: { items: [{ name: 'a', size: 1 }] } }
    const { fields } = writtenFields(shape, { metadata: {} }, state, undefined)
    expect(writtenFields(shape, state, structuredClone(state), fields).fields).toBe(fields)
    const other = { ...state, spec: { items: [{ name: 'a', size: 2 }] } }
    expect(writtenFields(shape, state, other, fields).fields).toBe(fields)
    const more = { ...state, spec: { items: [{ name: 'a', size: 1 }, { name: 'b' }] } }
    const next = writtenFields(shape, state, more, fields).fields
    expect(next?.['f:metadata']).toBe(fields?.['f:metadata'])
  })
})
