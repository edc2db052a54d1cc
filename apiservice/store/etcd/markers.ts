/** What a store in etcd says about itself: how it is laid out, and where its history begins. */
import type { Revision } from '../../store-contract.ts'
import { schema } from '../level-format.ts'
import { StoreOpenError } from '../open-error.ts'
import type { EtcdRequests } from './client.ts'
import type { EtcdLayout } from './layout.ts'
import type { KeyValue, TransactionAnswer } from './messages.ts'

/** How keys and values are laid out. A store with a higher number of this or of the schema is refused. */
const format = 2
/** What a store is that was made here and not brought here: releases that know no more open it too. */
const plainFormat = 1

/** Those of a store that come before its objects: `floor`, `format` and `last`. */
const firstKeys = 3

/** Where the history begins, and the change of the key that says so. */
export type FloorMark = { readonly floor: Revision; readonly changedAt: Revision }

type Parts = {
  readonly client: EtcdRequests
  readonly layout: EtcdLayout
  readonly place: string
  readonly shift: Revision
}

/** Undefined when nothing is below the prefix. Throws `StoreOpenError` where it is no store that can be read. */
export async function readMarkers(
  { client, layout, place, shift }: Parts,
  signal: AbortSignal,
): Promise<FloorMark | undefined> {
  // All as at one moment: another server may be making the store.
  const { items, count } = await client.range({ ...layout.all, limit: firstKeys }, signal)
  const marker = items.find(({ key }) => key.equals(layout.format))
  if (marker !== undefined) {
    requireKnown(marker.value, { place, shift })
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
        { put: layout.format, value: formatValue({ format: plainFormat }) },
        { put: layout.floor, value: floorValue(0) },
      ],
    },
    signal,
  )
}

/** Makes the prefix a store that nobody opens until it is complete. Throws when something is there. */
export async function beginMarkers(
  { client, layout, place }: Pick<Parts, 'client' | 'layout' | 'place'>,
  signal: AbortSignal,
): Promise<Revision> {
  const operations = [{ put: layout.format, value: formatValue({ format, isWhole: false }) }]
  const answer = await client.transact({ conditions: [{ ...layout.all, revision: 0 }], operations }, signal)
  if (answer.done) return answer.revision
  throw new Error(
    `something is below ${place} in etcd already: remove it, or choose another prefix with --etcd-prefix`,
  )
}

/** Now it is opened; `marked` is how it was begun. Answers the revision at which its history begins. */
export async function completeMarkers(
  { client, layout }: Pick<Parts, 'client' | 'layout'>,
  { marked, shift }: { readonly marked: Revision; readonly shift: Revision },
  signal: AbortSignal,
): Promise<Revision> {
  const value = formatValue(shift === 0 ? { format: plainFormat } : { format, shift })
  const operations = [
    { put: layout.format, value },
    { put: layout.floor, value: floorValue(0) },
  ]
  const conditions = [{ key: layout.format, revision: marked }]
  let answer: TransactionAnswer
  try {
    answer = await client.transact({ conditions, operations }, signal)
  } catch (thrown) {
    // Perhaps only the answer was lost.
    const [found] = (await client.range({ key: layout.format }, signal)).items
    if (found === undefined || !found.value.equals(value)) throw thrown
    return found.revision
  }
  if (!answer.done) throw new Error('somebody else has changed it')
  return answer.revision
}

/** By how much the revisions of a store are above those of etcd; 0 where there is none yet. */
export async function shiftOf(
  client: EtcdRequests,
  layout: EtcdLayout,
  place: string,
  signal: AbortSignal,
): Promise<Revision> {
  const [marker] = (await client.range({ key: layout.format }, signal)).items
  return marker === undefined ? 0 : shiftIn(marker.value, place)
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

function formatValue(own: {
  readonly format: number
  readonly shift?: Revision
  readonly isWhole?: boolean
}): Buffer {
  return Buffer.from(JSON.stringify({ schema, ...own }))
}

function floorValue(revision: Revision): Buffer {
  return Buffer.from(JSON.stringify({ revision }))
}

/** Throws `StoreOpenError` when it is not the store that this process can read and has read. */
export function requireKnown(marker: Buffer, { place, shift }: Pick<Parts, 'place' | 'shift'>): void {
  const found = shiftIn(marker, place)
  if (found === shift) return
  const message = `the store in ${place} is another one by now: start the server again`
  throw new StoreOpenError(place, 'foreign', message)
}

function shiftIn(marker: Buffer, place: string): Revision {
  const written = entriesOf(marker)
  const [itsFormat, itsSchema] = [Number(written.get('format')), Number(written.get('schema'))]
  if (!(itsFormat <= format && itsSchema <= schema)) throw newer(place, itsFormat, itsSchema)
  if (written.get('isWhole') === false) {
    const message = `the store in ${place} was not restored to its end: remove what is below its prefix, and restore it again`
    throw new StoreOpenError(place, 'corrupt', message)
  }
  return Number(written.get('shift') ?? 0)
}

function newer(place: string, itsFormat: number, itsSchema: number): StoreOpenError {
  const message =
    `the store in ${place} was written by a newer release ` +
    `(format ${itsFormat}, schema ${itsSchema}; this release knows format ${format}, schema ${schema})`
  return new StoreOpenError(place, 'newer', message)
}

function entriesOf(value: Buffer): ReadonlyMap<string, unknown> {
  try {
    return new Map<string, unknown>(Object.entries(Object(JSON.parse(value.toString()))))
  } catch {
    return new Map()
  }
}
