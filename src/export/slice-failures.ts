import { keyOf, type Ref } from '../cluster/cluster.ts'
import type { PushFailure } from './conditions.ts'

/** Slices that the hub refuses, by the export whose endpoints they hold. */
export class SliceFailures {
  readonly #services = new Map<string, Map<string, PushFailure>>()
  readonly #serviceOf = new Map<string, string>()
  readonly #onChange: (service: string) => void

  constructor(onChange: (service: string) => void) {
    this.#onChange = onChange
  }

  /** One of them, if there is any. */
  of(service: string): PushFailure | undefined {
    return this.#services.get(service)?.values().next().value
  }

  /** A slice that is only late is not missing. */
  set(slice: Ref, service: Ref | undefined, failure: PushFailure | undefined): void {
    const key = keyOf(slice)
    this.#clear(key)
    if (service === undefined || failure?.refused !== true) return
    const owner = keyOf(service)
    this.#serviceOf.set(key, owner)
    this.#services.set(owner, (this.#services.get(owner) ?? new Map()).set(key, failure))
    this.#onChange(owner)
  }

  #clear(key: string): void {
    const owner = this.#serviceOf.get(key)
    if (owner === undefined) return
    this.#serviceOf.delete(key)
    const failures = this.#services.get(owner)
    failures?.delete(key)
    if (failures?.size === 0) this.#services.delete(owner)
    this.#onChange(owner)
  }
}
