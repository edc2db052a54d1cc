import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ObjectKey, Revision, Store, WriteResult } from '../../../apiservice/store-contract.ts'
import { CheckedStore } from '../../support/checked-store.ts'
import { seed } from '../../support/seed.ts'
import {
  aBody,
  aKey,
  exports,
  imports,
  inScope,
  Recorder,
  type StoreManifest,
  type StorePlace,
  shownItems,
} from './harness.ts'

/** What the store should hold: the newest version of each key, and the list at every revision that is kept. */
type Model = {
  readonly objects: Map<string, { readonly revision: Revision; readonly text: string }>
  readonly lists: Map<Revision, readonly string[]>
  /** A position and everything that must be delivered after it, for each kept position. */
  readonly log: { readonly revision: Revision; readonly text: string }[]
  oldest: Revision
}

type Real = { readonly place: StorePlace; store: CheckedStore }
type Command = fc.AsyncCommand<Model, Real>

const scope = inScope('', exports, imports)
const paths = ['a/x', 'a/y', 'a/x-1', 'ab/x', 'b/x', 'B/x', 'b/\u{1f600}', 'b/\uffee']
const keys = [
  ...paths.map(path => aKey(path, exports)),
  ...paths.slice(0, 3).map(path => aKey(path, imports)),
]

function idOf(key: ObjectKey): string {
  return JSON.stringify([key.resource, key.namespace, key.name])
}

/** As the list of a scope shows it. */
function shownModel(model: Model): readonly string[] {
  const order = (a: ObjectKey, b: ObjectKey): number =>
    scope.resources.indexOf(a.resource) - scope.resources.indexOf(b.resource) ||
    Buffer.compare(Buffer.from(`${a.namespace}/${a.name}`), Buffer.from(`${b.namespace}/${b.name}`))
  return keys.toSorted(order).flatMap(key => {
    const known = model.objects.get(idOf(key))
    return known === undefined ? [] : [`${key.namespace}/${key.name}@${known.revision}`]
  })
}

type Verb = 'create' | 'update' | 'delete'
type WriteStep = {
  readonly verb: Verb
  readonly key: ObjectKey
  readonly stale: boolean
  readonly text: string
}

function write(store: Store, step: WriteStep, expected: Revision): Promise<WriteResult> {
  if (step.verb === 'create') return store.create(step.key, aBody(step.text))
  if (step.verb === 'update') return store.update(step.key, expected, aBody(step.text))
  return store.delete(step.key, expected)
}

/** Writes given at once: each must find what those before it in the same burst have left. */
class Burst implements Command {
  readonly steps: readonly WriteStep[]

  constructor(steps: readonly WriteStep[]) {
    this.steps = steps
  }

  check(): boolean {
    return true
  }

  async run(model: Model, { store }: Real): Promise<void> {
    const before = new Map(
      this.steps.map(step => [idOf(step.key), model.objects.get(idOf(step.key))?.revision]),
    )
    const results = await Promise.all(
      this.steps.map(step => {
        const known = before.get(idOf(step.key)) ?? 0
        return write(store, step, step.stale ? known - 1 : known)
      }),
    )
    const newest = model.log.at(-1)?.revision ?? 0
    for (const [index, step] of this.steps.entries()) {
      const result = results[index]
      if (result === undefined) continue
      if (result.done) expect(result.object.revision).toBeGreaterThan(newest)
      this.#settle(model, step, before.get(idOf(step.key)), result)
    }
    // Only writes of the same key are judged in the order in which they were given.
    model.log.sort((a, b) => a.revision - b.revision)
    expect(new Set(model.log.map(({ revision }) => revision)).size).toBe(model.log.length)
    expect(store.revision()).toBe(model.log.at(-1)?.revision ?? store.revision())
    model.lists.set(store.revision(), shownModel(model))
  }

  #settle(model: Model, step: WriteStep, expected: Revision | undefined, result: WriteResult): void {
    const id = idOf(step.key)
    const known = model.objects.get(id)
    const isFresh = !step.stale && expected !== undefined && known?.revision === expected
    expect(result.done).toBe(step.verb === 'create' ? known === undefined : isFresh)
    if (!result.done) {
      expect(result.current?.revision).toBe(known?.revision)
      return
    }
    const { revision } = result.object
    expect(revision).toBeGreaterThan(known?.revision ?? 0)
    if (step.verb === 'delete') model.objects.delete(id)
    else model.objects.set(id, { revision, text: step.text })
    const after = known === undefined ? '' : ` after ${known.revision}`
    const type = step.verb === 'delete' ? 'DELETE' : 'PUT'
    model.log.push({ revision, text: `${type} ${step.key.namespace}/${step.key.name}@${revision}${after}` })
  }

  toString(): string {
    const shown = ({ verb, key, stale }: WriteStep): string =>
      `${verb}${stale ? '!' : ''} ${key.namespace}/${key.name}`
    return `burst(${this.steps.map(shown).join(', ')})`
  }
}

