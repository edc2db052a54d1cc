import { keyOf, type Ref } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'
import type { PushFailure } from './conditions.ts'

type Refused = { readonly service: string; readonly failure: PushFailure }

/** Slices that the hub refuses, by the export whose endpoints they hold. */
export class SliceFailures {
  readonly #refused = new Map<string, Refused>()
  readonly #services = new Map<string, Map<string, PushFailure>>()
  readonly #onChange: (service: string) => void

  constructor(onChange: (service: string) => void) {
    this.#onChange = onChange
  }

  /** One of them, if there is any. */
  of(service: string): PushFailure | undefined {
    return this.#services.get(service)?.values().next().value
  }

  /** A slice that is only late is not missing, but one that was refused stays so until the hub says something else. */
  set(slice: Ref, service: Ref | undefined, failure: PushFailure | undefined): void {
    const key = keyOf(slice)
    const before = this.#refused.get(key)
    const of = service && keyOf(service)
    if (failure?.refused === false && of === before?.service) return
    const after = of !== undefined && failure?.refused === true ? { service: of, failure } : undefined
    if (equalJson(before, after)) return
    if (before?.service !== after?.service) this.#drop(key, before)
    this.#keep(key, after)
    // Only now: whoever is told looks at once.
    for (const each of new Set([before?.service, after?.service]))
      if (each !== undefined) this.#onChange(each)
  }

  #keep(key: string, refused: Refused | undefined): void {
    if (refused === undefined) return
    const { service, failure } = refused
    this.#refused.set(key, refused)
    this.#services.set(service, (this.#services.get(service) ?? new Map()).set(key, failure))
  }

  #drop(key: string, refused: Refused | undefined): void {
    if (refused === undefined) return
    this.#refused.delete(key)
    const failures = this.#services.get(refused.service)
    failures?.delete(key)
    if (failures?.size === 0) this.#services.delete(refused.service)
  }
}
