import { describe, expect } from 'vitest'
import type { Opened, StoreManifest, storeTest } from './harness.ts'
import {
  aBody,
  aKey,
  created,
  deleted,
  exports,
  imports,
  inScope,
  Recorder,
  shownItems,
  updated,
} from './harness.ts'

/** What is kept, for how long, and what a restart finds. */
export function describeHistory(test: ReturnType<typeof storeTest>, manifest: StoreManifest): void {
  describe('history', () => {
    const ability = manifest.bounds

    test('moves its beginning on, never back, and never beyond the newest revision', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      const second = await updated(store, aKey('shop/web'), first, 'second')
      await store.compact(second)
      await store.compact(first)
      expect(store.oldest()).toBe(second)
      await store.compact(second + 1000)
      expect(store.oldest()).toBe(store.revision())
      const third = await updated(store, aKey('shop/web'), second, 'third')
      expect(third).toBeGreaterThan(second)
      expect(third).toBeLessThan(second + 1000)
    })

    test('keeps every object over compactions', async ({ store }) => {
      await created(store, aKey('shop/still'))
      const first = await created(store, aKey('shop/changes'))
      await deleted(store, aKey('shop/gone'), await created(store, aKey('shop/gone')))
      const second = await updated(store, aKey('shop/changes'), first, 'second')
      await store.compact(store.revision())
      const again = await created(store, aKey('shop/gone'), 'again')
      await store.compact(store.revision())
      const list = await store.list(inScope(), { limit: 0 })
      expect(list.items.map(item => item.name)).toEqual(['changes', 'gone', 'still'])
      expect((await store.get(aKey('shop/changes')))?.revision).toBe(second)
      expect((await store.get(aKey('shop/gone')))?.revision).toBe(again)
    })

    test(
      'forgets by time',
      async ({ place, store }) => {
        const first = await created(store, aKey('shop/a'))
        await place.advance?.(40_000)
        const second = await created(store, aKey('shop/b'))
        await place.advance?.(40_000)
        expect(store.oldest()).toBe(first)
        expect(await new Recorder(store, inScope(), first).reached(second)).toEqual([`PUT shop/b@${second}`])
        await place.advance?.(40_000)
        expect(store.oldest()).toBe(second)
      },
      { bounds: { historyMs: 60_000 }, ability },
    )

    test(
      'forgets by number of changes',
      async ({ store }) => {
        const revisions: number[] = []
        for (let index = 0; index < 20; index++) revisions.push(await created(store, aKey(`shop/n${index}`)))
        expect(store.oldest()).toBe(revisions[9])
        expect(await new Recorder(store, inScope(), store.oldest()).reached(store.revision())).toHaveLength(
          10,
        )
      },
      { bounds: { historyEvents: 10 }, ability },
    )

    test(
      'forgets by bytes',
      async ({ store }) => {
        const big = Buffer.alloc(10_000, 'x')
        let revision = await created(store, aKey('shop/web'))
        for (let index = 0; index < 30; index++) {
          const result = await store.update(aKey('shop/web'), revision, big)
          if (result.done) revision = result.object.revision
        }
        const kept = store.revision() - store.oldest()
        expect(kept).toBeGreaterThan(5)
        expect(kept).toBeLessThan(11)
      },
      { bounds: { historyBytes: 105_000 }, ability },
    )

    test(
      'tells idle watches how far it has come',
      async ({ place, store }) => {
        const watch = new Recorder(store, inScope('quiet'), store.revision())
        await watch.reached(store.revision())
        const revision = await created(store, aKey('shop/web'))
        await place.advance?.(10_000)
        expect(await watch.reached(revision)).toEqual([])
        const { calls } = watch
        await place.advance?.(60_000)
        expect(watch.calls).toBe(calls)
      },
      { ability },
    )
  })

  describe('restart', () => {
    const ability = manifest.reopens
    const restart = async ({ place, store }: Opened) => {
      await store.close()
      return place.open()
    }

    test(
      'finds every object with its revision and bytes, and goes on upwards',
      async opened => {
        const { store } = opened
        await created(store, aKey('shop/a'))
        const second = await updated(store, aKey('shop/b'), await created(store, aKey('shop/b')), 'second')
        await deleted(store, aKey('shop/c'), await created(store, aKey('shop/c')))
        await created(store, aKey('n', 'namespaces'))
        const before = await store.list(inScope('', exports, 'namespaces'), { limit: 0 })
        const reopened = await restart(opened)
        expect(reopened.revision()).toBe(before.revision)
        expect(await reopened.list(inScope('', exports, 'namespaces'), { limit: 0 })).toEqual(before)
        expect(await reopened.get(aKey('shop/b'))).toMatchObject({ revision: second, body: aBody('second') })
        expect(await created(reopened, aKey('shop/c'))).toBeGreaterThan(before.revision)
        await reopened.close()
      },
      { ability },
    )

    test(
      'does not use a revision again, also when the newest change is forgotten',
      async opened => {
        const { store } = opened
        const gone = await deleted(store, aKey('shop/a'), await created(store, aKey('shop/a')))
        await store.compact(gone)
        const reopened = await restart(opened)
        expect(reopened.revision()).toBe(gone)
        expect(await created(reopened, aKey('shop/a'))).toBeGreaterThan(gone)
        await reopened.close()
      },
      { ability },
    )

    test(
      'resumes watches and lists at any kept revision',
      async opened => {
        const { store } = opened
        const start = store.revision()
        const first = await created(store, aKey('shop/web'), 'first')
        const second = await updated(store, aKey('shop/web'), first, 'second')
        const gone = await deleted(store, aKey('shop/web'), second)
        const again = await created(store, aKey('shop/web', imports))
        const reopened = await restart(opened)
        const scope = inScope('', exports, imports)
        const watch = new Recorder(reopened, scope, start)
        const later = await created(reopened, aKey('shop/later'))
        expect(await watch.reached(later)).toEqual([
          `PUT shop/web@${first}`,
          `PUT shop/web@${second} after ${first}`,
          `DELETE shop/web@${gone} after ${second}`,
          `PUT shop/web@${again}`,
          `PUT shop/later@${later}`,
        ])
        expect(watch.events.map(event => event.object.body.toString().slice(8, -3))).toEqual([
          'first',
          'second',
          'second',
          'web',
          'later',
        ])
        expect(shownItems(await reopened.list(scope, { revision: first, limit: 0 }))).toEqual([
          `shop/web@${first}`,
        ])
        expect(shownItems(await reopened.list(scope, { revision: gone, limit: 0 }))).toEqual([])
        await reopened.close()
      },
      { ability },
    )

    test(
      'remembers what it has forgotten',
      async opened => {
        const { store } = opened
        const first = await created(store, aKey('shop/web'))
        const second = await updated(store, aKey('shop/web'), first, 'second')
        await updated(store, aKey('shop/web'), second, 'third')
        await store.compact(second)
        const reopened = await restart(opened)
        expect(reopened.oldest()).toBe(second)
        expect(await new Recorder(reopened, inScope(), first).end()).toBe('expired')
        expect(await new Recorder(reopened, inScope(), second).reached(reopened.revision())).toHaveLength(1)
        await reopened.close()
      },
      { ability },
    )

    test(
      'forgets by time what was written before the restart',
      async opened => {
        const { store, place } = opened
        const first = await created(store, aKey('shop/web'))
        await store.close()
        await place.advance?.(240_000)
        const reopened = await place.open()
        expect(reopened.oldest()).toBeLessThan(first)
        await place.advance?.(70_000)
        expect(reopened.oldest()).toBe(first)
        await reopened.close()
      },
      { ability: ability === true ? manifest.bounds : ability },
    )

    test(
      'may be opened and closed many times',
      async opened => {
        let store = await restart(opened)
        for (let round = 0; round < 5; round++) {
          await created(store, aKey(`shop/n${round}`))
          const { revision } = await store.list(inScope(), { limit: 0 })
          await store.close()
          store = await opened.place.open()
          expect(store.revision()).toBe(revision)
          expect((await store.list(inScope(), { limit: 0 })).items).toHaveLength(round + 1)
        }
        await store.close()
      },
      { ability },
    )
  })
}
