import { describe, expect, it } from 'vitest'
import { noChanges } from '../../../../../src/api/derive/field-changes.ts'
import type { FieldSet, Fields } from '../../../../../src/api/derive/field-set.ts'
import {
  afterUpdate,
  type FieldManager,
  storedManagers,
  toEntries,
  without,
} from '../../../../../src/api/derive/managed-fields.ts'
import type { ManagedFieldsEntry } from '../../../../../src/api/meta.ts'

const apiVersion = 'test.example.com/v1'
const early = '2026-01-02T03:04:05Z'
const late = '2026-01-02T03:04:06Z'

function entry(
  manager: string,
  fieldsV1: FieldSet,
  more: Partial<ManagedFieldsEntry> = {},
): ManagedFieldsEntry {
  return { manager, operation: 'Update', apiVersion, time: early, fieldsType: 'FieldsV1', fieldsV1, ...more }
}

const writer = (name: string, time = late) =>
  ({ name, operation: 'Update', apiVersion, subresource: '', time }) as const

type Sets = { readonly added?: Fields; readonly modified?: Fields; readonly removed?: Fields }

function updated(
  entries: readonly ManagedFieldsEntry[],
  sets: Sets,
  name: string,
): readonly ManagedFieldsEntry[] {
  return toEntries(afterUpdate(storedManagers(entries), { ...noChanges, ...sets }, writer(name)))
}

const spec = (...names: readonly string[]): FieldSet => ({
  'f:spec': Object.fromEntries(names.map(name => [`f:${name}`, {}])),
})
const item = (key: string): FieldSet => ({
  'f:spec': { 'f:items': { [`k:{"key":"${key}"}`]: { '.': {}, 'f:key': {} } } },
})

describe('the managers of an object that is updated', () => {
  it('stay the very entries where nothing is theirs that changed', () => {
    const ann = entry('ann', spec('a'))
    const bob = entry('bob', spec('b'), { operation: 'Apply' })
    const [first, second, third] = updated([bob, ann], { added: spec('c') }, 'cid')
    expect(first).toBe(bob)
    expect(second).toBe(ann)
    expect(third).toEqual(entry('cid', spec('c'), { time: late }))
  })

  it('are new entries where they lose something', () => {
    const ann = entry('ann', spec('a', 'b'))
    expect(updated([ann], { modified: spec('a'), removed: spec('b') }, 'bob')).toEqual([
      entry('bob', spec('a'), { time: late }),
    ])
    expect(updated([ann], { modified: spec('a') }, 'bob')).toEqual([
      entry('ann', spec('b')),
      entry('bob', spec('a'), { time: late }),
    ])
    expect(ann).toEqual(entry('ann', spec('a', 'b')))
  })

  it('keep the very fields when they write what they own already, at another time', () => {
    const ann = entry('ann', spec('a', 'b'))
    const [next] = updated([ann], { modified: spec('a') }, 'ann')
    expect(next).toEqual({ ...ann, time: late })
    expect(next?.fieldsV1).toBe(ann.fieldsV1)
  })

  it('own the item that they put in the place of another', () => {
    const ann = entry('ann', {
      'f:spec': { 'f:items': { '.': {}, 'k:{"key":"x"}': { '.': {}, 'f:key': {} } } },
    })
    const [next, ...others] = updated([ann], { added: item('y'), removed: item('x') }, 'ann')
    expect(next).toEqual(
      entry(
        'ann',
        { 'f:spec': { 'f:items': { '.': {}, 'k:{"key":"y"}': { '.': {}, 'f:key': {} } } } },
        { time: late },
      ),
    )
    expect(others).toEqual([])
  })

  it('own what they take again of what is gone', () => {
    const sets = {
      added: { 'f:a': { 'f:b': {} } },
      modified: { 'f:a': {} },
      removed: { 'f:a': { 'f:c': {} } },
    }
    expect(updated([entry('ann', { 'f:a': { '.': {}, 'f:c': {} } })], sets, 'ann')).toEqual([
      entry('ann', { 'f:a': { '.': {}, 'f:b': {} } }, { time: late }),
    ])
  })

  it('have one entry however often they had handed one in', () => {
    const twice = [entry('ann', spec('a', 'gone')), entry('bob', spec('b')), entry('ann', spec('c'))]
    expect(updated(twice, { added: spec('d'), removed: spec('gone') }, 'ann')).toEqual([
      entry('bob', spec('b')),
      entry('ann', spec('a', 'c', 'd'), { time: late }),
    ])
  })

  it('are told apart up to ten; the oldest of more become one, also when their fields are the very same', () => {
    const shared = spec('a')
    const ten = Array.from({ length: 10 }, (_, i) =>
      entry(`m${i}`, shared, { subresource: 'status', time: `2026-01-02T03:03:0${i}Z` }),
    )
    const [oldest, ...others] = updated(ten, { added: spec('b') }, 'new')
    expect(oldest).toEqual(entry('ancient-changes', shared, { time: '2026-01-02T03:03:01Z' }))
    expect(others).toEqual([...ten.slice(2), entry('new', spec('b'), { time: late })])
  })

  it('are who they were when fields are gone that they never had', () => {
    const managers: readonly FieldManager[] = storedManagers([entry('ann', item('x'))])
    expect(without(managers, item('y'))).toEqual(managers)
    expect(without(managers, item('x'))).toEqual([])
  })
})

describe('the fields of a list with very many items', () => {
  it('lose and gain one', () => {
    const keys = Array.from(
      { length: 5_000 },
      (_, i) => [`k:{"key":"n${i}"}`, { '.': {}, 'f:key': {} }] as const,
    )
    const all = entry('ann', { 'f:spec': { 'f:items': { '.': {}, ...Object.fromEntries(keys) } } })
    const [next] = updated([all], { added: item('new'), removed: item('n4999') }, 'ann')
    const expected = Object.fromEntries([...keys.slice(0, -1), ['k:{"key":"new"}', { '.': {}, 'f:key': {} }]])
    expect(next?.fieldsV1).toEqual({ 'f:spec': { 'f:items': { '.': {}, ...expected } } })
  })
})
