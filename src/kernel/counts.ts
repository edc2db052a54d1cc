import type { HistogramReading, Labels } from './metrics.ts'

/** A histogram as plain numbers, for what happens often. */
export class Counts {
  readonly #bounds: readonly number[]
  readonly #counts: number[]
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  add(value: number): void {
    let bucket = 0
    while (value > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#sum += value
  }

  readings(of: Labels): readonly HistogramReading[] {
    const isEmpty = this.#counts.every(count => count === 0)
    return isEmpty ? [] : [{ labels: of, counts: [...this.#counts], sum: this.#sum }]
  }
}
