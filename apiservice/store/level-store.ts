import { mkdir, open, readdir } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { Level } from 'level'
import { errorText } from '../../src/kernel/abort.ts'
import type { Store } from '../store-contract.ts'
import { type Database, formatKey, LevelLog, putStart } from './level-log.ts'
import { StoreOpenError } from './open-error.ts'
import type { StoreOptions } from './options.ts'
import { DamagedRecord } from './record.ts'
import type { Log } from './record-log.ts'
import { openRevisionStore } from './revision-store.ts'

/** How records and keys are laid out, and how bodies are encoded. A store with a higher number of either is refused. */
const format = 1
const schema = 1
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
    if (thrown instanceof DamagedRecord) throw corrupt(path, thrown.message, thrown)
    throw thrown
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
    await readMarker(db, directory)
    return await LevelLog.of(db)
  } catch (thrown) {
    await db.close()
    throw thrown instanceof StoreOpenError ? thrown : corrupt(directory, errorText(thrown), thrown)
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
  const hasData = names.some(name => /\.(ldb|sst|log)$|^MANIFEST-/.test(name))
  if (hasData && !names.includes('CURRENT')) throw corrupt(directory, 'its file CURRENT is missing')
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

async function readMarker(db: Database, directory: string): Promise<void> {
  const value = await db.get(formatKey)
  if (value !== undefined) return checkMarker(value, directory)
  for await (const _key of db.keys({ limit: 1 })) {
    const message = `the directory ${directory} holds a LevelDB database that is not an Isthmus store`
    throw new StoreOpenError(directory, 'foreign', message)
  }
  const marker = Buffer.from(JSON.stringify({ format, schema }))
  // Revision 0 means "any" to Kubernetes clients, so that even an empty store stands at 1.
  const first = putStart({ floor: 1, live: 0 })
  await db.batch([{ type: 'put', key: formatKey, value: marker }, first], { sync: true })
}

function checkMarker(value: Buffer, directory: string): void {
  const marker: unknown = JSON.parse(value.toString())
  const written = new Map<string, unknown>(Object.entries(Object(marker)))
  const [itsFormat, itsSchema] = [written.get('format'), written.get('schema')]
  if (typeof itsFormat !== 'number' || typeof itsSchema !== 'number') {
    throw corrupt(directory, 'its format marker cannot be read')
  }
  if (itsFormat <= format && itsSchema <= schema) return
  const message =
    `the store in ${directory} was written by a newer release ` +
    `(format ${itsFormat}, schema ${itsSchema}; this release knows format ${format}, schema ${schema})`
  throw new StoreOpenError(directory, 'newer', message)
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
  if (code === 'LEVEL_CORRUPTION' || isFileMissing) return corrupt(directory, errorText(cause), thrown)
  const message = `the store in ${directory} cannot be opened: ${errorText(cause)}`
  return new StoreOpenError(directory, 'unwritable', message, thrown)
}

function corrupt(directory: string, why: string, cause?: unknown): StoreOpenError {
  const message = `the store in ${directory} is damaged and is left as it is: ${why}`
  return new StoreOpenError(directory, 'corrupt', message, cause)
}
