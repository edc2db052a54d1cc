/** Watch frames: `{"type":…,"object":…}` and a newline, in the shape that was chosen. */
import type { ServedKind, WatchEvent } from '../contract.ts'
import type { StoredObject } from '../store-contract.ts'
import type { Choice, Transform } from './accept.ts'
import { ByteWriter } from './bytes.ts'
import { metadataItems, namesOf, partialNames, type WriteItem, wholeItems } from './items.ts'
import { bookmarkRow, type TableOptions, tableHead, tableRows } from './table.ts'

/** The frames of some events, in their order. */
export type EncodeFrames = (events: readonly WatchEvent[]) => Buffer

type EncodeFrame = (event: WatchEvent) => Buffer

type Bookmark = Extract<WatchEvent, { type: 'BOOKMARK' }>

/** The encoder of one stream. */
export function frameEncoder(served: ServedKind, choice: Choice, options: TableOptions): EncodeFrames {
  const { transform } = choice
  if (transform?.as === 'Table') return inTurn(tableFrames(served, transform.version, options))
  const names = transform === undefined ? namesOf(served) : partialNames(transform.version)
  const write = transform === undefined ? wholeItems(served) : metadataItems(transform.version)
  const cache = cacheOf(`${names.apiVersion} ${names.kind}`)
  const one: EncodeFrame = event => {
    if (event.type === 'BOOKMARK') return frame('BOOKMARK', bookmarkObject(names, event))
    if (event.type === 'ERROR') return frame('ERROR', JSON.stringify(event.status))
    return cache.frame(event.type, event.object, write)
  }
  return events => cache.batch(events, one)
}

function inTurn(one: EncodeFrame): EncodeFrames {
  return events => joined(events.map(one))
}

function joined(frames: readonly Buffer[]): Buffer {
  const [first] = frames
  return frames.length === 1 && first !== undefined ? first : Buffer.concat(frames)
}

/** An object that says how far the stream has come, and whether the state at its beginning is complete. */
function bookmarkObject(names: { apiVersion: string; kind: string }, event: Bookmark): string {
  const annotations = event.initialEventsEnd ? { annotations: { 'k8s.io/initial-events-end': 'true' } } : {}
  return JSON.stringify({
    kind: names.kind,
    apiVersion: names.apiVersion,
    metadata: { resourceVersion: String(event.revision), ...annotations },
  })
}

function frame(type: WatchEvent['type'], object: string): Buffer {
  return Buffer.from(`{"type":"${type}","object":${object}}\n`, 'utf8')
}

/** Every frame is a Table of one row; only the first names the columns. */
function tableFrames(served: ServedKind, version: Transform['version'], options: TableOptions): EncodeFrame {
  const writeRow = tableRows(served, version, options)
  let withColumns = true
  const head = (revision: number): string => {
    const text = tableHead(served, version, { resourceVersion: String(revision) }, withColumns)
    withColumns = false
    return text
  }
  return event => {
    if (event.type === 'ERROR') return frame('ERROR', JSON.stringify(event.status))
    if (event.type === 'BOOKMARK') {
      const row = bookmarkRow(served, bookmarkObject(partialNames(version), event))
      return frame('BOOKMARK', `${head(event.revision)}${row}]}`)
    }
    const writer = new ByteWriter(event.object.body.length * 2 + 1024)
    writer.text(`{"type":"${event.type}","object":${head(event.object.revision)}`)
    writeRow(writer, event.object)
    writer.text(']}}\n')
    return writer.written()
  }
}

type ObjectEventType = 'ADDED' | 'MODIFIED' | 'DELETED'

/** Frames kept for other watchers of the same version, in bytes; those of a commit are read by all, one after the other. */
const keptBytes = 1024 * 1024

/**
 * One version of an object is encoded once for all watchers of a shape. Only what was encoded lately is kept: the
 * state at the beginning of a stream is as large as the store, and nobody else asks for it.
 */
class FrameCache {
  #young: Record<ObjectEventType, WeakMap<StoredObject, Buffer>> = emptyGeneration()
  #old = emptyGeneration()
  #youngBytes = 0
  /** Watchers that see the same are given the same array of events. */
  readonly #batches = new WeakMap<readonly WatchEvent[], Buffer>()

  batch(events: readonly WatchEvent[], one: EncodeFrame): Buffer {
    const known = this.#batches.get(events)
    if (known !== undefined) return known
    const made = joined(events.map(one))
    this.#batches.set(events, made)
    return made
  }

  frame(type: ObjectEventType, object: StoredObject, write: WriteItem): Buffer {
    const known = this.#young[type].get(object) ?? this.#old[type].get(object)
    if (known !== undefined) return known
    const writer = new ByteWriter(object.body.length + 256)
    writer.text(`{"type":"${type}","object":`)
    write(writer, object)
    writer.text('}\n')
    const made = ownMemory(writer.written())
    this.#keep(type, object, made)
    return made
  }

  #keep(type: ObjectEventType, object: StoredObject, made: Buffer): void {
    if (this.#youngBytes > keptBytes) {
      this.#old = this.#young
      this.#young = emptyGeneration()
      this.#youngBytes = 0
    }
    this.#young[type].set(object, made)
    this.#youngBytes += made.length
  }
}

/** A copy outside of Node's shared pool, of which what is kept would keep four times as much that nobody needs. */
function ownMemory(bytes: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  bytes.copy(copy)
  return copy
}

function emptyGeneration(): Record<ObjectEventType, WeakMap<StoredObject, Buffer>> {
  return { ADDED: new WeakMap(), MODIFIED: new WeakMap(), DELETED: new WeakMap() }
}

/** By apiVersion and kind: as many as are served. */
const caches = new Map<string, FrameCache>()

function cacheOf(shape: string): FrameCache {
  const known = caches.get(shape)
  if (known !== undefined) return known
  const made = new FrameCache()
  caches.set(shape, made)
  return made
}
