/** What was written lately, for others who ask for the same. */
import type { StoredObject } from '../store-contract.ts'

/** Bytes, compressed or not, and how many they are without compression. */
export type Written = { readonly blocks: Buffer; readonly length: number }

/** Some items that follow each other in a list, as one shape writes them. */
export type Run<P extends Written> = {
  readonly keys: readonly Key[]
  readonly part: P
  /** The time from which on it looks the same, and the one from which on it does not. */
  readonly fromMs: number
  readonly untilMs: number
  /** Where it was last found. Lists are never changed. */
  place?: Place | undefined
}

export type Place = { readonly list: WeakRef<readonly StoredObject[]>; readonly from: number }

type Key = Pick<StoredObject, 'revision' | 'namespace' | 'name'>

/** By shape and first object: a run goes with the version of its first object, if not before. */
type Generation<P extends Written> = Map<string, WeakMap<StoredObject, Run<P>>>

/** What is kept of a run beside its bytes, about. */
const runBytes = 512
const keyBytes = 64

/**
 * Lists begin anywhere, so that every object may be the first one of a run: only what was used lately is kept. At most
 * `maxBytes` in all, and one run.
 */
export class KeptRuns<P extends Written> {
  readonly #youngBytesMax: number
  #young: Generation<P> = new Map()
  #old: Generation<P> = new Map()
  #youngBytes = 0

  constructor(maxBytes: number) {
    this.#youngBytesMax = maxBytes / 2
  }

  get(shape: string, first: StoredObject): Run<P> | undefined {
    const young = this.#young.get(shape)?.get(first)
    if (young !== undefined) return young
    const old = this.#old.get(shape)?.get(first)
    if (old !== undefined) this.keep(shape, first, old)
    return old
  }

  keep(shape: string, first: StoredObject, run: Run<P>): void {
    const bytes = run.part.blocks.length + run.keys.length * keyBytes + runBytes
    if (this.#youngBytes + bytes > this.#youngBytesMax) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    const runs = this.#young.get(shape) ?? new WeakMap<StoredObject, Run<P>>()
    this.#young.set(shape, runs.set(first, run))
    this.#youngBytes += bytes
  }
}
