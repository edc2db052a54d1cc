import { describe, expect } from 'vitest'
import type { storeTest } from './harness.ts'
import {
  aBody,
  aKey,
  created,
  deleted,
  exports,
  imports,
  inScope,
  Recorder,
  shownEvent,
  updated,
} from './harness.ts'

/** Live watches and watches that begin in the past. */
export function describeWatches(test: ReturnType<typeof storeTest>): void {
  describe('watches', () => {
    test('delivers creations, changes and deletions with the version before', async ({ store }) => {
      const watch = new Recorder(store, inScope(), store.revision())
      const first = await created(store, aKey('shop/web'), 'first')
      const second = await updated(store, aKey('shop/web'), first, 'second')
      const gone = await deleted(store, aKey('shop/web'), second)
      expect(await watch.reached(gone)).toEqual([
        `PUT shop/web@${first}`,
        `PUT shop/web@${second} after ${first}`,
        `DELETE shop/web@${gone} after ${second}`,
      ])
      const [create, update, removal] = watch.events
      expect(create?.previous).toBeUndefined()
      expect(update?.previous?.body).toEqual(aBody('first'))
      expect(removal?.object.body).toEqual(aBody('second'))
      watch.stop()
    })

    test('delivers with a deletion the last state that it named', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      const watch = new Recorder(store, inScope(), first)
      await store.delete(aKey('shop/web'), first, aBody('last'))
      await watch.reached(store.revision())
      expect(watch.events[0]?.object.body).toEqual(aBody('last'))
      expect(watch.events[0]?.previous?.body).toEqual(aBody('web'))
      const later = new Recorder(store, inScope(), first)
      await later.reached(store.revision())
      expect(later.events[0]?.object.body).toEqual(aBody('last'))
    })

    test('hands out the instance that get answers, and tells the newest position at once', async ({
      store,
    }) => {
      const start = await created(store, aKey('shop/web'))
      const watch = new Recorder(store, inScope(), start)
      expect(await watch.reached(start)).toEqual([])
      await created(store, aKey('shop/api'))
      await watch.reached(store.revision())
      expect(watch.events[0]?.object).toBe(await store.get(aKey('shop/api')))
    })

    test('delivers what was written after any kept position', async ({ store }) => {
      const start = store.revision()
      const all: string[] = []
      for (let index = 0; index < 12; index++) {
        const first = await created(store, aKey(`shop/n${index}`))
        all.push(`PUT shop/n${index}@${first}`)
        if (index % 3 === 0)
          all.push(
            `DELETE shop/n${index}@${await deleted(store, aKey(`shop/n${index}`), first)} after ${first}`,
          )
      }
      for (let after = start; after <= store.revision(); after++) {
        const watch = new Recorder(store, inScope(), after)
        const seen = await watch.reached(store.revision())
        expect(seen).toEqual(all.filter(text => Number(/@(\d+)/.exec(text)?.[1]) > after))
        watch.stop()
      }
    })

    test('goes over from the past to the present without gap or repeat', async ({ store }) => {
      const start = store.revision()
      const write = async (lane: number): Promise<void> => {
        for (let index = 0; index < 60; index++) await created(store, aKey(`ns${lane}/n${index}`))
      }
      const watches: Recorder[] = []
      const join = async (): Promise<void> => {
        for (let count = 0; count < 40; count++) {
          watches.push(new Recorder(store, inScope(), start + count * 2))
          await created(store, aKey(`joins/n${count}`))
        }
      }
      await Promise.all([write(0), write(1), write(2), join()])
      const first = watches[0]
      const all = (await first?.reached(store.revision())) ?? []
      expect(all).toHaveLength(3 * 60 + 40)
      for (const [index, watch] of watches.entries()) {
        const seen = await watch.reached(store.revision())
        expect(seen).toEqual(all.filter(text => Number(/@(\d+)/.exec(text)?.[1]) > start + index * 2))
      }
    })

    test('delivers only what the scope names', async ({ store }) => {
      const start = store.revision()
      const both = new Recorder(store, inScope('shop', imports, exports), start)
      const all = new Recorder(store, inScope('', exports), start)
      const one = new Recorder(store, inScope('shop', exports), start)
      const other = new Recorder(store, inScope('shop2', exports), start)
      const a = await created(store, aKey('shop/a', exports))
      const b = await created(store, aKey('shop/b', imports))
      const c = await created(store, aKey('shop2/c', exports))
      await created(store, aKey('d', 'namespaces'))
      const e = await created(store, aKey('shop/e', exports))
      const f = await created(store, aKey('shop2/f', exports))
      expect(await both.reached(e)).toEqual([`PUT shop/a@${a}`, `PUT shop/b@${b}`, `PUT shop/e@${e}`])
      expect(await one.reached(e)).toEqual([`PUT shop/a@${a}`, `PUT shop/e@${e}`])
      expect(await other.reached(f)).toEqual([`PUT shop2/c@${c}`, `PUT shop2/f@${f}`])
      expect(await all.reached(f)).toEqual([
        `PUT shop/a@${a}`,
        `PUT shop2/c@${c}`,
        `PUT shop/e@${e}`,
        `PUT shop2/f@${f}`,
      ])
      const later = new Recorder(store, inScope('shop', imports, exports), start)
      expect(await later.reached(f)).toEqual(both.events.map(shownEvent))
    })

    test('watches cluster-scoped objects', async ({ store }) => {
      const watch = new Recorder(store, inScope('', 'namespaces'), store.revision())
      const revision = await created(store, aKey('shop', 'namespaces'))
      expect(await watch.reached(revision)).toEqual([`PUT /shop@${revision}`])
    })

    test('stays silent until a position that lies ahead has passed', async ({ store }) => {
      const ahead = store.revision() + 2
      const watch = new Recorder(store, inScope(), ahead)
      const late = new Recorder(store, inScope(), store.revision())
      for (const name of ['a', 'b', 'c', 'd']) await created(store, aKey(`shop/${name}`))
      await late.reached(store.revision())
      expect(await watch.reached(store.revision())).toEqual(
        late.events.filter(event => event.object.revision > ahead).map(shownEvent),
      )
    })

    test('makes no call after it was stopped, not even for what was already written', async ({ store }) => {
      const watch = new Recorder(store, inScope(), store.revision())
      const other = new Recorder(store, inScope(), store.revision())
      await other.reached(store.revision())
      const revision = await created(store, aKey('shop/web'))
      // A store may have told of a write before it answers it.
      const { calls } = watch
      watch.stop()
      watch.stop()
      await other.reached(revision)
      expect(watch.calls).toBe(calls)
    })

    test('may be stopped from within a call', async ({ store }) => {
      const seen: string[] = []
      const stop = store.watch(inScope(), store.revision(), {
        events: batch => {
          if (batch.length === 0) return
          seen.push(...batch.map(event => event.object.name))
          stop()
        },
        end: () => seen.push('end'),
      })
      const other = new Recorder(store, inScope(), store.revision())
      await created(store, aKey('shop/a'))
      await created(store, aKey('shop/b'))
      await other.reached(store.revision())
      expect(seen).toEqual(['a'])
    })

    test('goes on for others when a listener throws', async ({ place, store }) => {
      const ends: string[] = []
      store.watch(inScope(), store.revision(), {
        events: batch => {
          if (batch.length > 0) throw new Error('listener is broken')
        },
        end: reason => ends.push(reason),
      })
      const watch = new Recorder(store, inScope(), store.revision())
      await created(store, aKey('shop/a'))
      await created(store, aKey('shop/b'))
      await watch.reached(store.revision())
      expect(watch.events).toHaveLength(2)
      expect(ends).toEqual(['expired'])
      expect(place.logged.map(line => [line.level, line.message])).toEqual([
        ['error', 'watch listener failed'],
      ])
    })

    test('ends a watch from a position that is no longer kept', async ({ store }) => {
      const start = store.revision()
      const first = await created(store, aKey('shop/a'))
      await created(store, aKey('shop/b'))
      await store.compact(first)
      expect(await new Recorder(store, inScope(), start).end()).toBe('expired')
      expect(await new Recorder(store, inScope(), first).reached(store.revision())).toHaveLength(1)
    })

    test('goes on with live watches over a compaction', async ({ store }) => {
      const watch = new Recorder(store, inScope('quiet'), store.revision())
      await watch.reached(store.revision())
      for (const name of ['a', 'b', 'c']) await created(store, aKey(`shop/${name}`))
      await store.compact(store.revision())
      const revision = await created(store, aKey('quiet/a'))
      expect(await watch.reached(revision)).toEqual([`PUT quiet/a@${revision}`])
    })

    test('ends all watches when it closes, after the last events', async ({ store }) => {
      const watches = ['', 'shop', 'none'].map(
        namespace => new Recorder(store, inScope(namespace), store.revision()),
      )
      const late = store.create(aKey('shop/web'), aBody('web'))
      const past = new Recorder(store, inScope(), store.oldest())
      await store.close()
      await late
      for (const watch of [...watches, past]) expect(await watch.end()).toBe('closed')
      expect(watches.map(watch => watch.events.length)).toEqual([1, 1, 0])
    })

    test('ends a watch that is opened on a closed store', async ({ store }) => {
      await store.close()
      expect(await new Recorder(store, inScope(), store.revision()).end()).toBe('closed')
    })
  })
}
