import type { Logger } from '../../../src/kernel/log.ts'
import type { Revision } from '../../store-contract.ts'
import type { StoreSettings } from '../options.ts'
import type { EtcdClient } from './client.ts'
import { GrpcError, grpcCode } from './grpc.ts'
import type { EtcdLayout } from './layout.ts'
import { type FloorMark, moveFloor, readMarkers } from './markers.ts'
import type { KeyValue } from './messages.ts'
import { Replica } from './replica.ts'

export type LoadParts = {
  readonly client: EtcdClient
  readonly layout: EtcdLayout
  /** What the store is called in sentences. */
  readonly place: string
  readonly settings: StoreSettings
}

export type Loaded = { readonly replica: Replica; readonly mark: FloorMark }

/** Objects that one answer should hold, by their bytes. */
const pageBytes = 4 * 1024 * 1024
const firstPage = 100
const largestPage = 10_000

/** Reads all objects as they were where the history begins; a watch from there tells the rest. */
export async function load(parts: LoadParts, signal: AbortSignal): Promise<Loaded> {
  const { client, layout, place, settings } = parts
  for (;;) {
    const mark = await readMarkers(client, layout, place, signal)
    const replica = new Replica(mark.floor, layout, settings)
    if (await readObjects(parts, replica, mark.floor, signal)) return { replica, mark }
    await raiseFloor(parts, mark, settings.log, signal)
  }
}

/** False when the revision is no longer there. */
async function readObjects(
  { client, layout }: LoadParts,
  replica: Replica,
  revision: Revision,
  signal: AbortSignal,
): Promise<boolean> {
  let { key } = layout.objects
  let limit = firstPage
  for (;;) {
    try {
      const page = await client.range({ ...layout.objects, key, revision, limit }, signal)
      replica.restore(page.items)
      const last = page.items.at(-1)
      if (!page.hasMore || last === undefined) return true
      key = Buffer.concat([last.key, Buffer.alloc(1)])
      limit = nextLimit(page.items)
    } catch (thrown) {
      if (thrown instanceof GrpcError && thrown.code === grpcCode.outOfRange) return false
      throw thrown
    }
  }
}

function nextLimit(items: readonly KeyValue[]): number {
  const bytes = items.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  return Math.max(1, Math.min(largestPage, Math.floor((pageBytes * items.length) / (bytes + 1))))
}

/** Somebody else has compacted etcd: the history begins where theirs does, for every server. */
async function raiseFloor(
  { client, layout }: LoadParts,
  mark: FloorMark,
  log: Logger,
  signal: AbortSignal,
): Promise<void> {
  const floor = await compactedTo(client, layout, mark.floor)
  if (floor === 0) return
  log.warn('etcd was compacted by others', { floor: mark.floor, compacted: floor })
  await moveFloor(client, layout, { ...mark, floor }, signal)
}

/** Only the end of a watch from too early tells; 0 when it ended for another reason. */
function compactedTo(client: EtcdClient, layout: EtcdLayout, from: Revision): Promise<Revision> {
  return new Promise(resolve => {
    const watch = client.watch({ key: layout.format }, from, {
      answer: ({ created, compacted }) => {
        if (created && compacted === 0) return
        resolve(compacted)
        watch.cancel()
      },
      end: () => resolve(0),
    })
  })
}
