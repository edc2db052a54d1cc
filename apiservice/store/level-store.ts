import { readdir, readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { errorText } from '../../src/kernel/abort.ts'
import type { Store } from '../store-contract.ts'
import { makeDirectory } from './directory.ts'
import { forgetLogs, keepLogs } from './kept-logs.ts'
import { readFormat } from './level-format.ts'
import { type Database, LevelLog, openDatabase } from './level-log.ts'
import { damaged, openProblem, StoreOpenError } from './open-error.ts'
import type { StoreOptions } from './options.ts'
import { DamagedRecord } from './record.ts'
import type { Log } from './record-log.ts'
import { openRevisionStore } from './revision-store.ts'

/**
 * Opens the store in a directory, which is made when it is not there. Throws `StoreOpenError` when the directory cannot
 * be written, is in use, holds something else, was written by a newer release, or lacks what was once answered.
 */
export async function openLevelStore(options: StoreOptions & { readonly directory: string }): Promise<Store> {
  const { directory, ...rest } = options
  const path = resolve(directory)
  const forget = (): Promise<void> => forgetLogs(path)
  const store = await storeOn(path, () => openKeepingLogs(path), { ...rest, onWhole: forget })
  await forget()
  return store
}

async function openKeepingLogs(path: string): Promise<Log> {
  const kept = await keepLogs(path)
  try {
    return await openLevelLog(path)
  } catch (thrown) {
    // They are those of another process, which lives on.
    if (thrown instanceof StoreOpenError && thrown.problem === 'locked') await kept.forget()
    throw thrown
  }
}

/** A store on a log of a directory; what keeps it from opening is a `StoreOpenError`. */
export async function storeOn(
  path: string,
  openLog: () => Promise<Log>,
  options: StoreOptions,
): Promise<Store> {
  try {
    return await openRevisionStore(openLog, options)
  } catch (thrown) {
    if (thrown instanceof StoreOpenError) throw thrown
    if (thrown instanceof DamagedRecord) throw damaged(path, thrown.message, thrown)
    throw openProblem(path, thrown)
  }
}

async function openLevelLog(directory: string): Promise<Log> {
  await prepare(directory)
  return logOf(directory, async db => {
    await readFormat(db, directory)
  })
}

/** `look` finds out whether the database is a store, or makes it one. */
export async function logOf(directory: string, look: (db: Database) => Promise<void>): Promise<Log> {
  const db = openDatabase(directory)
  try {
    await db.open()
  } catch (thrown) {
    throw openProblem(directory, thrown)
  }
  try {
    await look(db)
    return await LevelLog.of(db)
  } catch (thrown) {
    await db.close()
    throw thrown instanceof StoreOpenError ? thrown : damaged(directory, errorText(thrown), thrown)
  }
}

/** LevelDB makes a new database where CURRENT is missing, even between the files of an old one. */
export async function prepare(directory: string): Promise<void> {
  let names: string[]
  try {
    await makeDirectory(directory)
    names = await readdir(directory)
  } catch (thrown) {
    const message = `the store directory ${directory} cannot be used: ${errorText(thrown)}`
    throw new StoreOpenError(directory, 'unwritable', message, thrown)
  }
  // The very first start may be killed before there is a CURRENT, behind nothing but the first MANIFEST.
  const hasData = names.some(name => /\.(ldb|sst|log)$|^MANIFEST-(?!000001$)|^REVISION$/.test(name))
  if (hasData && !names.includes('CURRENT')) throw damaged(directory, 'its file CURRENT is missing')
  if (names.includes('CURRENT')) await checkCurrent(directory)
}

async function checkCurrent(directory: string): Promise<void> {
  const current = await readFile(join(directory, 'CURRENT'), 'utf8')
  if (!/^MANIFEST-\d+\n$/.test(current)) throw damaged(directory, 'its file CURRENT names no MANIFEST')
}
