/** Long lists, made piece by piece, so that nobody else waits while one is made. */
import { toYaml } from '../../src/codec/yaml.ts'
import { fromJson } from '../../src/kernel/json.ts'
import type { StoredObject } from '../store-contract.ts'
import { ByteWriter } from './bytes.ts'
import { Indenter } from './indent.ts'
import type { WriteItem } from './items.ts'

export type Items = {
  /** Everything of a list but its items: JSON that ends where the first item begins. */
  readonly head: string
  readonly items: readonly StoredObject[]
  readonly write: WriteItem
}

/** A longer body is made and sent in slices of about this size. */
export const sliceBytes = 256 * 1024

/** YAML is written a hundred times slower than JSON is copied. */
const yamlSliceBytes = 32 * 1024

/** Room behind a slice for the object that completes it. */
const spareBytes = 16 * 1024

export function* jsonSlices({ items, head, write }: Items): Generator<Buffer, undefined> {
  const writer = new ByteWriter(items.length > 100 ? sliceBytes + spareBytes : 8 * 1024)
  writer.text(head)
  let first = true
  for (const item of items) {
    if (!first) writer.ascii(',')
    first = false
    write(writer, item)
    if (writer.length >= sliceBytes) yield writer.take(sliceBytes + spareBytes)
  }
  writer.text(']}\n')
  yield writer.take(0)
}

/** The keys of a list are sorted as those of every object, so some stand before the items and some behind. */
export function* yamlSlices({ items, head, write }: Items): Generator<Buffer, undefined> {
  const frame: Readonly<Record<string, unknown>> = JSON.parse(`${head}]}`)
  const key = 'rows' in frame ? 'rows' : 'items'
  if (items.length === 0) {
    yield Buffer.from(toYaml(frame))
    return
  }
  yield Buffer.from(`${fieldsOf(frame, name => name < key)}${key}:\n`)
  let slice = ''
  for (const item of items) {
    const writer = new ByteWriter(item.body.length + 1024)
    write(writer, item)
    slice += toYaml([fromJson(writer.take(0).toString('utf8'))])
    if (slice.length < yamlSliceBytes) continue
    yield Buffer.from(slice)
    slice = ''
  }
  yield Buffer.from(slice + fieldsOf(frame, name => name > key))
}

function fieldsOf(frame: Readonly<Record<string, unknown>>, wanted: (name: string) => boolean): string {
  const fields = Object.entries(frame).filter(([name]) => wanted(name))
  return fields.length === 0 ? '' : toYaml(Object.fromEntries(fields))
}

export function* startingWith(first: Buffer, rest: Iterable<Buffer>): Generator<Buffer> {
  yield first
  yield* rest
}

export function* indented(slices: Iterable<Buffer>): Generator<Buffer> {
  const indenter = new Indenter()
  for (const slice of slices) yield indenter.push(slice)
  yield Buffer.from('\n')
}
