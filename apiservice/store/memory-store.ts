import type { Revision, Store } from '../store-contract.ts'
import type { StoreOptions } from './options.ts'
import type { Log, LogBatch, LogEntry, LogStart } from './record-log.ts'
import { openRevisionStore } from './revision-store.ts'

/** What a memory log lies on: survives its logs, as a directory survives a process. */
export class MemoryDisk {
  readonly records = new Map<Revision, Buffer>()
  start: LogStart = { floor: 1, live: 0 }
  reached: Revision = 0

  open(): Log {
    return new MemoryLog(this)
  }
}

const scanStep = 1000

class MemoryLog implements Log {
  readonly start: LogStart
  readonly reached: Revision
  readonly #disk: MemoryDisk

  constructor(disk: MemoryDisk) {
    this.#disk = disk
    this.start = disk.start
    this.reached = disk.reached
  }

  async write(batch: LogBatch): Promise<void> {
    const { records } = this.#disk
    for (const { revision, value } of batch.append) records.set(revision, value)
    for (const revision of batch.drop) records.delete(revision)
    if (batch.start !== undefined) this.#disk.start = batch.start
  }

  async read(revisions: readonly Revision[]): Promise<(Buffer | undefined)[]> {
    return revisions.map(revision => this.#disk.records.get(revision))
  }

  async *scan(after: Revision): AsyncIterable<readonly LogEntry[]> {
    // Revisions are appended in rising order, which is the order of a Map.
    let bunch: LogEntry[] = []
    for (const [revision, value] of this.#disk.records) {
      if (revision > after) bunch.push({ revision, value })
      if (bunch.length < scanStep) continue
      yield bunch
      bunch = []
    }
    yield bunch
  }

  async noteReached(revision: Revision): Promise<void> {
    this.#disk.reached = revision
  }

  async close(): Promise<void> {
    // Nothing is held.
  }
}

/** A store that lives as long as its disk: for tests, and for servers that may forget. Everything else is as on LevelDB. */
export function openMemoryStore(options: StoreOptions & { readonly disk?: MemoryDisk }): Promise<Store> {
  const { disk = new MemoryDisk(), ...rest } = options
  return openRevisionStore(async () => disk.open(), rest)
}
