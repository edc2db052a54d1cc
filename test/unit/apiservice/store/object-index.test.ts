import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compareText, ObjectIndex } from '../../../../apiservice/store/object-index.ts'
import type { ListOptions, ObjectKey } from '../../../../apiservice/store-contract.ts'

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

const inOrder = (a: Place, b: Place): number => bytewise(`${a[0]}/`, `${b[0]}/`) || bytewise(a[1], b[1])
const newest = Number.MAX_SAFE_INTEGER

type Paged = { readonly places: readonly Place[]; readonly remaining: number }

/** Pages of the resource `r`, as the index has them. */
function paged(
  index: ObjectIndex,
  namespace: string,
  options: Partial<ListOptions & { at: number }> = {},
): Paged {
  const places: Place[] = []
  const scope = { resources: ['r'], namespace }
  const remaining = index.page(options.at ?? newest, scope, { limit: 0, ...options }, slot => {
    places.push([slot.namespace, slot.name])
  })
  return { places, remaining }
}

/** Creates or deletes each key at the next revision; answers the sorted places of `r` at every one of them. */
function play(
  steps: readonly (readonly [boolean, ObjectKey])[],
  index: ObjectIndex,
): readonly (readonly Place[])[] {
  const expected = new Map<string, Place>()
  const states: (readonly Place[])[] = [[]]
  for (const [isPut, key] of steps) {
    const revision = states.length
    const object = { ...key, revision, body: Buffer.alloc(0) }
    index.put(index.obtain(key), isPut ? object : undefined, revision)
    expected.delete(JSON.stringify(key))
    if (isPut && key.resource === 'r') expected.set(JSON.stringify(key), [key.namespace, key.name])
    states.push([...expected.values()].sort(inOrder))
  }
  return states
}

describe('an index of objects', () => {
  it('pages at every revision through what a sorted list of it would hold', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), aKey), { maxLength: 60 })
    fc.assert(
      fc.property(steps, aKey, fc.nat(4), (changes, key, limit) => {
        const index = new ObjectIndex()
        const after = { ...key, resource: 'r' }
        for (const [at, sorted] of play(changes, index).entries()) {
          const behind = sorted.filter(place => inOrder(place, [after.namespace, after.name]) > 0)
          const inA = behind.filter(([namespace]) => namespace === 'a')
          const count = limit === 0 ? inA.length : Math.min(limit, inA.length)
          expect(paged(index, '', { at })).toEqual({ places: sorted, remaining: 0 })
          expect(paged(index, '', { at, after })).toEqual({ places: behind, remaining: 0 })
          expect(paged(index, 'a', { at, after, limit })).toEqual({
            places: inA.slice(0, count),
            remaining: inA.length - count,
          })
        }
      }),
    )
  })

  it('knows what it held before thousands of creations and deletions, as long as they are kept', () => {
    const index = new ObjectIndex()
    const changes = Array.from({ length: 5000 }, (_, at): readonly [boolean, ObjectKey] => {
      const name = `n-${(at * 7) % 300}`
      return [Math.floor(at / 300) % 2 === 0, { resource: 'r', namespace: 'a', name }]
    })
    const states = play(changes, index)
    for (const at of [0, 1, 1022, 1023, 1024, 1025, 2047, 3500, 4990, 5000, 1024, 2047]) {
      expect(paged(index, '', { at })).toEqual({ places: states[at], remaining: 0 })
    }
    const [, gone] = changes[999] ?? []
    if (gone === undefined) throw new Error('there is no such change')
    index.forget({
      slot: index.obtain(gone),
      revision: 1000,
      type: 'PUT',
      previous: 0,
      at: 0,
      size: 0,
      bytes: 0,
      older: undefined,
    })
    for (const at of [1000, 1023, 1024, 1100, 4000]) {
      expect(paged(index, '', { at })).toEqual({ places: states[at], remaining: 0 })
    }
  })

  it('counts over all resources of a scope, from the one to go on behind', () => {
    const index = new ObjectIndex()
    const keys = ['r', 's', 't'].flatMap(resource =>
      ['a', 'b', 'c'].map(name => ({ resource, namespace: 'n', name })),
    )
    play(
      keys.map(key => [true, key]),
      index,
    )
    const seen: string[] = []
    const after = { resource: 's', namespace: 'n', name: 'a' }
    const scope = { resources: ['r', 's', 't'], namespace: '' }
    const remaining = index.page(newest, scope, { after, limit: 3 }, slot => {
      seen.push(`${slot.resource}/${slot.name}`)
    })
    expect([seen, remaining]).toEqual([['s/b', 's/c', 't/a'], 2])
  })
})
