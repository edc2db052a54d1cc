/**
 * A sorted set that never changes: `with` and `without` make another one, which shares all but O(log n) nodes with it.
 * Every node knows how many items are below it, so that a place is found by number and a range is counted without
 * visiting it. Weight-balanced, with the parameters that Hirai and Yamamoto proved (Balancing weight-balanced trees, 2011).
 */
type Node<T> = {
  readonly item: T
  readonly left: Node<T> | undefined
  readonly right: Node<T> | undefined
  readonly size: number
}

type Tree<T> = Node<T> | undefined

export type Order<T> = (a: T, b: T) => number

export class CountedTree<T> {
  readonly #order: Order<T>
  readonly #root: Tree<T>

  constructor(order: Order<T>, root?: Tree<T>) {
    this.#order = order
    this.#root = root
  }

  get size(): number {
    return sizeOf(this.#root)
  }

  /** The set with the item, in place of one that is equal to it. */
  with(item: T): CountedTree<T> {
    return new CountedTree(this.#order, inserted(this.#root, item, this.#order))
  }

  without(item: T): CountedTree<T> {
    return new CountedTree(this.#order, removed(this.#root, item, this.#order))
  }

  /** How many items stand at the beginning for which `isBefore` holds; it holds for no item behind one that fails. */
  rank(isBefore: (item: T) => boolean): number {
    let rank = 0
    for (let node = this.#root; node !== undefined; ) {
      if (isBefore(node.item)) {
        rank += sizeOf(node.left) + 1
        node = node.right
      } else node = node.left
    }
    return rank
  }

  /** Visits the items from number `from`, up to number `to` without it. */
  visit(from: number, to: number, visit: (item: T) => void): void {
    if (from < to) visitRange(this.#root, from, to, visit)
  }
}

function sizeOf<T>(tree: Tree<T>): number {
  return tree === undefined ? 0 : tree.size
}

function visitRange<T>(tree: Tree<T>, from: number, to: number, visit: (item: T) => void): void {
  if (tree === undefined) return
  const at = sizeOf(tree.left)
  if (from < at) visitRange(tree.left, from, to, visit)
  if (from <= at && at < to) visit(tree.item)
  if (to > at + 1) visitRange(tree.right, from - at - 1, to - at - 1, visit)
}

function joined<T>(left: Tree<T>, item: T, right: Tree<T>): Node<T> {
  return { item, left, right, size: sizeOf(left) + sizeOf(right) + 1 }
}

/** A side may be this many times as heavy as the other. */
const balance = 3
/** The inner grandchild of the heavy side may be this many times as heavy as the outer one. */
const tilt = 2

function weightOf<T>(tree: Tree<T>): number {
  return sizeOf(tree) + 1
}

/** Joins two sides of which one may have become too heavy by one item. */
function balanced<T>(left: Tree<T>, item: T, right: Tree<T>): Node<T> {
  if (right !== undefined && weightOf(right) > balance * weightOf(left)) return raisedRight(left, item, right)
  if (left !== undefined && weightOf(left) > balance * weightOf(right)) return raisedLeft(left, item, right)
  return joined(left, item, right)
}

function raisedRight<T>(left: Tree<T>, item: T, right: Node<T>): Node<T> {
  const { left: inner, right: outer } = right
  if (inner === undefined || weightOf(inner) < tilt * weightOf(outer)) {
    return joined(joined(left, item, inner), right.item, outer)
  }
  return joined(joined(left, item, inner.left), inner.item, joined(inner.right, right.item, outer))
}

function raisedLeft<T>(left: Node<T>, item: T, right: Tree<T>): Node<T> {
  const { left: outer, right: inner } = left
  if (inner === undefined || weightOf(inner) < tilt * weightOf(outer)) {
    return joined(outer, left.item, joined(inner, item, right))
  }
  return joined(joined(outer, left.item, inner.left), inner.item, joined(inner.right, item, right))
}

function inserted<T>(tree: Tree<T>, item: T, order: Order<T>): Node<T> {
  if (tree === undefined) return joined(undefined, item, undefined)
  const side = order(item, tree.item)
  if (side < 0) return balanced(inserted(tree.left, item, order), tree.item, tree.right)
  if (side > 0) return balanced(tree.left, tree.item, inserted(tree.right, item, order))
  return joined(tree.left, item, tree.right)
}

function removed<T>(tree: Tree<T>, item: T, order: Order<T>): Tree<T> {
  if (tree === undefined) return undefined
  const side = order(item, tree.item)
  if (side < 0) return balanced(removed(tree.left, item, order), tree.item, tree.right)
  if (side > 0) return balanced(tree.left, tree.item, removed(tree.right, item, order))
  const { left, right } = tree
  if (left === undefined || right === undefined) return left ?? right
  const next = firstOf(right)
  return balanced(left, next, removed(right, next, order))
}

function firstOf<T>(node: Node<T>): T {
  let first = node
  while (first.left !== undefined) first = first.left
  return first.item
}
