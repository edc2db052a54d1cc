/** Looks at, mends, saves and puts back the store of a server. */
import { createWriteStream } from 'node:fs'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type Backup, backupPath, encodeBackup } from '../../apiservice/store/backup.ts'
import { syncDirectory } from '../../apiservice/store/directory.ts'
import type { EtcdSettings } from '../../apiservice/store/etcd/open.ts'
import {
  backupIn,
  type Restored,
  repairStore,
  requireNothing,
  restoreStore,
  withStoreIn,
} from '../../apiservice/store/offline.ts'
import { StoreOpenError } from '../../apiservice/store/open-error.ts'
import { ClusterClient } from '../cluster/client.ts'
import { fromKubeconfig } from '../cluster/kubeconfig.ts'
import {
  authorityFilesIn,
  copySharedAuthority,
  type SharedAuthorityOptions,
} from '../identity/shared-authority.ts'
import { errorText, never } from '../kernel/abort.ts'
import { systemClock, toTime } from '../kernel/clock.ts'
import { silentLogger } from '../kernel/log.ts'
import { noMetrics } from '../kernel/metrics.ts'
import { databaseIn, etcdOfHome, requireDatabase } from './store-place.ts'
import { withAuthority, withoutAuthority } from './stored-authority.ts'

const unserved = { clock: systemClock, log: silentLogger, metrics: noMetrics }

const etcdKeepsItself = (): string => 'etcd itself knows whether it is whole'

/** Lines about a store that is whole; throws one sentence about another. */
export async function checkStore(home: string): Promise<readonly string[]> {
  await requireDatabase(home, etcdKeepsItself)
  return withStoreIn(databaseIn(home), unserved, async ({ store, format }) => {
    const { items, revision } = await store.snapshot()
    return [
      `the store in ${databaseIn(home)} is whole: ${items.length} objects at revision ${revision}, changes kept since revision ${store.oldest()}, format ${format}`,
    ]
  })
}

export async function repair(home: string, to: string): Promise<readonly string[]> {
  await requireDatabase(home, etcdKeepsItself)
  const { objects, records, revision, lost } = await repairStore(databaseIn(home), to, systemClock)
  return [
    `read ${records} records`,
    ...(lost.length === 0 ? ['nothing is known to be lost'] : lost.map(what => `lost: ${what}`)),
    `made a store of ${objects} objects in ${to}, which begins at revision ${revision}; to use it, put it in the place of ${databaseIn(home)}`,
  ]
}

export type BackupSource = {
  readonly home: string
  /** Read without a server; asked is one otherwise. */
  readonly etcd: EtcdSettings | undefined
  /** Of the server that is asked; unless told, that of the home while a server has its store. */
  readonly kubeconfig: string | undefined
  readonly context: string | undefined
}

export async function backUp(source: BackupSource, to: string): Promise<readonly string[]> {
  const part = `${to}.part`
  try {
    await writeBackup(source, part)
    const { entries, revision } = backupIn({ path: part, bytes: await readFile(part) })
    await rename(part, to)
    await syncDirectory(dirname(to))
    return [`saved ${entries.length} objects at revision ${revision} in ${to}`]
  } catch (thrown) {
    await rm(part, { force: true })
    throw thrown
  }
}

async function writeBackup({ home, etcd, kubeconfig, context }: BackupSource, part: string): Promise<void> {
  if (etcd !== undefined) {
    const { snapshotIn } = await import('../../apiservice/store/etcd/offline.ts')
    return write(encodeBackup(await snapshotIn({ ...unserved, etcd }), systemClock.now()), part)
  }
  if (kubeconfig !== undefined) return writeServed(kubeconfig, context, part)
  // What a server has in etcd it knows itself.
  if ((await etcdOfHome(home)) !== undefined) return writeServed(join(home, 'kubeconfig'), context, part)
  try {
    await withStoreIn(databaseIn(home), unserved, async ({ store }) => {
      await write(encodeBackup(await store.snapshot(), systemClock.now()), part)
    })
  } catch (thrown) {
    if (!(thrown instanceof StoreOpenError) || thrown.problem !== 'locked') throw thrown
    await writeServed(join(home, 'kubeconfig'), context, part)
  }
}

async function writeServed(path: string, context: string | undefined, part: string): Promise<void> {
  const from = { path, ...(context === undefined ? {} : { context }), clock: systemClock }
  const client = new ClusterClient({ ...(await fromKubeconfig(from)), name: 'server', clock: systemClock })
  try {
    await write(client.read(backupPath, never), part)
  } finally {
    client.close()
  }
}

async function write(pieces: Iterable<Buffer> | AsyncIterable<Buffer>, part: string): Promise<void> {
  await pipeline(pieces, createWriteStream(part, { mode: 0o600 }))
  const file = await open(part, 'r')
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}

export type RestoreTarget = { readonly home: string; readonly etcd: EtcdSettings | undefined }

type Made = Restored & { readonly isWithoutAuthority?: boolean }

export async function restore({ home, etcd }: RestoreTarget, from: string): Promise<readonly string[]> {
  const bytes = await readFile(from).catch((thrown: unknown) => {
    throw new Error(`the backup ${from} cannot be used: ${errorText(thrown)}`)
  })
  const backup = backupIn({ path: from, bytes })
  const place = etcd?.place ?? databaseIn(home)
  const { objects, revision, isWithoutAuthority } = await (etcd === undefined
    ? restoreHere(backup, home)
    : restoreThere(backup, home, etcd))
  return [
    `made a store of ${objects} objects in ${place}, as they were at ${toTime(backup.at)}; it begins at revision ${revision}`,
    ...(isWithoutAuthority === true
      ? [
          `there is no authority in ${authorityOf(home).folder}: the first server that starts makes a new one, which no certificate from before is good for; to bring one along, begin again with the --home that has it`,
        ]
      : []),
  ]
}

/** Of servers that shared a store, the home gets the authority. */
async function restoreHere(backup: Backup, home: string): Promise<Made> {
  await requireDatabase(home, note => `name that with --store, or remove ${note} to restore it in the home`)
  // What is refused has changed nothing.
  await requireNothing(resolve(databaseIn(home)))
  const { authority, entries } = withoutAuthority(backup.entries)
  if (authority !== undefined) await copySharedAuthority(authority, authorityOf(home))
  return restoreStore({ ...backup, entries }, databaseIn(home), systemClock)
}

/** What the home has of an authority is that of all servers from now on: it is there before the store is whole. */
async function restoreThere(backup: Backup, home: string, etcd: EtcdSettings): Promise<Made> {
  const { restoreInto } = await import('../../apiservice/store/etcd/offline.ts')
  const options = authorityOf(home)
  const own = await authorityFilesIn(options.folder)
  const { authority } = withoutAuthority(backup.entries)
  if (own !== undefined && authority !== undefined) await copySharedAuthority(authority, options)
  const isBrought = own !== undefined && authority === undefined
  const restored = await restoreInto({ ...unserved, etcd }, isBrought ? withAuthority(backup, own) : backup)
  return { ...restored, isWithoutAuthority: own === undefined && authority === undefined }
}

function authorityOf(home: string): SharedAuthorityOptions {
  return { folder: join(home, 'pki'), name: 'isthmus', clock: systemClock }
}
