import type { Revision } from '../store-contract.ts'
import { bringLogsBack } from './kept-logs.ts'
import { formatKey } from './level-format.ts'
import { type Database, openDatabase, readStart, recordsFrom, repairDatabase } from './level-log.ts'
import { readReached } from './reached-file.ts'
import { decodeRecord, type LogRecord } from './record.ts'
import type { LogEntry } from './record-log.ts'

/** What can be read of a damaged store. */
export type Salvage = {
  /** The newest version of each object, by rising revision. */
  readonly objects: readonly LogEntry[]
  readonly records: number
  /** The newest revision that the store is known to have reached, and when about. */
  readonly newest: Revision
  readonly at: number
  /** Sentences. */
  readonly lost: readonly string[]
}

type Found = Pick<LogRecord, 'type' | 'at' | 'revision' | 'before'> & {
  readonly id: string
  readonly entry: LogEntry
}

/** Changes the files of the directory: give it a copy. Throws where there is nothing of a store. */
export async function salvage(directory: string): Promise<Salvage> {
  const reached = await readReached(directory).catch(() => undefined)
  await bringLogsBack(directory)
  await repairDatabase(directory)
  const db = openDatabase(directory)
  await db.open()
  try {
    const { found, unreadable } = await readAll(db)
    if (found.length === 0 && (await db.get(formatKey)) === undefined) {
      throw new Error('nothing in it is of a store')
    }
    const start = await readStart(db).catch(() => undefined)
    const newest = Math.max(reached ?? 0, start?.floor ?? 0, found.at(-1)?.revision ?? 0)
    return {
      objects: newestOf(found),
      records: found.length,
      newest,
      at: found.at(-1)?.at ?? 0,
      lost: [
        ...(unreadable === 0 ? [] : [`records that cannot be read: ${unreadable}`]),
        ...lostOld(found, start),
        ...lostChanges(found, start?.floor, newest),
      ],
    }
  } finally {
    await db.close()
  }
}

async function readAll(
  db: Database,
): Promise<{ readonly found: readonly Found[]; readonly unreadable: number }> {
  const found: Found[] = []
  let unreadable = 0
  try {
    for await (const entries of recordsFrom(db, 0)) {
      for (const entry of entries) {
        const record = decoded(entry)
        if (record === undefined) unreadable++
        else found.push(record)
      }
    }
  } catch {
    // What a table has behind a part that cannot be read.
    unreadable++
  }
  return { found, unreadable }
}

function decoded(entry: LogEntry): Found | undefined {
  try {
    const { type, at, revision, before, key } = decodeRecord(entry.revision, entry.value)
    return { type, at, revision, before, id: JSON.stringify([key.resource, key.namespace, key.name]), entry }
  } catch {
    return undefined
  }
}

function newestOf(found: readonly Found[]): readonly LogEntry[] {
  const byId = new Map(found.map(record => [record.id, record] as const))
  return [...byId.values()]
    .filter(({ type }) => type === 'PUT')
    .map(({ entry }) => entry)
    .sort((a, b) => a.revision - b.revision)
}

function lostOld(
  found: readonly Found[],
  start: { readonly floor: Revision; readonly live: number } | undefined,
): readonly string[] {
  if (start === undefined) return ['where the history begins; objects that were deleted long ago may be back']
  const there = found.filter(({ revision }) => revision <= start.floor).length
  if (there === start.live) return []
  return [`${start.live} objects were there at revision ${start.floor}, of which ${there} records are left`]
}

/** Each record names the one before it. */
function lostChanges(
  found: readonly Found[],
  floor: Revision | undefined,
  newest: Revision,
): readonly string[] {
  const lost: string[] = []
  let last = floor ?? found.at(-1)?.revision ?? 0
  for (const { revision, before } of found) {
    if (floor === undefined || revision <= floor) continue
    if (before > last) lost.push(`changes after revision ${last}, up to ${before}`)
    last = revision
  }
  if (newest > last) lost.push(`changes after revision ${last}, up to ${newest}`)
  return lost
}
