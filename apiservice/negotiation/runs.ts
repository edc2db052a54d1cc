/** Lists put together from runs of items, each of which is written once for as long as none of its items changes. */
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { StoredObject } from '../store-contract.ts'
import { ByteWriter } from './bytes.ts'
import type { Items } from './items.ts'
import { KeptRuns, type Place, type Run, type Written } from './kept-runs.ts'

const maxRunBytes = 128 * 1024

/** The end of a list or page cuts its last run: what it left is not taken for good. */
const shortBytes = 16 * 1024

/** Where a run is written before it is kept. */
const room = Buffer.allocUnsafeSlow(2 * maxRunBytes)

export type Found<P extends Written> = { readonly run: Run<P>; readonly isNew: boolean }

/** Runs of one sort, over all shapes. */
export class Runs<P extends Written> {
  readonly #kept: KeptRuns<P>
  readonly #make: (written: Buffer) => P

  /** `make` keeps nothing of the buffer that it is given. */
  constructor(maxBytes: number, make: (written: Buffer) => P) {
    this.#kept = new KeptRuns(maxBytes)
    this.#make = make
  }

  /** The run that begins with an item. */
  at(list: Items, from: number): Found<P> {
    const known = this.#known(list, from)
    const run = known ?? this.#written(list, from)
    run.place = { list: refTo(list.items), from }
    return { run, isNew: known === undefined }
  }

  #known({ items, form }: Items, from: number): Run<P> | undefined {
    const first = items[from]
    const nowMs = form.time?.nowMs ?? 0
    const run = first && this.#kept.get(form.shape, first)
    if (run === undefined || nowMs < run.fromMs || nowMs >= run.untilMs) return undefined
    if (isAt(run.place, items, from)) return run
    if (run.part.length < shortBytes && run.keys.length !== endOfRun(items, from) - from) return undefined
    return run.keys.every((key, index) => isVersion(items[from + index], key)) ? run : undefined
  }

  #written({ items: all, form: { write, shape, time } }: Items, from: number): Run<P> {
    const items = all.slice(from, endOfRun(all, from))
    const writer = new ByteWriter(room)
    let untilMs = Number.POSITIVE_INFINITY
    for (const [index, item] of items.entries()) {
      if (index > 0) writer.ascii(',')
      write(writer, item)
      untilMs = Math.min(untilMs, time?.changesAt(item) ?? Number.POSITIVE_INFINITY)
    }
    const part = this.#make(writer.written())
    const keys = items.map(({ revision, namespace, name }) => ({ revision, namespace, name }))
    const run: Run<P> = { keys, part, fromMs: time?.nowMs ?? 0, untilMs, place: undefined }
    const [first] = items
    if (first !== undefined) this.#kept.keep(shape, first, run)
    return run
  }
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

const refTo = madeOnce((items: readonly StoredObject[]) => new WeakRef(items))

function isAt(place: Place | undefined, items: readonly StoredObject[], from: number): boolean {
  return place?.from === from && place.list.deref() === items
}

function isVersion(
  object: StoredObject | undefined,
  { revision, namespace, name }: Run<Written>['keys'][number],
): boolean {
  return object?.revision === revision && object.name === name && object.namespace === namespace
}
