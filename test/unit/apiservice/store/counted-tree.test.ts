import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CountedTree } from '../../../../apiservice/store/counted-tree.ts'

const ascending = (a: number, b: number): number => a - b

function itemsOf(tree: CountedTree<number>, from = 0, to = tree.size): readonly number[] {
  const items: number[] = []
  tree.visit(from, to, item => items.push(item))
  return items
}

type State = { readonly tree: CountedTree<number>; readonly items: readonly number[] }

/** Adds or removes each item; answers every set on the way and what it should hold. */
function play(changes: readonly (readonly [boolean, number])[]): readonly State[] {
  const states: State[] = []
  let tree = new CountedTree<number>(ascending)
  let items: readonly number[] = []
  for (const [isAdded, item] of changes) {
    tree = isAdded ? tree.with(item) : tree.without(item)
    const others = items.filter(other => other !== item)
    items = isAdded ? [...others, item].sort(ascending) : others
    states.push({ tree, items })
  }
  return states
}

describe('a counted tree', () => {
  it('holds what a sorted list would, and so do all that it was made from', () => {
    const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(60)), { maxLength: 200 })
    fc.assert(
      fc.property(steps, fc.nat(70), fc.nat(70), (changes, a, b) => {
        for (const { tree, items } of play(changes)) {
          expect([tree.size, itemsOf(tree)]).toEqual([items.length, items])
          expect(tree.rank(item => item < a)).toBe(items.filter(item => item < a).length)
          expect(itemsOf(tree, Math.min(a, b), b)).toEqual(items.slice(Math.min(a, b), b))
        }
      }),
    )
  })

  it.each([
    ['ascending', (at: number) => at],
    ['descending', (at: number) => -at],
    ['scattered', (at: number) => (at * 2741) % 10_007],
  ])('stays flat when items arrive %s and most go again', (_, itemAt) => {
    let tree = new CountedTree<number>(ascending)
    for (let at = 0; at < 10_000; at++) tree = tree.with(itemAt(at))
    for (let at = 0; at < 10_000; at++) if (at % 10 !== 3) tree = tree.without(itemAt(at))
    let compared = 0
    for (let at = 0; at < 10_000; at++) {
      const before = compared
      tree.rank(item => {
        compared++
        return item < itemAt(at)
      })
      // A side is at most three quarters of its tree: log(1000) / log(4 / 3) is 24.
      expect(compared - before).toBeLessThanOrEqual(24)
    }
    expect(tree.size).toBe(1000)
  })
})
