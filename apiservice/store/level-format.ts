import { type Database, putStart } from './level-log.ts'
import { damaged, StoreOpenError } from './open-error.ts'
import { readReached, writeReached } from './reached-file.ts'
import type { LogStart } from './record-log.ts'

export const formatKey = Buffer.from('m/format')

/**
 * How records, keys and files are laid out, and how bodies are encoded. A store with a higher number of either is refused.
 *
 * Format 2 has, beside what LevelDB keeps, the file that says how far the records reach.
 */
const format = 2
export const schema = 1

/** What each format lacks to be the next one. */
const upgrades: ReadonlyMap<number, (directory: string) => Promise<void>> = new Map([
  [1, directory => writeReached(directory, 0)],
])

/** Makes an empty database a store, and one of an older format one of this. Throws `StoreOpenError` for anything else. */
export async function readFormat(db: Database, directory: string): Promise<void> {
  const found = await findFormat(db, directory)
  if (found !== undefined) return upgrade(db, directory, found)
  if (((await readReached(directory)) ?? 0) > 0) throw damaged(directory, 'all of its records are missing')
  // Revision 0 means "any" to Kubernetes clients, so that even an empty store stands at 1.
  await establish(db, directory, { floor: 1, live: 0 })
}

/** Undefined in an empty database. Throws `StoreOpenError` where it is no store, or one that this release cannot read. */
export async function findFormat(db: Database, directory: string): Promise<number | undefined> {
  const value = await db.get(formatKey)
  if (value !== undefined) return formatIn(value, directory)
  for await (const _key of db.keys({ limit: 1 })) {
    const message = `the directory ${directory} holds a LevelDB database that is not an Isthmus store`
    throw new StoreOpenError(directory, 'foreign', message)
  }
  return undefined
}

/** Makes the database a store of this format; its records up to the floor are there already. */
export async function establish(db: Database, directory: string, start: LogStart): Promise<void> {
  await writeReached(directory, 0)
  await db.batch([putFormat(), putStart(start)], { sync: true })
}

async function upgrade(db: Database, directory: string, from: number): Promise<void> {
  for (let at = from; at < format; at++) await upgrades.get(at)?.(directory)
  if (from < format) await db.batch([putFormat()], { sync: true })
  if ((await readReached(directory)) === undefined) throw damaged(directory, 'its file REVISION is missing')
}

function putFormat(): { type: 'put'; key: Buffer; value: Buffer } {
  return { type: 'put', key: formatKey, value: Buffer.from(JSON.stringify({ format, schema })) }
}

function formatIn(value: Buffer, directory: string): number {
  let marker: unknown
  try {
    marker = JSON.parse(value.toString())
  } catch {
    // Said below.
  }
  const written = new Map<string, unknown>(Object.entries(Object(marker)))
  const [itsFormat, itsSchema] = [written.get('format'), written.get('schema')]
  if (typeof itsFormat !== 'number' || typeof itsSchema !== 'number') {
    throw damaged(directory, 'its format marker cannot be read')
  }
  if (itsFormat <= format && itsSchema <= schema) return itsFormat
  const message =
    `the store in ${directory} was written by a newer release ` +
    `(format ${itsFormat}, schema ${itsSchema}; this release knows format ${format}, schema ${schema})`
  throw new StoreOpenError(directory, 'newer', message)
}
