/** What can be done with the directory of a store that no server uses. Nothing of it is changed. */
import { readdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import { isMissing } from '../../src/kernel/errors.ts'
import type { Revision, Store } from '../store-contract.ts'
import { type Backup, decodeBackup } from './backup.ts'
import { buildStore, revisionAfter } from './build-store.ts'
import { findFormat } from './level-format.ts'
import { logOf, prepare, storeOn } from './level-store.ts'
import { damaged, StoreOpenError } from './open-error.ts'
import type { StoreOptions } from './options.ts'
import { readReached } from './reached-file.ts'
import { salvage } from './salvage.ts'
import { withCopy } from './working-copy.ts'

export type CheckedStore = { readonly store: Store; readonly format: number }

/** Opens what is in a directory as a server would. Throws `StoreOpenError` when it is not whole. */
export async function withStoreIn<T>(
  directory: string,
  options: StoreOptions,
  use: (checked: CheckedStore) => Promise<T>,
): Promise<T> {
  const path = resolve(directory)
  await requireStore(path)
  return withCopy(path, async copy => {
    try {
      return await open(copy, options, use)
    } catch (thrown) {
      throw thrown instanceof StoreOpenError ? ofOriginal(thrown, copy, path) : thrown
    }
  })
}

async function open<T>(
  copy: string,
  options: StoreOptions,
  use: (checked: CheckedStore) => Promise<T>,
): Promise<T> {
  let format = 0
  await prepare(copy)
  const log = await logOf(copy, async db => {
    const found = await findFormat(db, copy)
    if (found === undefined) throw damaged(copy, 'all of its records are missing')
    if (found > 1 && (await readReached(copy)) === undefined)
      throw damaged(copy, 'its file REVISION is missing')
    format = found
  })
  const store = await storeOn(copy, async () => log, options)
  try {
    return await use({ store, format })
  } finally {
    await store.close()
  }
}

export type Repaired = {
  readonly records: number
  readonly objects: number
  /** Where the new store begins. */
  readonly revision: number
  readonly lost: readonly string[]
}

/** Makes a new store of what can be read of a damaged one. Throws one sentence when it cannot. */
export async function repairStore(directory: string, to: string, clock: Clock): Promise<Repaired> {
  const [path, target] = [resolve(directory), resolve(to)]
  await requireStore(path)
  await requireNothing(target)
  return withCopy(path, async copy => {
    try {
      const { objects, records, newest, at, lost } = await salvage(copy)
      const revision = revisionAfter(newest, at, clock.now())
      await buildStore(target, objects, revision)
      return { objects: objects.length, records, revision, lost }
    } catch (thrown) {
      throw new Error(`the store in ${path} cannot be repaired: ${errorText(thrown).replaceAll(copy, path)}`)
    }
  })
}

export type Restored = { readonly objects: number; readonly revision: Revision }

/** Makes a store of a backup. Throws one sentence when it cannot. */
export async function restoreStore(backup: Backup, to: string, clock: Clock): Promise<Restored> {
  const target = resolve(to)
  await requireNothing(target)
  const revision = revisionAfter(backup.revision, backup.at, clock.now())
  await buildStore(target, backup.entries, revision)
  return { objects: backup.entries.length, revision }
}

/** Throws one sentence when it is none, or not all of it. */
export function backupIn({ path, bytes }: { readonly path: string; readonly bytes: Buffer }): Backup {
  try {
    return decodeBackup(bytes)
  } catch (thrown) {
    throw new Error(`the backup ${path} cannot be used: ${errorText(thrown)}`)
  }
}

async function requireStore(path: string): Promise<void> {
  const names = await namesIn(path)
  if (names.some(name => /\.(ldb|sst|log)$|^(MANIFEST-\d+|CURRENT|REVISION)$/.test(name))) return
  throw new Error(`there is no store in ${path}`)
}

/** Throws one sentence when something is there. */
export async function requireNothing(path: string): Promise<void> {
  if ((await namesIn(path)).length === 0) return
  throw new Error(`${path} is there already: move it away`)
}

async function namesIn(path: string): Promise<readonly string[]> {
  try {
    return await readdir(path)
  } catch (thrown) {
    if (isMissing(thrown)) return []
    throw new Error(`the store directory ${path} cannot be used: ${errorText(thrown)}`)
  }
}

function ofOriginal(error: StoreOpenError, copy: string, path: string): StoreOpenError {
  return new StoreOpenError(path, error.problem, error.message.replaceAll(copy, path), error)
}
