import type { ZoneChange, ZoneSettings } from '../contract.ts'
import { ZoneSnapshot } from './snapshot.ts'

/** The zone of the services and the reverse zones, as one worker holds them. */
export class Zones {
  /** By the number that records name. */
  readonly #zones: readonly ZoneSnapshot[]

  constructor(settings: ZoneSettings) {
    const origins = [settings.origin, ...settings.reverseZones]
    this.#zones = origins.map(origin => new ZoneSnapshot({ ...settings, origin }))
  }

  /** The longest origin first, where one lies in another. */
  get all(): readonly ZoneSnapshot[] {
    return this.#zones.toSorted((one, other) => other.origin.length - one.origin.length)
  }

  get names(): number {
    return this.#zones.reduce((sum, zone) => sum + zone.names, 0)
  }

  /** In one turn, so that a query sees all of it or nothing. */
  apply({ serial, put, removed }: ZoneChange): void {
    for (const [at, zone] of this.#zones.entries())
      zone.apply({ serial, put: put.filter(service => service.zone === at), removed })
  }

  loaded(): void {
    for (const zone of this.#zones) zone.loaded = true
  }
}
