import { mkdir, open, readdir, readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { Level } from 'level'
import { errorText } from '../../src/kernel/abort.ts'
import type { Store } from '../store-contract.ts'
import { readFormat } from './level-format.ts'
import { type Database, LevelLog } from './level-log.ts'
import { damaged, StoreOpenError } from './open-error.ts'
import type { StoreOptions } from './options.ts'
import { DamagedRecord } from './record.ts'
import type { Log } from './record-log.ts'
import { openRevisionStore } from './revision-store.ts'

/** Bytes. Small, since what is current is in memory and older versions are seldom read. */
const cacheSize = 2 * 1024 * 1024

/**
 * Opens the store in a directory, which is made when it is not there. Throws `StoreOpenError` when the directory cannot
 * be written, is in use, holds something else, was written by a newer release, or lacks what was once answered.
 */
export async function openLevelStore(options: StoreOptions & { readonly directory: string }): Promise<Store> {
  const { directory, ...rest } = options
  const path = resolve(directory)
  try {
    return await openRevisionStore(() => openLevelLog(path), rest)
  } catch (thrown) {
    if (thrown instanceof StoreOpenError) throw thrown
    if (thrown instanceof DamagedRecord) throw damaged(path, thrown.message, thrown)
    throw openProblem(path, thrown)
  }
}

async function openLevelLog(directory: string): Promise<Log> {
  await prepare(directory)
  const db: Database = new Level(directory, { keyEncoding: 'buffer', valueEncoding: 'buffer', cacheSize })
  try {
    await db.open()
  } catch (thrown) {
    throw openProblem(directory, thrown)
  }
  try {
    await readFormat(db, directory)
    return await LevelLog.of(db)
  } catch (thrown) {
    await db.close()
    throw thrown instanceof StoreOpenError ? thrown : damaged(directory, errorText(thrown), thrown)
  }
}

/** LevelDB makes a new database where CURRENT is missing, even between the files of an old one. */
async function prepare(directory: string): Promise<void> {
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

/** Not by mkdir's own recursion, which never ends where a parent takes no directories (/proc). */
async function makeDirectory(directory: string): Promise<void> {
  const made = await makeOne(directory)
  if (made !== 'no parent') return
  await makeDirectory(dirname(directory))
  if ((await makeOne(directory)) === 'no parent')
    throw new Error(`no directory can be made in ${dirname(directory)}`)
}

async function makeOne(directory: string): Promise<'made' | 'there' | 'no parent'> {
  try {
    await mkdir(directory, { mode: 0o700 })
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
    if (code === 'EEXIST') return 'there'
    if (code === 'ENOENT') return 'no parent'
    throw thrown
  }
  // A new directory survives a crash only once the one that holds it is synced.
  const parent = await open(dirname(directory), 'r')
  try {
    await parent.sync()
  } finally {
    await parent.close()
  }
  return 'made'
}

function openProblem(directory: string, thrown: unknown): StoreOpenError {
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'LEVEL_LOCKED') {
    return new StoreOpenError(
      directory,
      'locked',
      `the store in ${directory} is in use by another process`,
      thrown,
    )
  }
  const isFileMissing = /no such file/i.test(errorText(cause))
  if (code === 'LEVEL_CORRUPTION' || isFileMissing) return damaged(directory, errorText(cause), thrown)
  const message = `the store in ${directory} cannot be opened: ${errorText(cause)}`
  return new StoreOpenError(directory, 'unwritable', message, thrown)
}
