import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ObjectKey } from '../../../../apiservice/contract.ts'
import { compareText, ObjectIndex } from '../../../../apiservice/store/object-index.ts'

const part = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'a-b', 'b', '\uffee', '\u{1f600}'),
  fc.string({ unit: 'binary', maxLength: 3 }),
)
const aKey = fc.record({ resource: fc.constantFrom('r', 's'), namespace: part, name: part })

const bytewise = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b))

describe('the order of keys', () => {
  it('is the order of their UTF-8 bytes', () => {
    fc.assert(
      fc.property(part, part, (a, b) => {
        expect(Math.sign(compareText(a, b))).toBe(bytewise(a, b))
      }),
    )
  })
})

type Place = readonly [namespace: string, name: string]

const inOrder = (a: Place, b: Place): number => bytewise(a[0], b[0]) || bytewise(a[1], b[1])

function walked(index: ObjectIndex, namespace: string, after?: ObjectKey): readonly Place[] {
  const seen: Place[] = []
  index.walk('r', namespace, after, slot => seen.push([slot.namespace, slot.name]))
  return seen
}

/** Adds or removes each key, in the index and in the sorted list that it should be like. */
function play(steps: readonly (readonly [boolean, ObjectKey])[], index: ObjectIndex): readonly Place[] {
  const expected = new Map<string, Place>()
  for (const [isAdded, key] of steps) {
    const slot = isAdded ? index.obtain(key) : index.find(key)
    if (slot !== undefined && !isAdded) index.prune(slot)
    expect(index.find(key)).toBe(isAdded ? slot : undefined)
    expected.delete(JSON.stringify(key))
    if (isAdded && key.resource === 'r') expected.set(JSON.stringify(key), [key.namespace, key.name])
  }
  return [...expected.values()].sort(inOrder)
}

describe('an index of objects', () => {
  it('holds and walks what a sorted list would', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), aKey), { maxLength: 200 }), aKey, (steps, from) => {
        const index = new ObjectIndex()
        const sorted = play(steps, index)
        const behind = sorted.filter(place => inOrder(place, [from.namespace, from.name]) > 0)
        expect(walked(index, '')).toEqual(sorted)
        expect(walked(index, '', from)).toEqual(behind)
        expect(walked(index, 'a')).toEqual(sorted.filter(([namespace]) => namespace === 'a'))
        expect(walked(index, 'a', from)).toEqual(behind.filter(([namespace]) => namespace === 'a'))
      }),
    )
  })

  it('stays sorted over many keys, however they arrive and go', () => {
    const index = new ObjectIndex()
    const names = Array.from({ length: 5000 }, (_, at) => `name-${(at * 2741) % 5000}`)
    for (const name of names) index.obtain({ resource: 'r', namespace: 'n', name })
    const kept = names.filter((_, at) => at % 5 === 0)
    for (const name of names) {
      const slot = index.find({ resource: 'r', namespace: 'n', name })
      if (slot !== undefined && !kept.includes(name)) index.prune(slot)
    }
    const seen: string[] = []
    index.walk('r', '', undefined, slot => seen.push(slot.name))
    expect(seen).toEqual(kept.sort(bytewise))
  })
})
