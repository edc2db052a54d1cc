/** What can be done with a store in etcd without a server: all of it saved, and all of it put into an empty prefix. */
import { errorText, never } from '../../../src/kernel/abort.ts'
import { systemClock } from '../../../src/kernel/clock.ts'
import type { Revision } from '../../store-contract.ts'
import type { Backup, Snapshot } from '../backup.ts'
import { revisionAfter } from '../build-store.ts'
import type { Restored } from '../offline.ts'
import { type StoreOptions, withDefaults } from '../options.ts'
import { decodeRecord, type LogRecord } from '../record.ts'
import { EtcdClient, type EtcdRequests } from './client.ts'
import { EtcdLayout, encodeValue } from './layout.ts'
import { type LoadParts, readObjects } from './loading.ts'
import { beginMarkers, completeMarkers, readMarkers, shiftOf } from './markers.ts'
import type { EtcdSettings } from './open.ts'
import { Replica } from './replica.ts'
import { ShiftedEtcd } from './shifted.ts'
import { maxBodyBytes } from './writes.ts'

export type EtcdAccess = StoreOptions & { readonly etcd: EtcdSettings }

/** Objects on the way to etcd at once, each in a transaction of its own: no two have the same revision. */
const atOnce = 64

/** Everything at one revision. Throws one sentence when there is no whole store. */
export function snapshotIn(access: EtcdAccess): Promise<Snapshot> {
  return withParts(access, async unshifted => {
    const { client: etcd, layout, place, settings } = unshifted
    const shift = await shiftOf(etcd, layout, place, never)
    const client = new ShiftedEtcd(etcd, shift)
    const parts = { ...unshifted, client, shift }
    for (;;) {
      if ((await readMarkers(parts, never)) === undefined) throw new Error(`there is no store in ${place}`)
      const { newest } = await client.range({ key: layout.format, countOnly: true }, never)
      const replica = new Replica(newest, layout, settings)
      // Unless it was compacted meanwhile.
      if (await readObjects(parts, replica, newest, never)) return replica.reads.all()
    }
  })
}

/**
 * Makes a store of a backup where nothing is below the prefix; its revisions go on above all that may have been given out
 * elsewhere. What is broken off half way, no server opens. Throws one sentence when it cannot.
 */
export function restoreInto(access: EtcdAccess, { entries, revision, at }: Backup): Promise<Restored> {
  const objects = entries.map(entry => decodeRecord(entry.revision, entry.value))
  const large = objects.find(({ body }) => body.length > maxBodyBytes)
  if (large !== undefined)
    throw new Error(`${nameOf(large)} is larger than etcd takes: ${large.body.length} bytes`)
  return withParts(access, async parts => {
    const { client, layout, place, settings } = parts
    const { newest } = await client.range({ key: layout.format, countOnly: true }, never)
    const shift = Math.max(0, revisionAfter(revision, at, settings.clock.now()) - newest)
    const marked = await beginMarkers(parts, never)
    try {
      await putAll(parts, objects, marked)
      const made = await completeMarkers(parts, { marked, shift }, never)
      return { objects: objects.length, revision: made + shift }
    } catch (thrown) {
      throw new Error(
        `the store in ${place} is not whole, since this was broken off: ${errorText(thrown)}; remove what is below its prefix and begin again`,
      )
    }
  })
}

async function withParts<T>(
  { etcd, ...options }: EtcdAccess,
  use: (parts: LoadParts) => Promise<T>,
): Promise<T> {
  const settings = withDefaults(options)
  const { log, metrics } = settings
  const client = new EtcdClient({ clock: systemClock, ...etcd, log, metrics })
  try {
    await client.requireSound()
    return await use({ client, layout: new EtcdLayout(etcd.prefix), place: etcd.place, settings, shift: 0 })
  } finally {
    client.close()
  }
}

async function putAll(
  { client, layout }: { readonly client: EtcdRequests; readonly layout: EtcdLayout },
  objects: readonly LogRecord[],
  marked: Revision,
): Promise<void> {
  const conditions = [{ key: layout.format, revision: marked }]
  const rest = objects.values()
  const put = async (): Promise<void> => {
    for (const { key, at, body } of rest) {
      const operations = [{ put: layout.keyOf(key), value: encodeValue({ at, body }) }]
      const { done } = await client.transact({ conditions, operations }, never)
      if (!done) throw new Error('somebody else has changed it')
    }
  }
  await Promise.all(Array.from({ length: atOnce }, put))
}

function nameOf({ key: { resource, namespace, name } }: LogRecord): string {
  return `${resource} ${namespace === '' ? '' : `${namespace}/`}${name}`
}
