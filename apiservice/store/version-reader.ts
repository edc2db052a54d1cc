import type { StoredObject } from '../store-contract.ts'
import { decodeRecord } from './record.ts'
import type { Log } from './record-log.ts'
import type { Timeline, VersionRef } from './timeline.ts'

/** Reads share the threads that commits need, so that only a few may run at once. */
const concurrentReads = 2

/** Finds the bodies of versions in memory or in the log. */
export class VersionReader {
  readonly #timeline: Timeline
  readonly #log: () => Pick<Log, 'read'>
  readonly #waiting: (() => void)[] = []
  #reading = 0

  constructor(timeline: Timeline, log: () => Pick<Log, 'read'>) {
    this.#timeline = timeline
    this.#log = log
  }

  /** The versions in their order; undefined where one is no longer kept. */
  async load(versions: readonly VersionRef[]): Promise<readonly (StoredObject | undefined)[]> {
    const objects = versions.map(version => this.#timeline.recall(version))
    const absent = versions.filter((_, index) => objects[index] === undefined)
    if (absent.length === 0) return objects
    const read = (await this.#read(absent))[Symbol.iterator]()
    return objects.map(object => object ?? read.next().value)
  }

  async #read(versions: readonly VersionRef[]): Promise<readonly (StoredObject | undefined)[]> {
    if (this.#reading >= concurrentReads) await new Promise<void>(resolve => this.#waiting.push(resolve))
    else this.#reading++
    try {
      const values = await this.#log().read(versions.map(version => version.revision))
      return versions.map((version, index) => this.#decode(version, values[index]))
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#reading--
      else next()
    }
  }

  /** One object for each version, also when several asked for it at once. */
  #decode(version: VersionRef, value: Buffer | undefined): StoredObject | undefined {
    const known = this.#timeline.recall(version)
    if (known !== undefined || value === undefined) return known
    const { slot, revision } = version
    const object = {
      revision,
      resource: slot.resource,
      namespace: slot.namespace,
      name: slot.name,
      body: decodeRecord(revision, value).body,
    }
    this.#timeline.cache(object)
    return object
  }
}
