/** The authority that servers of one store share, as an object that no kind describes: no request can ask for it. */

import type { Backup } from '../../apiservice/store/backup.ts'
import type { EtcdSettings } from '../../apiservice/store/etcd/open.ts'
import { decodeRecord, encodeRecord } from '../../apiservice/store/record.ts'
import type { LogEntry } from '../../apiservice/store/record-log.ts'
import type { ObjectKey, Store, StoredObject, WriteResult } from '../../apiservice/store-contract.ts'
import { decodeBody, encodeBody } from '../codec/object-bytes.ts'
import {
  type AuthorityFiles,
  changeSharedAuthority,
  type SharedAuthorityOptions,
  type SharedFiles,
} from '../identity/shared-authority.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLogger } from '../kernel/log.ts'
import { noMetrics } from '../kernel/metrics.ts'

const key: ObjectKey = { resource: 'authorities.internal.isthmus.dev', namespace: '', name: 'authority' }
const header = { apiVersion: 'internal.isthmus.dev/v1', kind: 'Authority' }

export function storedAuthority(store: Pick<Store, 'get' | 'create' | 'update'>): SharedFiles {
  let last: StoredObject | undefined
  const seen = (stored: StoredObject | undefined): AuthorityFiles | undefined => {
    last = stored
    return stored && filesOf(stored)
  }
  return {
    read: async () => seen(await store.get(key)),
    offer: async files => {
      const result = await store.create(key, bodyOf(files))
      return seen(result.done ? result.object : result.current) ?? files
    },
    replace: async files => {
      const result: WriteResult = await store.update(key, last?.revision ?? 0, bodyOf(files))
      if (!result.done) throw new Error('another command has changed the authority meanwhile')
      last = result.object
    },
  }
}

/** A backup of servers that shared a store: their authority, and everything else. */
export function withoutAuthority(entries: readonly LogEntry[]): {
  readonly authority: Pick<SharedFiles, 'read' | 'offer'> | undefined
  readonly entries: readonly LogEntry[]
} {
  const isIt = ({ revision, value }: LogEntry): boolean =>
    decodeRecord(revision, value).key.resource === key.resource
  const found = entries.find(isIt)
  if (found === undefined) return { authority: undefined, entries }
  const { body } = decodeRecord(found.revision, found.value)
  const files = filesOf({ ...key, revision: found.revision, body })
  const read = async (): Promise<AuthorityFiles> => files
  return { authority: { read, offer: read }, entries: entries.filter(entry => !isIt(entry)) }
}

/** A backup of a single server as one of servers that share a store. */
export function withAuthority({ entries, revision, at }: Backup, files: AuthorityFiles): Backup {
  const value = encodeRecord({ type: 'PUT', at, revision, before: 0, previous: 0, key, body: bodyOf(files) })
  return { entries: [...entries, { revision, value }], revision, at }
}

/** Takes a step for all servers of an etcd. */
export async function withSharedAuthority<T>(
  etcd: EtcdSettings,
  options: SharedAuthorityOptions,
  step: () => Promise<T>,
): Promise<T> {
  const { openEtcdStore } = await import('../../apiservice/store/etcd/open.ts')
  const base = { clock: systemClock, log: silentLogger, metrics: noMetrics }
  const store = await openEtcdStore({ ...base, etcd })
  try {
    return await changeSharedAuthority(storedAuthority(store), options, step)
  } finally {
    await store.close()
  }
}

function bodyOf(files: AuthorityFiles): Buffer {
  return encodeBody({ ...header, metadata: { name: key.name }, data: files })
}

function filesOf(stored: StoredObject): AuthorityFiles {
  // It is written here and nowhere else.
  return Object(decodeBody(header.apiVersion, header.kind, stored)).data
}
