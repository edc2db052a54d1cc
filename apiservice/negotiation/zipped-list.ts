/**
 * Lists as gzip, put together from runs of items that are compressed once for as long as none of them changes. Clients
 * written in Go take gzip unless they are told not to, and so does an aggregator for those who do not: compressing was
 * most of what a long list costs.
 */
import type { StoredObject } from '../store-contract.ts'
import { ByteWriter } from './bytes.ts'
import { type GzipPart, GzipStream, gzipPart } from './gzip.ts'
import { type Items, jsonEnd } from './list-slices.ts'

type Run = {
  readonly keys: readonly Key[]
  readonly part: GzipPart
  /** The time from which on it looks the same, and the one from which on it does not. */
  readonly fromMs: number
  readonly untilMs: number
}

type Key = Pick<StoredObject, 'revision' | 'namespace' | 'name'>

/** A run is remembered as long as the version of its first object lives. */
type Runs = WeakMap<StoredObject, Run>

/** By how items are written: as many as there are shapes of served kinds. */
const shapes = new Map<string, Runs>()

/** So much is sent at once, or compressed before others have their turn. */
const sliceBytes = 64 * 1024
const turnBytes = 256 * 1024
const maxRunBytes = 128 * 1024

/** Where a run is written before it is compressed. */
const room = Buffer.allocUnsafeSlow(2 * maxRunBytes)

const comma = Buffer.from(',')

/** Slices that stay good, and the length of the list without compression. */
export function* zippedJson(list: Items): Generator<Buffer, number> {
  const runs = runsOf(list.form.shape)
  const stream = new GzipStream()
  stream.bytes(Buffer.from(list.head))
  let compressed = 0
  for (let from = 0; from < list.items.length; ) {
    const to = endOfRun(list.items, from)
    if (from > 0) stream.bytes(comma)
    const known = remembered(runs, list, from, to)
    const part = known ?? compressedRun(runs, list, from, to)
    if (known === undefined) compressed += part.length
    stream.part(part)
    from = to
    if (stream.size < sliceBytes && compressed < turnBytes) continue
    yield stream.take()
    compressed = 0
  }
  stream.bytes(Buffer.from(jsonEnd))
  stream.end()
  yield stream.take()
  return stream.length
}

function runsOf(shape: string): Runs {
  const known = shapes.get(shape)
  if (known !== undefined) return known
  const made: Runs = new WeakMap()
  shapes.set(shape, made)
  return made
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

function remembered(runs: Runs, { items, form }: Items, from: number, to: number): GzipPart | undefined {
  const first = items[from]
  const nowMs = form.time?.nowMs ?? 0
  const run = first && runs.get(first)
  if (run === undefined || run.keys.length !== to - from || nowMs < run.fromMs || nowMs >= run.untilMs) {
    return undefined
  }
  return run.keys.every((key, index) => isVersion(items[from + index], key)) ? run.part : undefined
}

function isVersion(object: StoredObject | undefined, { revision, namespace, name }: Key): boolean {
  return object?.revision === revision && object.name === name && object.namespace === namespace
}

function compressedRun(runs: Runs, list: Items, from: number, to: number): GzipPart {
  const { write, time } = list.form
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
  const [first] = items
  if (first !== undefined) runs.set(first, { keys, part, fromMs: time?.nowMs ?? 0, untilMs })
  return part
}
