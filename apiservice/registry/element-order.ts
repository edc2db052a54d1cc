/** In which order a strategic merge patch leaves the items of a list that it merged. */

export type OrderHints = {
  /** The list as it was. */
  readonly before: readonly unknown[]
  /** The order that the patch asks for, or else the items that it names. */
  readonly wanted: readonly unknown[]
  keyOf(item: unknown): unknown
}

/**
 * Items that the patch names come in its order, all others in their old order. The two rows are merged: an item that
 * was there before the next one of the patch goes first, otherwise the patch's item does.
 */
export function ordered(
  items: readonly unknown[],
  { before, wanted, keyOf }: OrderHints,
): readonly unknown[] {
  const oldPlace = placesOf(before, keyOf)
  const newPlace = placesOf(wanted, keyOf)
  const place = (places: ReadonlyMap<unknown, number>, item: unknown): number => places.get(keyOf(item)) ?? -1
  const isNamed = (item: unknown): boolean => newPlace.has(keyOf(item))
  const named = items.filter(isNamed).sort((a, b) => place(newPlace, a) - place(newPlace, b))
  const others = items.filter(item => !isNamed(item)).sort((a, b) => place(oldPlace, a) - place(oldPlace, b))
  const result: unknown[] = []
  let next = 0
  for (const item of named) {
    const at = place(oldPlace, item)
    while (next < others.length && place(oldPlace, others[next]) < at) {
      result.push(others[next])
      next += 1
    }
    result.push(item)
  }
  return [...result, ...others.slice(next)]
}

/** Where each key stands for the first time. */
export function placesOf(items: readonly unknown[], keyOf: (item: unknown) => unknown): Map<unknown, number> {
  return new Map(items.map((item, i) => [keyOf(item), i] as const).reverse())
}
