/** What is in a bag: `place` is the bag's. */
export type Bagged = { place: number }

/**
 * For what comes and goes all the time and is seldom gone through. A Set that is changed so often is made anew again and
 * again, and each time all that was in it stays in memory until the collector goes through everything.
 */
export class Bag<T extends Bagged> implements Iterable<T> {
  readonly #items: T[] = []

  get size(): number {
    return this.#items.length
  }

  add(item: T): void {
    item.place = this.#items.push(item) - 1
  }

  /** Of an item that is in it. */
  remove(item: T): void {
    const last = this.#items.pop()
    if (last === undefined || last === item) return
    this.#items[item.place] = last
    last.place = item.place
  }

  /** In no order, as they are when it begins. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.#items].values()
  }
}
