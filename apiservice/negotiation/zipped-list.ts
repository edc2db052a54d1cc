/**
 * Lists as gzip, put together from runs of items that are compressed once for as long as none of them changes. Clients
 * written in Go take gzip unless they are told not to, and so does an aggregator for those who do not: compressing was
 * most of what a long list costs.
 */
import { GzipStream, gzipPart } from './gzip.ts'
import { type Items, jsonEnd } from './items.ts'
import { Runs } from './runs.ts'

const runs = new Runs(16 * 1024 * 1024, gzipPart)

/** So much is sent at once, or compressed before others have their turn. */
const sliceBytes = 64 * 1024
const turnBytes = 256 * 1024

const comma = Buffer.from(',')

/** Slices that stay good, and the length of the list without compression. */
export function* zippedJson(list: Items): Generator<Buffer, number> {
  const stream = new GzipStream()
  stream.bytes(Buffer.from(list.head))
  let compressed = 0
  for (let from = 0; from < list.items.length; ) {
    if (from > 0) stream.bytes(comma)
    const { run, isNew } = runs.at(list, from)
    if (isNew) compressed += run.part.length
    stream.part(run.part)
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
