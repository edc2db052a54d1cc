/**
 * The zone as a worker holds it. A change is put in within one turn of the event loop, so a query sees all of it or
 * nothing; a name that both the old and the new records have is never missing in between.
 */
import type { CompiledService, RecordSet, ServiceKey, Zone, ZoneChange, ZoneSettings } from '../contract.ts'
import { parentOf, wireName } from './names.ts'
import { forEachName } from './owners.ts'
import { RecentNames } from './recent-names.ts'
import { SharedNames } from './shared-names.ts'

const noRecords: RecordSet = { type: 0, bytes: Buffer.alloc(0), start: 0, end: 0, next: undefined }

/** What is left to know of a service: enough to take it out again. */
type Held = { readonly names: readonly string[]; readonly pins: readonly string[]; readonly bytes: Buffer }

export class ZoneSnapshot implements Zone {
  readonly origin: Buffer
  readonly labels: number
  readonly ttlSeconds: number
  readonly negativeTtlSeconds: number
  serial = 0
  loaded = false
  readonly #records = new Map<string, RecordSet>()
  /**
   * For each name how many of its direct children exist, and how many services pin it. Such a name exists, with or
   * without records (RFC 4592 §2.2.2, empty non-terminals).
   */
  readonly #holds = new Map<string, number>()
  readonly #shared = new SharedNames()
  readonly #services = new Map<ServiceKey, Held>()
  readonly #recent = new RecentNames()

  constructor(settings: Pick<ZoneSettings, 'origin' | 'ttlSeconds' | 'negativeTtlSeconds'>) {
    this.origin = wireName(settings.origin)
    this.labels = settings.origin.split('.').length
    this.ttlSeconds = settings.ttlSeconds
    this.negativeTtlSeconds = settings.negativeTtlSeconds
  }

  /** Names that own records. */
  get names(): number {
    return this.#records.size
  }

  find(name: string): RecordSet | undefined {
    return this.#records.get(name) ?? (this.#holds.has(name) ? noRecords : undefined)
  }

  findOctets(name: Buffer, length: number): RecordSet | undefined {
    if (this.#recent.has(name, length)) return this.#recent.found
    const found = this.find(name.toString('latin1', 0, length))
    this.#recent.keep(name, length, found)
    return found
  }

  apply(change: ZoneChange): void {
    this.#recent.clear()
    for (const service of change.put) this.#put(service)
    for (const key of change.removed) this.#remove(key)
    this.serial = change.serial
  }

  #put(service: CompiledService): void {
    const bytes = Buffer.from(service.bytes.buffer, service.bytes.byteOffset, service.bytes.byteLength)
    const old = this.#services.get(service.key)
    for (const pin of service.pins) this.#hold(pin)
    forEachName(service, bytes, (name, first) => {
      const existed = this.find(name) !== undefined
      const known = this.#records.get(name)
      this.#records.set(name, this.#shared.join(name, known, first, old?.bytes))
      if (!existed) this.#holdParent(name)
    })
    this.#services.set(service.key, { names: service.names, pins: service.pins, bytes })
    if (old !== undefined) this.#drop(old)
  }

  #remove(key: ServiceKey): void {
    const held = this.#services.get(key)
    if (held === undefined) return
    this.#services.delete(key)
    this.#drop(held)
  }

  /** Takes out what still belongs to these records: a name that was put again points to other bytes. */
  #drop(held: Held): void {
    for (const name of held.names) {
      const known = this.#records.get(name)
      const left = known && this.#shared.leave(name, known, held.bytes)
      if (left === known) continue
      if (left !== undefined) this.#records.set(name, left)
      else this.#delete(name)
    }
    for (const pin of held.pins) this.#release(pin)
  }

  #delete(name: string): void {
    this.#records.delete(name)
    if (!this.#holds.has(name)) this.#releaseParent(name)
  }

  #hold(name: string): void {
    const existed = this.find(name) !== undefined
    this.#holds.set(name, (this.#holds.get(name) ?? 0) + 1)
    if (!existed) this.#holdParent(name)
  }

  #holdParent(name: string): void {
    if (name !== '') this.#hold(parentOf(name))
  }

  #release(name: string): void {
    const holds = (this.#holds.get(name) ?? 0) - 1
    if (holds > 0) {
      this.#holds.set(name, holds)
      return
    }
    this.#holds.delete(name)
    if (!this.#records.has(name)) this.#releaseParent(name)
  }

  #releaseParent(name: string): void {
    if (name !== '') this.#release(parentOf(name))
  }
}
