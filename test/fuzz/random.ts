/** xorshift32: the same seed gives the same packets. */
export function generator(seed: number): (below: number) => number {
  let state = seed | 1
  return below => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

export type Next = ReturnType<typeof generator>

export function oneOf<T>(items: readonly [T, ...T[]], next: Next): T
export function oneOf<T>(items: readonly T[], next: Next): T | undefined
export function oneOf<T>(items: readonly T[], next: Next): T | undefined {
  return items[next(items.length)]
}
