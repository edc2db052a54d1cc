import type { RecordSet } from '../contract.ts'

const slots = 8192
/** Longer names are seldom: theirs is the way through the map. */
const maxOctets = 64

/**
 * Names asked lately, found by their octets: making a string of them and looking that up costs more than the rest of an
 * answer. Each name has one place, and the one asked last has it; of bounded size whatever is asked.
 */
export class RecentNames {
  readonly #octets = new Uint8Array(slots * maxOctets)
  /** 0 for an empty place. */
  readonly #lengths = new Uint8Array(slots)
  readonly #found: (RecordSet | undefined)[] = new Array<RecordSet | undefined>(slots).fill(undefined)
  #slot = 0

  /** True when `found` knows what the name was found to be. */
  has(name: Uint8Array, length: number): boolean {
    if (length > maxOctets || length === 0) return false
    let hash = length
    for (let i = 0; i < length; i++) hash = Math.imul(hash ^ (name[i] ?? 0), 0x0100_0193)
    const slot = (hash ^ (hash >>> 15)) & (slots - 1)
    this.#slot = slot
    if (this.#lengths[slot] !== length) return false
    const start = slot * maxOctets
    for (let i = 0; i < length; i++) if (this.#octets[start + i] !== name[i]) return false
    return true
  }

  /** What the name that `has` was asked for last is. */
  get found(): RecordSet | undefined {
    return this.#found[this.#slot]
  }

  /** Keeps what the name that `has` was asked for last, and did not know, was found to be. */
  keep(name: Uint8Array, length: number, found: RecordSet | undefined): void {
    if (length > maxOctets || length === 0) return
    const start = this.#slot * maxOctets
    for (let i = 0; i < length; i++) this.#octets[start + i] = name[i] ?? 0
    this.#lengths[this.#slot] = length
    this.#found[this.#slot] = found
  }

  clear(): void {
    this.#lengths.fill(0)
    this.#found.fill(undefined)
  }
}
