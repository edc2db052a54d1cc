import { describe, expect } from 'vitest'
import type { Guard, Store } from '../../../apiservice/store-contract.ts'
import type { storeTest } from './harness.ts'
import { aBody, aKey, created, deleted, updated } from './harness.ts'

const term = aKey('hub/term')
const web = aKey('shop/web')
const refused = { done: false, current: undefined, isGuarded: true }

/** Writes that depend on the version of another object. */
export function describeGuards(test: ReturnType<typeof storeTest>): void {
  describe('guarded writes', () => {
    test('are done while the guard is as it is named', async ({ store }) => {
      const guard = { key: term, revision: await created(store, term) }
      const made = await store.create(web, aBody('web'), guard)
      if (!made.done) throw new Error('not created')
      const second = await store.update(web, made.object.revision, aBody('second'), guard)
      if (!second.done) throw new Error('not updated')
      expect(await store.delete(web, second.object.revision, undefined, guard)).toMatchObject({ done: true })
    })

    test('change nothing once the guard was replaced', async ({ store }) => {
      const first = await created(store, term)
      const revision = await created(store, web)
      await updated(store, term, first, 'next term')
      const before = store.revision()
      const guard = { key: term, revision: first }
      expect(await store.create(aKey('shop/db'), aBody('db'), guard)).toEqual(refused)
      expect(await store.update(web, revision, aBody('late'), guard)).toEqual(refused)
      expect(await store.delete(web, revision, undefined, guard)).toEqual(refused)
      expect(store.revision()).toBe(before)
      expect((await store.get(web))?.revision).toBe(revision)
      expect(await store.get(aKey('shop/db'))).toBeUndefined()
    })

    test('change nothing when the guard is gone, or never was', async ({ store }) => {
      const revision = await created(store, term)
      await deleted(store, term, revision)
      expect(await store.create(web, aBody('web'), { key: term, revision })).toEqual(refused)
      expect(await store.create(web, aBody('web'), { key: aKey('no/term'), revision })).toEqual(refused)
    })

    test('still tell of another version than expected', async ({ store }) => {
      const guard = { key: term, revision: await created(store, term) }
      const revision = await created(store, web)
      const found = await store.get(web)
      expect(await store.create(web, aBody('again'), guard)).toEqual({ done: false, current: found })
      const stale = await store.update(web, revision - 1, aBody('stale'), guard)
      expect(stale).toEqual({ done: false, current: found })
    })

    test('come before the change of their guard or not at all', async ({ store }) => {
      for (let round = 0; round < 20; round++) await race(store, round)
    })
  })
}

/** Writes of a term and its end, sent at once: those that were done are older than the end. */
async function race(store: Store, round: number): Promise<void> {
  const key = aKey(`hub/term-${round}`)
  const guard: Guard = { key, revision: await created(store, key) }
  const write = (at: number) => store.create(aKey(`round-${round}/${at}`), aBody('late'), guard)
  const writes = Array.from({ length: 8 }, (_, at) => write(at))
  const end = store.update(key, guard.revision, aBody('next'))
  const later = Array.from({ length: 8 }, (_, at) => write(8 + at))
  const ended = await end
  if (!ended.done) throw new Error('the term did not end')
  for (const result of await Promise.all([...writes, ...later])) {
    if (result.done) expect(result.object.revision).toBeLessThan(ended.object.revision)
    else expect(result).toEqual(refused)
  }
}
