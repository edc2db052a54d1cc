import { rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Revision } from '../store-contract.ts'
import { makeDirectory, syncDirectory } from './directory.ts'
import { establish } from './level-format.ts'
import { openDatabase, recordKey } from './level-log.ts'
import type { LogEntry } from './record-log.ts'

const entriesAtOnce = 1000

/**
 * Makes a store of the objects in `entries`, none of which has a history: it begins at `floor`. Whatever interrupts it,
 * the directory is there with everything in it or is not there.
 */
export async function buildStore(
  directory: string,
  entries: readonly LogEntry[],
  floor: Revision,
): Promise<void> {
  const parts = `${directory}.parts`
  await rm(parts, { recursive: true, force: true })
  await makeDirectory(parts)
  const db = openDatabase(parts)
  try {
    await db.open()
    for (let from = 0; from < entries.length; from += entriesAtOnce) {
      const some = entries.slice(from, from + entriesAtOnce)
      await db.batch(
        some.map(({ revision, value }) => ({ type: 'put' as const, key: recordKey(revision), value })),
        // Each: LevelDB closes a full log without a sync, and a later one does not reach it.
        { sync: true },
      )
    }
    await establish(db, parts, { floor, live: entries.length })
  } finally {
    await db.close()
  }
  await rename(parts, directory)
  await syncDirectory(dirname(directory))
}

/** More than the fastest of our stores has ever written. */
const changesPerMs = 100
const leastJump = 1_000_000

/**
 * Where a store goes on that is put back to an earlier state: above every revision that may have been given out since, so
 * that none is given out twice and watches from there are told to list again.
 */
export function revisionAfter(newest: Revision, at: number, now: number): Revision {
  return newest + leastJump + Math.max(0, now - at) * changesPerMs
}