/** Lists at some revision that was noted, in pages. */
class ListAt implements Command {
  readonly place: number
  readonly limit: number

  constructor(place: number, limit: number) {
    this.place = place
    this.limit = limit
  }

  check(): boolean {
    return true
  }

  async run(model: Model, { store }: Real): Promise<void> {
    const revision = [...model.lists.keys()][this.place % model.lists.size] ?? 0
    if (revision < model.oldest) {
      await expect(store.list(scope, { revision, limit: this.limit })).rejects.toMatchObject({ code: 410 })
      return
    }
    const shown: string[] = []
    for (let after: ObjectKey | undefined, isLast = false; !isLast; ) {
      const page = await store.list(scope, { revision, limit: this.limit, ...(after && { after }) })
      shown.push(...shownItems(page))
      after = page.items.at(-1)
      isLast = page.remaining === 0
      expect(page.remaining).toBe((model.lists.get(revision)?.length ?? 0) - shown.length)
    }
    expect(shown).toEqual(model.lists.get(revision))
  }

  toString(): string {
    return `list(${this.place}, ${this.limit})`
  }
}

class WatchFrom implements Command {
  readonly place: number

  constructor(place: number) {
    this.place = place
  }

  check(): boolean {
    return true
  }

  async run(model: Model, { store }: Real): Promise<void> {
    const from = [...model.lists.keys()][this.place % model.lists.size] ?? 0
    const watch = new Recorder(store, scope, from)
    if (from < model.oldest) expect(await watch.end()).toBe('expired')
    else {
      const expected = model.log.filter(entry => entry.revision > from).map(entry => entry.text)
      expect(await watch.reached(store.revision())).toEqual(expected)
    }
    watch.stop()
  }

  toString(): string {
    return `watch(${this.place})`
  }
}

class Compact implements Command {
  readonly place: number

  constructor(place: number) {
    this.place = place
  }

  check(): boolean {
    return true
  }

  async run(model: Model, { store }: Real): Promise<void> {
    const revision = [...model.lists.keys()][this.place % model.lists.size] ?? 0
    await store.compact(revision)
    model.oldest = Math.max(model.oldest, revision)
    expect(store.oldest()).toBe(model.oldest)
  }

  toString(): string {
    return `compact(${this.place})`
  }
}

class Reopen implements Command {
  check(): boolean {
    return true
  }

  async run(model: Model, real: Real): Promise<void> {
    await real.store.verify()
    const revision = real.store.revision()
    await real.store.close()
    real.store = new CheckedStore(await real.place.open())
    expect(real.store.revision()).toBe(revision)
    expect(real.store.oldest()).toBe(model.oldest)
  }

  toString(): string {
    return 'reopen'
  }
}

const aStep = fc.record({
  verb: fc.constantFrom<Verb>('create', 'create', 'update', 'update', 'delete'),
  key: fc.constantFrom(...keys),
  stale: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
  text: fc.string({ maxLength: 40 }),
})
const aBurst = fc.array(aStep, { minLength: 1, maxLength: 12 }).map(steps => new Burst(steps))
const aPlace = fc.nat(1000)

/** Random commands against a plain map with a history. The seed of a run stands in its title; `SEED=n` repeats it. */
export function describeModel(make: () => Promise<StorePlace>, manifest: StoreManifest): void {
  describe('model', () => {
    it(`agrees with a map that remembers every revision (seed ${seed})`, async () => {
      const commands = fc.commands(
        [
          aBurst,
          aBurst,
          fc.tuple(aPlace, fc.nat(4)).map(([place, limit]) => new ListAt(place, limit)),
          aPlace.map(place => new WatchFrom(place)),
          aPlace.map(place => new Compact(place)),
          ...(manifest.reopens === true ? [fc.constant(new Reopen())] : []),
        ],
        { maxCommands: 40, size: 'max' },
      )
      await fc.assert(
        fc.asyncProperty(commands, async sequence => {
          const place = await make()
          const real: Real = { place, store: new CheckedStore(await place.open()) }
          const start = real.store.revision()
          const model: Model = { objects: new Map(), lists: new Map([[start, []]]), log: [], oldest: start }
          try {
            await fc.asyncModelRun(() => ({ model, real }), sequence)
            await real.store.verify()
          } finally {
            await real.store.close()
            await place.remove()
          }
        }),
        { seed, numRuns: 40, endOnFailure: false },
      )
    })
  })
}
