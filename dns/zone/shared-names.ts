/** Names that more than one service has records at, as an address that two imports have does in a reverse zone. */
import type { RecordSet } from '../contract.ts'
import { typeOrder } from './owners.ts'

export class SharedNames {
  /** What each of the services has, of names that more than one has. */
  readonly #firsts = new Map<string, readonly RecordSet[]>()

  /** What a name is that was `known` and gets `added`, instead of what lay in the octets `replaced`. */
  join(
    name: string,
    known: RecordSet | undefined,
    added: RecordSet,
    replaced: Buffer | undefined,
  ): RecordSet {
    if (known === undefined || known.bytes === replaced) return added
    const others = (this.#firsts.get(name) ?? [known]).filter(first => first.bytes !== replaced)
    return this.#keep(name, [...others, added]) ?? added
  }

  /** What is left of a name without what lies in these octets. */
  leave(name: string, known: RecordSet, bytes: Buffer): RecordSet | undefined {
    const firsts = this.#firsts.get(name)
    if (firsts === undefined) return known.bytes === bytes ? undefined : known
    const left = firsts.filter(first => first.bytes !== bytes)
    return left.length === firsts.length ? known : this.#keep(name, left)
  }

  #keep(name: string, firsts: readonly RecordSet[]): RecordSet | undefined {
    if (firsts.length > 1) {
      this.#firsts.set(name, firsts)
      return joined(firsts)
    }
    this.#firsts.delete(name)
    return firsts[0]
  }
}

/** One set of each type, in the order of all sets. */
function joined(firsts: readonly RecordSet[]): RecordSet | undefined {
  const sets = firsts.flatMap(chain)
  return typeOrder.toReversed().reduce<RecordSet | undefined>((next, type) => {
    const ofType = sets.filter(set => set.type === type)
    if (ofType.length === 0) return next
    const bytes = Buffer.concat(ofType.map(set => set.bytes.subarray(set.start, set.end)))
    return { type, bytes, start: 0, end: bytes.length, next }
  }, undefined)
}

function chain(first: RecordSet): readonly RecordSet[] {
  return first.next === undefined ? [first] : [first, ...chain(first.next)]
}
