import { type CompiledService, rrType, type ServiceKey } from '../contract.ts'

const setNumbers = 4
const typeOrder: readonly number[] = [rrType.a, rrType.aaaa, rrType.srv, rrType.txt, rrType.ns]

/** Gathers records by owner and type, each once and in the order of coming, and lays them out. */
export class Owners {
  readonly #owners = new Map<string, Map<number, Set<string>>>()

  add(name: string, type: number, record: string): void {
    const types = this.#owners.get(name) ?? new Map<number, Set<string>>()
    const records = types.get(type) ?? new Set<string>()
    records.add(record)
    types.set(type, records)
    this.#owners.set(name, types)
  }

  compile(key: ServiceKey, pins: readonly string[]): CompiledService {
    const sets: number[] = []
    const texts: string[] = []
    let end = 0
    for (const [index, types] of [...this.#owners.values()].entries()) {
      for (const type of typeOrder) {
        const records = types.get(type)
        if (records === undefined) continue
        const text = [...records].join('')
        texts.push(text)
        sets.push(index, type, end, end + text.length)
        end += text.length
      }
    }
    // A buffer of its own: what is cut from the shared pool would drag the whole pool through structured clone.
    const bytes = new Uint8Array(end)
    Buffer.from(bytes.buffer).write(texts.join(''), 'latin1')
    return { key, names: [...this.#owners.keys()], sets: Uint32Array.from(sets), bytes, pins }
  }
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
