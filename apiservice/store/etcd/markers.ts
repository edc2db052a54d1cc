/** What a store in etcd says about itself: how it is laid out, and where its history begins. */
import type { Revision } from '../../store-contract.ts'
import { schema } from '../level-format.ts'
import { StoreOpenError } from '../open-error.ts'
import type { EtcdRequests } from './client.ts'
import type { EtcdLayout } from './layout.ts'
import type { KeyValue } from './messages.ts'

/** How keys and values are laid out. A store with a higher number of this or of the schema is refused. */
const format = 1

/** Those of a store that come before its objects: `floor`, `format` and `last`. */
const firstKeys = 3

/** Where the history begins, and the change of the key that says so. */
export type FloorMark = { readonly floor: Revision; readonly changedAt: Revision }

/** Undefined when nothing is below the prefix. Throws `StoreOpenError` where it is no store that can be read. */
export async function readMarkers(
  client: EtcdRequests,
  layout: EtcdLayout,
  place: string,
  signal: AbortSignal,
): Promise<FloorMark | undefined> {
  // All as at one moment: another server may be making the store.
  const { items, count } = await client.range({ ...layout.all, limit: firstKeys }, signal)
  const marker = items.find(({ key }) => key.equals(layout.format))
  if (marker !== undefined) {
    requireKnown(marker.value, place)
    return readFloor(client, layout, signal)
  }
  if (count === 0) return undefined
  const message = `etcd holds something else below ${place}: choose another prefix with --etcd-prefix`
  throw new StoreOpenError(place, 'foreign', message)
}

/** Makes the prefix a store. Whoever comes second finds the marker of the first. */
export async function makeMarkers(
  client: EtcdRequests,
  layout: EtcdLayout,
  signal: AbortSignal,
): Promise<void> {
  await client.transact(
    {
      conditions: [{ key: layout.format, revision: 0 }],
      operations: [
        { put: layout.format, value: Buffer.from(JSON.stringify({ format, schema })) },
        { put: layout.floor, value: floorValue(0) },
      ],
    },
    signal,
  )
}

/** Moves the floor unless another server has moved it in between; answers undefined then. */
export async function moveFloor(
  client: EtcdRequests,
  layout: EtcdLayout,
  { floor, changedAt }: FloorMark,
  signal: AbortSignal,
): Promise<FloorMark | undefined> {
  const answer = await client.transact(
    {
      conditions: [{ key: layout.floor, revision: changedAt }],
      operations: [{ put: layout.floor, value: floorValue(floor) }],
    },
    signal,
  )
  return answer.done ? { floor, changedAt: answer.revision } : undefined
}

export async function readFloor(
  client: EtcdRequests,
  layout: EtcdLayout,
  signal: AbortSignal,
): Promise<FloorMark> {
  const [mark] = (await client.range({ key: layout.floor }, signal)).items
  if (mark === undefined) throw new Error(`the key ${layout.floor} is missing in etcd`)
  return floorIn(mark)
}

/** A new store has nothing from before its own first revision. */
export function floorIn({ value, revision }: KeyValue): FloorMark {
  const floor = Number(entriesOf(value).get('revision'))
  if (!Number.isSafeInteger(floor)) throw new Error('where the history begins cannot be read in etcd')
  return { floor: floor === 0 ? revision : floor, changedAt: revision }
}

function floorValue(revision: Revision): Buffer {
  return Buffer.from(JSON.stringify({ revision }))
}

export function requireKnown(marker: Buffer, place: string): void {
  const written = entriesOf(marker)
  const [itsFormat, itsSchema] = [Number(written.get('format')), Number(written.get('schema'))]
  if (itsFormat <= format && itsSchema <= schema) return
  const message =
    `the store in ${place} was written by a newer release ` +
    `(format ${itsFormat}, schema ${itsSchema}; this release knows format ${format}, schema ${schema})`
  throw new StoreOpenError(place, 'newer', message)
}

function entriesOf(value: Buffer): ReadonlyMap<string, unknown> {
  try {
    return new Map<string, unknown>(Object.entries(Object(JSON.parse(value.toString()))))
  } catch {
    return new Map()
  }
}
