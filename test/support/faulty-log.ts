import { MemoryDisk } from '../../apiservice/store/memory-store.ts'
import type { Log, LogBatch, LogEntry, LogStart } from '../../apiservice/store/record-log.ts'
import type { Revision } from '../../apiservice/store-contract.ts'

export type Fault = 'before' | 'after'

/** A disk whose logs fail, wait and lose data when a test says so. */
export class FaultyDisk {
  readonly disk = new MemoryDisk()
  /** Batches that were asked for, whether they failed or not. */
  readonly batches: LogBatch[] = []
  /** Fails the next writes, before or after they have reached the disk. */
  readonly writeFaults: Fault[] = []
  /** While set, opening and reading fail with it. */
  offline: Error | undefined
  opened = 0
  #gate: Promise<void> | undefined
  #openGate: (() => void) | undefined
  readonly #arrivals: (() => void)[] = []

  readonly open = async (): Promise<Log> => {
    if (this.offline !== undefined) throw this.offline
    this.opened++
    return new FaultyLog(this, this.disk.open())
  }

  /** Makes writes and reads wait until `release`. */
  hold(): void {
    this.#gate ??= new Promise(resolve => {
      this.#openGate = resolve
    })
  }

  release(): void {
    this.#gate = undefined
    this.#openGate?.()
  }

  /** Waits as long as the disk is held. */
  async passed(): Promise<void> {
    await this.#gate
  }

  /** Resolves when the log has been asked for `count` batches in all. */
  async arrived(count: number): Promise<void> {
    while (this.batches.length < count) await new Promise<void>(resolve => this.#arrivals.push(resolve))
  }

  async admit(batch: LogBatch): Promise<Fault | undefined> {
    this.batches.push(batch)
    for (const resolve of this.#arrivals.splice(0)) resolve()
    await this.passed()
    return this.writeFaults.shift()
  }
}

class FaultyLog implements Log {
  readonly start: LogStart
  readonly reached: Revision
  readonly #faulty: FaultyDisk
  readonly #log: Log
  #isClosed: boolean = false

  constructor(faulty: FaultyDisk, log: Log) {
    this.#faulty = faulty
    this.#log = log
    this.start = log.start
    this.reached = log.reached
  }

  async write(batch: LogBatch): Promise<void> {
    this.#mustBeOpen()
    const fault = await this.#faulty.admit(batch)
    if (fault === 'before') throw new Error('the disk failed before the write')
    await this.#log.write(batch)
    if (fault === 'after') throw new Error('the disk failed after the write')
  }

  async read(revisions: readonly Revision[]): Promise<(Buffer | undefined)[]> {
    this.#mustBeOpen()
    await this.#faulty.passed()
    if (this.#faulty.offline !== undefined) throw this.#faulty.offline
    return this.#log.read(revisions)
  }

  scan(after: Revision): AsyncIterable<readonly LogEntry[]> {
    this.#mustBeOpen()
    return this.#log.scan(after)
  }

  async noteReached(revision: Revision): Promise<void> {
    this.#mustBeOpen()
    await this.#faulty.passed()
    if (this.#faulty.offline !== undefined) throw this.#faulty.offline
    await this.#log.noteReached(revision)
  }

  async close(): Promise<void> {
    this.#isClosed = true
  }

  #mustBeOpen(): void {
    if (this.#isClosed) throw new Error('the log is closed')
  }
}
