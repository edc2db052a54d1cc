import { type CompiledService, rrType, type ServiceKey } from '../contract.ts'

const setNumbers = 4
const typeOrder: readonly number[] = [rrType.a, rrType.aaaa, rrType.srv, rrType.txt, rrType.ns]

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

  compile(key: ServiceKey, pins: readonly string[]): CompiledService {
    const sets: number[] = []
    const texts: string[] = []
    let end = 0
    let index = 0
    for (const records of this.#owners.values()) {
      for (const set of records.sort(inOrder)) {
        const text = set.text()
        texts.push(text)
        sets.push(index, set.type, end, end + text.length)
        end += text.length
      }
      index++
    }
    // A buffer of its own: what is cut from the shared pool would drag the whole pool through structured clone.
    const bytes = new Uint8Array(end)
    Buffer.from(bytes.buffer).write(texts.join(''), 'latin1')
    return { key, names: [...this.#owners.keys()], sets: Uint32Array.from(sets), bytes, pins }
  }
}

function inOrder(one: Records, other: Records): number {
  return typeOrder.indexOf(one.type) - typeOrder.indexOf(other.type)
}

/** The record sets of a compiled service, name by name. */
export function* setsOf(
  service: CompiledService,
): Generator<{ readonly name: string; readonly type: number; readonly start: number; readonly end: number }> {
  const { names, sets } = service
  for (let at = 0; at + setNumbers <= sets.length; at += setNumbers) {
    const [index = 0, type = 0, start = 0, end = 0] = sets.subarray(at, at + setNumbers)
    yield { name: names[index] ?? '', type, start, end }
  }
}
