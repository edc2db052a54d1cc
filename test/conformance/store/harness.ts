import { expect, it } from 'vitest'
import type {
  ListResult,
  ObjectKey,
  Revision,
  Scope,
  Store,
  StoreEvent,
} from '../../../apiservice/store-contract.ts'
import type { LogLine } from '../../../src/kernel/log.ts'
import { CheckedStore } from '../../support/checked-store.ts'

export type StoreBounds = {
  readonly historyMs?: number
  readonly historyBytes?: number
  readonly historyEvents?: number
  readonly queuedWrites?: number
}

/** One place where a store can be opened again and again, empty at first. */
export type StorePlace = {
  open(bounds?: StoreBounds): Promise<Store>
  /** Lets time pass for the store; absent when the store has a clock of its own. */
  advance?(ms: number): Promise<void>
  /** What the stores of this place have logged. */
  readonly logged: readonly LogLine[]
  remove(): Promise<void>
}

/** True, or the reason why an implementation cannot do it and the tests of it are skipped. */
export type Ability = true | string

export type StoreManifest = {
  /** A closed store is found again by the next `open`. */
  readonly reopens: Ability
  /** Time is told to it, and history can be bounded by time, bytes and number. */
  readonly bounds: Ability
  /** The largest body that it takes. */
  readonly largestBodyBytes: number
}

export type Opened = { readonly place: StorePlace; readonly store: CheckedStore }

/** A test with a store of its own, whose soundness is verified at the end. */
export function storeTest(
  make: () => Promise<StorePlace>,
): (
  sentence: string,
  run: (opened: Opened) => Promise<void>,
  options?: { bounds?: StoreBounds; ability?: Ability },
) => void {
  return (sentence, run, { bounds = {}, ability = true } = {}) => {
    const title = ability === true ? sentence : `${sentence} (skipped: ${ability})`
    it.skipIf(ability !== true)(title, async () => {
      const place = await make()
      try {
        const store = new CheckedStore(await place.open(bounds))
        await run({ place, store })
        if (!store.isClosed) await store.verify()
        expect(store.complaints).toEqual([])
        await store.close()
      } finally {
        await place.remove()
      }
    })
  }
}

export const exports = 'serviceexports.multicluster.x-k8s.io'
export const imports = 'serviceimports.multicluster.x-k8s.io'

/** `shop/web`, or `web` in no namespace. */
export function aKey(path: string, resource = exports): ObjectKey {
  const slash = path.indexOf('/')
  return { resource, namespace: path.slice(0, Math.max(slash, 0)), name: path.slice(slash + 1) }
}

export function aBody(text: string): Buffer {
  return Buffer.from(`"name":${JSON.stringify(text)}}}`)
}

export function inScope(namespace = '', ...resources: readonly string[]): Scope {
  return { resources: resources.length === 0 ? [exports] : resources, namespace }
}

/** Creates an object and answers its revision. */
export async function created(store: Store, key: ObjectKey, text = key.name): Promise<Revision> {
  const result = await store.create(key, aBody(text))
  if (!result.done) throw new Error(`${key.name} is there already`)
  return result.object.revision
}

export async function updated(
  store: Store,
  key: ObjectKey,
  expected: Revision,
  text: string,
): Promise<Revision> {
  const result = await store.update(key, expected, aBody(text))
  if (!result.done) throw new Error(`${key.name} was not at ${expected}`)
  return result.object.revision
}

export async function deleted(store: Store, key: ObjectKey, expected: Revision): Promise<Revision> {
  const result = await store.delete(key, expected)
  if (!result.done) throw new Error(`${key.name} was not at ${expected}`)
  return result.object.revision
}

/** `shop/web@5`, in the order of the list. */
export function shownItems(list: ListResult): readonly string[] {
  return list.items.map(item => `${item.namespace}/${item.name}@${item.revision}`)
}

/** `PUT shop/web@7 after 5`. */
export function shownEvent(event: StoreEvent): string {
  const { object, previous, type } = event
  const after = previous === undefined ? '' : ` after ${previous.revision}`
  return `${type} ${object.namespace}/${object.name}@${object.revision}${after}`
}

/** Listens and remembers. */
export class Recorder {
  readonly events: StoreEvent[] = []
  through: Revision | undefined
  ended: 'expired' | 'closed' | undefined
  calls = 0
  readonly stop: () => void
  readonly #waiting: (() => void)[] = []

  constructor(store: Store, scope: Scope, after: Revision) {
    this.stop = store.watch(scope, after, {
      events: (batch, through) => {
        this.events.push(...batch)
        this.through = through
        this.calls++
        this.#wake()
      },
      end: reason => {
        this.ended = reason
        this.#wake()
      },
    })
  }

  /** Waits until everything up to a revision has been delivered. */
  async reached(revision: Revision): Promise<readonly string[]> {
    await this.#until(() => (this.through ?? -1) >= revision)
    return this.events.map(shownEvent)
  }

  async end(): Promise<'expired' | 'closed' | undefined> {
    await this.#until(() => this.ended !== undefined)
    return this.ended
  }

  async #until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      if (this.ended !== undefined) throw new Error(`the watch ended: ${this.ended}`)
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }
}
