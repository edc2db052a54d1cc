import type { Logger } from '../../../src/kernel/log.ts'
import type { Revision } from '../../store-contract.ts'
import type { StoreSettings } from '../options.ts'
import type { EtcdRequests } from './client.ts'
import { GrpcError, grpcCode } from './grpc.ts'
import type { EtcdLayout } from './layout.ts'
import { type FloorMark, makeMarkers, moveFloor, readMarkers } from './markers.ts'
import type { KeyValue } from './messages.ts'
import { Replica } from './replica.ts'

export type LoadParts = {
  readonly client: EtcdRequests
  readonly layout: EtcdLayout
  /** What the store is called in sentences. */
  readonly place: string
  readonly settings: StoreSettings
  /** By how much its revisions are above those of etcd. */
  readonly shift: Revision
}

export type Loaded = { readonly replica: Replica; readonly mark: FloorMark }

/** Objects that one answer should hold, by their bytes. */
const pageBytes = 4 * 1024 * 1024
const firstPage = 100
const largestPage = 10_000

/** What is done where nothing is below the prefix. */
export type WhereEmpty = (parts: LoadParts, signal: AbortSignal) => Promise<void>

/** At the first start, that is a new store. */
export const isMade: WhereEmpty = ({ client, layout }, signal) => makeMarkers(client, layout, signal)

/** Later, it is a loss, and not for a server to make good: somebody may put it back. */
export const mustBeThere: WhereEmpty = ({ place }) =>
  Promise.reject(new Error(`etcd holds nothing below ${place} any more`))

/** Reads all objects as they were where the history begins; a watch from there tells the rest. */
export async function load(parts: LoadParts, signal: AbortSignal, whereEmpty: WhereEmpty): Promise<Loaded> {
  const { layout, settings } = parts
  let mark = await readMarkers(parts, signal)
  for (;;) {
    if (mark === undefined) await whereEmpty(parts, signal)
    else {
      const replica = new Replica(mark.floor, layout, settings)
      if (await readObjects(parts, replica, mark.floor, signal)) return { replica, mark }
      const raised = await raiseFloor(parts, mark, settings.log, signal)
      if (raised !== undefined) {
        mark = raised
        continue
      }
    }
    mark = await readMarkers(parts, signal)
  }
}

/** False when the revision is no longer there. */
export async function readObjects(
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
      limit = Math.min(2 * limit, fitting(page.items))
    } catch (thrown) {
      if (isCompacted(thrown)) return false
      limit = fewer(limit, thrown)
    }
  }
}

/** Of an etcd that was put back, the floor may also lie ahead. */
function isCompacted(thrown: unknown): boolean {
  const isOutside = thrown instanceof GrpcError && thrown.code === grpcCode.outOfRange
  return isOutside && thrown.message.includes('compacted')
}

/** How many to ask for when so many are late: larger objects may follow smaller ones. Throws other failures. */
function fewer(limit: number, thrown: unknown): number {
  const isLate = thrown instanceof GrpcError && thrown.code === grpcCode.deadlineExceeded
  if (!isLate || limit === 1) throw thrown
  return Math.ceil(limit / 2)
}

/** How many like these one answer should hold. */
function fitting(items: readonly KeyValue[]): number {
  const bytes = items.reduce((sum, { key, value }) => sum + key.length + value.length, 0)
  return Math.max(1, Math.min(largestPage, Math.floor((pageBytes * items.length) / (bytes + 1))))
}

/**
 * Somebody else has compacted etcd: the history begins where theirs does, for every server. Undefined when another
 * server was faster, or nothing could be learnt.
 */
async function raiseFloor(
  { client, layout }: LoadParts,
  mark: FloorMark,
  log: Logger,
  signal: AbortSignal,
): Promise<FloorMark | undefined> {
  const floor = await compactedTo(client, layout, mark.floor)
  if (floor === 0) return undefined
  log.warn('etcd was compacted by others', { floor: mark.floor, compacted: floor })
  try {
    return await moveFloor(client, layout, { ...mark, floor }, signal)
  } catch (thrown) {
    if (!(thrown instanceof GrpcError) || thrown.code !== grpcCode.resourceExhausted) throw thrown
    // A full etcd takes no mark; this server goes on without.
    return { ...mark, floor }
  }
}

/** Only the end of a watch from too early tells; 0 when it ended for another reason. */
function compactedTo(client: EtcdRequests, layout: EtcdLayout, from: Revision): Promise<Revision> {
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
