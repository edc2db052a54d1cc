import { Level } from 'level'
import type { Revision } from '../store-contract.ts'
import { ReachedFile } from './reached-file.ts'
import type { Log, LogBatch, LogEntry, LogStart } from './record-log.ts'

export type Database = Level<Buffer, Buffer>

/** `m` and a name: what the store says about itself. `r` and eight bytes: the record of a revision. */
const startKey = Buffer.from('m/start')
const recordPrefix = 0x72
const recordsEnd = Buffer.from([recordPrefix + 1])

const scanEntries = 1000
const scanBytes = 1024 * 1024

/** Bytes. Small, since what is current is in memory and older versions are seldom read. */
const cacheSize = 2 * 1024 * 1024

export function openDatabase(directory: string): Database {
  return new Level(directory, { keyEncoding: 'buffer', valueEncoding: 'buffer', cacheSize })
}

/** LevelDB's own: gathers what it can read of all files, and puts the others aside in `lost/`. */
export async function repairDatabase(directory: string): Promise<void> {
  // The types are those of every platform, of which only LevelDB's has it.
  const repair: unknown = Reflect.get(Level, 'repair')
  if (typeof repair !== 'function') throw new Error('LevelDB cannot repair')
  await Reflect.apply(repair, Level, [directory])
}

/** A log in LevelDB. Records are written in the order of their keys, so that its compactions have little to move. */
export class LevelLog implements Log {
  readonly start: LogStart
  readonly reached: Revision
  readonly #db: Database
  readonly #reachedFile: ReachedFile

  private constructor(db: Database, start: LogStart, reachedFile: ReachedFile) {
    this.#db = db
    this.start = start
    this.reached = reachedFile.atOpen
    this.#reachedFile = reachedFile
  }

  static async of(db: Database): Promise<LevelLog> {
    return new LevelLog(db, await readStart(db), await ReachedFile.open(db.location))
  }

  async write(batch: LogBatch): Promise<void> {
    const operations = [
      ...batch.append.map(({ revision, value }) => ({
        type: 'put' as const,
        key: recordKey(revision),
        value,
      })),
      ...batch.drop.map(revision => ({ type: 'del' as const, key: recordKey(revision) })),
      ...(batch.start === undefined ? [] : [putStart(batch.start)]),
    ]
    // Drops alone, too: LevelDB closes a full write-ahead log without a sync, and what comes next may rely on them.
    await this.#db.batch(operations, { sync: true })
    const last = batch.append.at(-1)
    if (last !== undefined) this.#reachedFile.note(last.revision)
  }

  read(revisions: readonly Revision[]): Promise<(Buffer | undefined)[]> {
    return this.#db.getMany(revisions.map(recordKey))
  }

  scan(after: Revision): AsyncIterable<readonly LogEntry[]> {
    return recordsFrom(this.#db, after)
  }

  noteReached(revision: Revision): Promise<void> {
    return this.#reachedFile.sync(revision)
  }

  async close(): Promise<void> {
    try {
      await this.#reachedFile.close()
    } finally {
      await this.#db.close()
    }
  }
}

/** All records after a revision in rising order, in bunches. */
export async function* recordsFrom(db: Database, after: Revision): AsyncIterable<readonly LogEntry[]> {
  const range = { gt: recordKey(after), lt: recordsEnd, highWaterMarkBytes: scanBytes, fillCache: false }
  const iterator = db.iterator(range)
  try {
    for (;;) {
      const entries = await iterator.nextv(scanEntries)
      if (entries.length === 0) return
      yield entries.map(([key, value]) => ({ revision: revisionOf(key), value }))
    }
  } finally {
    await iterator.close()
  }
}

export function putStart(start: LogStart): { type: 'put'; key: Buffer; value: Buffer } {
  return { type: 'put', key: startKey, value: Buffer.from(JSON.stringify(start)) }
}

export async function readStart(db: Database): Promise<LogStart> {
  const value = await db.get(startKey)
  const start: unknown = JSON.parse(value?.toString() ?? 'null')
  if (typeof start !== 'object' || start === null || !('floor' in start) || !('live' in start)) {
    throw new Error('it does not say where its history begins')
  }
  return { floor: Number(start.floor), live: Number(start.live) }
}

/** Big endian, so that the order of keys is the order of revisions. */
export function recordKey(revision: Revision): Buffer {
  const key = Buffer.allocUnsafe(9)
  key[0] = recordPrefix
  key.writeUInt32BE(Math.floor(revision / 0x1_0000_0000), 1)
  key.writeUInt32BE(revision % 0x1_0000_0000, 5)
  return key
}

function revisionOf(key: Buffer): Revision {
  return key.readUInt32BE(1) * 0x1_0000_0000 + key.readUInt32BE(5)
}
