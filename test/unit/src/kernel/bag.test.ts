import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Bag, type Bagged } from '../../../../src/kernel/bag.ts'

type Named = Bagged & { readonly name: number }

it('holds what a Set would hold after the same changes', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), names => {
      const bag = new Bag<Named>()
      const set = new Map<number, Named>()
      for (const name of names) {
        const there = set.get(name)
        if (there === undefined) {
          const item = { name, place: -1 }
          set.set(name, item)
          bag.add(item)
        } else {
          set.delete(name)
          bag.remove(there)
        }
        expect(bag.size).toBe(set.size)
        expect(new Set(bag)).toEqual(new Set(set.values()))
      }
    }),
  )
})

it('goes through what was there when it began, whatever goes meanwhile', () => {
  const bag = new Bag<Named>()
  const items = [1, 2, 3].map(name => ({ name, place: -1 }))
  for (const item of items) bag.add(item)
  const seen: number[] = []
  for (const item of bag) {
    seen.push(item.name)
    bag.remove(item)
  }
  expect(seen).toEqual([1, 2, 3])
  expect(bag.size).toBe(0)
})
