import { type CompiledService, type RecordSet, rrType } from '../contract.ts'

const setNumbers = 4
export const typeOrder: readonly number[] = [
  rrType.a,
  rrType.aaaa,
  rrType.srv,
  rrType.txt,
  rrType.ptr,
  rrType.ns,
]

/** Above so many records a Set finds equal ones faster than a look at each. */
const fewRecords = 8

/** Records of one type at one name, each once. Most names have one record, so it stays an array while it is short. */
class Records {
  readonly type: number
  readonly #list: string[] = []
  #seen: Set<string> | undefined

  constructor(type: number) {
    this.type = type
  }

  add(record: string): void {
    if (this.#seen === undefined ? this.#list.includes(record) : this.#seen.has(record)) return
    this.#list.push(record)
    if (this.#seen !== undefined) this.#seen.add(record)
    else if (this.#list.length > fewRecords) this.#seen = new Set(this.#list)
  }

  text(): string {
    return this.#list.length === 1 ? (this.#list[0] ?? '') : this.#list.join('')
  }
}

/** Gathers records by owner and type, in the order of coming, and lays them out. */
export class Owners {
  readonly #owners = new Map<string, Records[]>()

  add(name: string, type: number, record: string): void {
    let sets = this.#owners.get(name)
    if (sets === undefined) {
      sets = []
      this.#owners.set(name, sets)
    }
    let records = sets.find(set => set.type === type)
    if (records === undefined) {
      records = new Records(type)
      sets.push(records)
    }
    records.add(record)
  }

  has(name: string): boolean {
    return this.#owners.has(name)
  }

  compile({ zone, key }: Pick<CompiledService, 'zone' | 'key'>, pins: readonly string[]): CompiledService {
    const sets: number[] = []
    const bytes = new Layout()
    let index = 0
    for (const records of this.#owners.values()) {
      for (const set of records.sort(inOrder)) {
        const text = set.text()
        const start = bytes.place(text)
        sets.push(index, set.type, start, start + text.length)
      }
      index++
    }
    const names = [...this.#owners.keys()]
    return { zone, key, names, sets: Uint32Array.from(sets), bytes: bytes.octets(), pins }
  }
}

/** Texts one behind the other. Equal ones share their place: a single named port has the records of its service. */
class Layout {
  readonly #texts: string[] = []
  readonly #places = new Map<string, number>()
  #end = 0

  place(text: string): number {
    const known = this.#places.get(text)
    if (known !== undefined) return known
    const start = this.#end
    this.#texts.push(text)
    this.#places.set(text, start)
    this.#end += text.length
    return start
  }

  /** In a buffer of their own: what is cut from the shared pool would drag the whole pool through structured clone. */
  octets(): Uint8Array {
    const bytes = new Uint8Array(this.#end)
    Buffer.from(bytes.buffer).write(this.#texts.join(''), 'latin1')
    return bytes
  }
}

function inOrder(one: Records, other: Records): number {
  return typeOrder.indexOf(one.type) - typeOrder.indexOf(other.type)
}

/** The record sets of a compiled service, chained by name in their order; `visit` is given the first of each name. */
export function forEachName(
  service: CompiledService,
  bytes: Buffer,
  visit: (name: string, first: RecordSet) => void,
): void {
  const { names, sets } = service
  let next: RecordSet | undefined
  for (let at = sets.length - setNumbers; at >= 0; at -= setNumbers) {
    const [index = 0, type = 0, start = 0, end = 0] = sets.subarray(at, at + setNumbers)
    const first = { type, bytes, start, end, next }
    const more = at > 0 && sets[at - setNumbers] === index
    if (!more) visit(names[index] ?? '', first)
    next = more ? first : undefined
  }
}
