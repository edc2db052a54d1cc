/**
 * Lists as gzip, put together from runs of items that are compressed once for as long as none of them changes. Clients
 * written in Go take gzip unless they are told not to, and so does an aggregator for those who do not: compressing was
 * most of what a long list costs.
 */
import type { StoredObject } from '../store-contract.ts'
import { ByteWriter } from './bytes.ts'
import { GzipStream, gzipPart } from './gzip.ts'
import { KeptRuns, type Place, type Run } from './kept-runs.ts'
import { type Items, jsonEnd } from './list-slices.ts'

/** Over all shapes. */
const kept = new KeptRuns(16 * 1024 * 1024)

/** So much is sent at once, or compressed before others have their turn. */
const sliceBytes = 64 * 1024
const turnBytes = 256 * 1024
const maxRunBytes = 128 * 1024

/** The end of a list or page cuts its last run: what it left is not taken for good. */
const shortBytes = 16 * 1024

/** Where a run is written before it is compressed. */
const room = Buffer.allocUnsafeSlow(2 * maxRunBytes)

const comma = Buffer.from(',')

/** Slices that stay good, and the length of the list without compression. */
export function* zippedJson(list: Items): Generator<Buffer, number> {
  const stream = new GzipStream()
  const place = new WeakRef(list.items)
  stream.bytes(Buffer.from(list.head))
  let compressed = 0
  for (let from = 0; from < list.items.length; ) {
    if (from > 0) stream.bytes(comma)
    const known = remembered(list, from)
    const run = known ?? compressedRun(list, from, endOfRun(list.items, from))
    if (known === undefined) compressed += run.part.length
    stream.part(run.part)
    run.place = { list: place, from }
    from += run.keys.length
    if (stream.size < sliceBytes && compressed < turnBytes) continue
    yield stream.take()
    compressed = 0
  }
  stream.bytes(Buffer.from(jsonEnd))
  stream.end()
  yield stream.take()
  return stream.length
}

/** A version ends its run by itself, so that a change of the list leaves the runs before and behind as they are. */
function endOfRun(items: readonly StoredObject[], from: number): number {
  let bytes = 0
  for (let at = from; at < items.length; at++) {
    const item = items[at]
    if (item === undefined) break
    bytes += item.body.length
    if (bytes >= maxRunBytes || Math.imul(item.revision, golden) >>> 26 === 0) return at + 1
  }
  return items.length
}

/** Spreads numbers that follow each other: one in 64 ends a run. */
const golden = 0x9e3779b1

function remembered({ items, form }: Items, from: number): Run | undefined {
  const first = items[from]
  const nowMs = form.time?.nowMs ?? 0
  const run = first && kept.get(form.shape, first)
  if (run === undefined || nowMs < run.fromMs || nowMs >= run.untilMs) return undefined
  if (isAt(run.place, items, from)) return run
  if (run.part.length < shortBytes && run.keys.length !== endOfRun(items, from) - from) return undefined
  return run.keys.every((key, index) => isVersion(items[from + index], key)) ? run : undefined
}

function isAt(place: Place | undefined, items: readonly StoredObject[], from: number): boolean {
  return place?.from === from && place.list.deref() === items
}

function isVersion(
  object: StoredObject | undefined,
  { revision, namespace, name }: Run['keys'][number],
): boolean {
  return object?.revision === revision && object.name === name && object.namespace === namespace
}

function compressedRun(list: Items, from: number, to: number): Run {
  const { write, shape, time } = list.form
  const items = list.items.slice(from, to)
  const writer = new ByteWriter(room)
  let untilMs = Number.POSITIVE_INFINITY
  for (const [index, item] of items.entries()) {
    if (index > 0) writer.ascii(',')
    write(writer, item)
    untilMs = Math.min(untilMs, time?.changesAt(item) ?? Number.POSITIVE_INFINITY)
  }
  const part = gzipPart(writer.written())
  const keys = items.map(({ revision, namespace, name }) => ({ revision, namespace, name }))
  const run: Run = { keys, part, fromMs: time?.nowMs ?? 0, untilMs, place: undefined }
  const [first] = items
  if (first !== undefined) kept.keep(shape, first, run)
  return run
}
