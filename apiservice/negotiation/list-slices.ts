/** Long lists, made piece by piece, so that nobody else waits while one is made. */
import { toYaml } from '../../src/codec/yaml.ts'
import { fromJson } from '../../src/kernel/json.ts'
import { ByteWriter } from './bytes.ts'
import { Indenter } from './indent.ts'
import { type Items, jsonEnd, type SizeOfItem } from './items.ts'
import type { Written } from './kept-runs.ts'
import { Runs } from './runs.ts'

/** A longer body is made and sent in slices of about this size. */
const sliceBytes = 512 * 1024

/** YAML is written a hundred times slower than JSON is copied. */
const yamlSliceBytes = 32 * 1024

/** Room behind a slice for the object that completes it. */
const spareBytes = 32 * 1024

/** How long a list is as JSON. */
export function jsonLength({ items, head }: Items, size: SizeOfItem): number {
  let length = Buffer.byteLength(head) + Math.max(0, items.length - 1) + jsonEnd.length
  for (const item of items) length += size(item)
  return length
}

/** Of a short list. */
export function wholeJson({ items, head, form }: Items): Buffer {
  const expected = items.reduce((bytes, { body }) => bytes + body.length + spareItemBytes, head.length + 8)
  const writer = new ByteWriter(expected)
  writer.text(head)
  for (const [index, item] of items.entries()) {
    if (index > 0) writer.ascii(',')
    form.write(writer, item)
  }
  writer.text(jsonEnd)
  return writer.written()
}

/** What is written of an object beside its body. */
const spareItemBytes = 160

/** Where slices are made: large buffers that came and went with each list would keep the garbage collector busy. */
const rooms: Buffer[] = []
const maxRooms = 8

/** A slice is good until the next one is asked for. */
export function* jsonSlices(list: Items): Generator<Buffer, undefined> {
  const room = rooms.pop() ?? Buffer.allocUnsafeSlow(sliceBytes + spareBytes)
  const writer = new ByteWriter(room)
  writer.text(list.head)
  yield* list.form.time === undefined ? itemAfterItem(writer, list) : runAfterRun(writer, list)
  writer.text(jsonEnd)
  yield writer.written()
  // Not when a list is given up: what was asked for last may still be on its way then.
  if (rooms.length < maxRooms) rooms.push(room)
}

function* itemAfterItem(writer: ByteWriter, { items, form }: Items): Generator<Buffer, undefined> {
  let first = true
  for (const item of items) {
    if (!first) writer.ascii(',')
    first = false
    form.write(writer, item)
    if (writer.length < sliceBytes) continue
    yield writer.written()
    writer.again()
  }
}

/** Rows of Tables: what is to be looked up and put together for each costs several times what copying it does. */
const rows = new Runs<Written>(16 * 1024 * 1024, written => {
  const blocks = Buffer.allocUnsafeSlow(written.length)
  written.copy(blocks)
  return { blocks, length: blocks.length }
})

function* runAfterRun(writer: ByteWriter, list: Items): Generator<Buffer, undefined> {
  for (let from = 0; from < list.items.length; ) {
    const { run } = rows.at(list, from)
    if (writer.length + run.part.length >= sliceBytes) {
      yield writer.written()
      writer.again()
    }
    if (from > 0) writer.ascii(',')
    writer.bytes(run.part.blocks)
    from += run.keys.length
  }
}

/** The keys of a list are sorted as those of every object, so some stand before the items and some behind. */
export function* yamlSlices({ items, head, form }: Items): Generator<Buffer, undefined> {
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
    form.write(writer, item)
    slice += toYaml([fromJson(writer.written().toString('utf8'))])
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

export function* indented(slices: Iterable<Buffer>): Generator<Buffer> {
  const indenter = new Indenter()
  for (const slice of slices) yield indenter.push(slice)
  yield Buffer.from('\n')
}
