import { describe, expect } from 'vitest'
import type { StoreManifest, storeTest } from './harness.ts'
import { aBody, aKey, created, deleted, exports, imports, inScope, shownItems, updated } from './harness.ts'

/** Creation, guarded replacement and deletion, one by one and in races. */
export function describeWrites(test: ReturnType<typeof storeTest>, manifest: StoreManifest): void {
  describe('writes', () => {
    test('begins with nothing, at a revision above 0', async ({ store }) => {
      expect(store.revision()).toBeGreaterThan(0)
      expect(store.oldest()).toBe(store.revision())
      expect(await store.get(aKey('shop/web'))).toBeUndefined()
      const list = await store.list(inScope(), { limit: 0 })
      expect(list).toEqual({ revision: store.revision(), items: [], remaining: 0 })
    })

    test('answers a create with the object at a higher revision', async ({ store }) => {
      const before = store.revision()
      const result = await store.create(aKey('shop/web'), aBody('web'))
      expect(result.done).toBe(true)
      const object = await store.get(aKey('shop/web'))
      expect(object).toEqual({ ...aKey('shop/web'), revision: store.revision(), body: aBody('web') })
      expect(object?.revision).toBeGreaterThan(before)
      if (result.done) expect(result.object).toBe(object)
    })

    test('refuses to create what is there and shows it', async ({ store }) => {
      await created(store, aKey('shop/web'))
      const before = store.revision()
      const again = await store.create(aKey('shop/web'), aBody('other'))
      expect(again).toEqual({ done: false, current: await store.get(aKey('shop/web')) })
      expect(store.revision()).toBe(before)
    })

    test('replaces the expected version only', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      const second = await updated(store, aKey('shop/web'), first, 'second')
      const stale = await store.update(aKey('shop/web'), first, aBody('third'))
      expect(stale).toEqual({ done: false, current: await store.get(aKey('shop/web')) })
      expect((await store.get(aKey('shop/web')))?.body).toEqual(aBody('second'))
      expect(store.revision()).toBe(second)
    })

    test('deletes the expected version only, at a revision of its own', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      const second = await updated(store, aKey('shop/web'), first, 'second')
      const stale = await store.delete(aKey('shop/web'), first)
      expect(stale).toMatchObject({ done: false, current: { revision: second } })
      const gone = await store.delete(aKey('shop/web'), second)
      expect(gone).toMatchObject({ done: true, object: { body: aBody('second') } })
      if (gone.done) expect(gone.object.revision).toBe(store.revision())
      expect(store.revision()).toBeGreaterThan(second)
      expect(await store.get(aKey('shop/web'))).toBeUndefined()
    })

    test('carries the last state that a delete names', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      const gone = await store.delete(aKey('shop/web'), first, aBody('without finalizers'))
      expect(gone).toMatchObject({ done: true, object: { body: aBody('without finalizers') } })
    })

    test('refuses to replace or delete what is not there', async ({ store }) => {
      for (const expected of [0, 1, store.revision(), 99]) {
        expect(await store.update(aKey('shop/web'), expected, aBody('x'))).toEqual({
          done: false,
          current: undefined,
        })
        expect(await store.delete(aKey('shop/web'), expected)).toEqual({ done: false, current: undefined })
      }
    })

    test('creates again what was deleted, as another object', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      await deleted(store, aKey('shop/web'), first)
      const again = await created(store, aKey('shop/web'), 'again')
      expect(again).toBeGreaterThan(first)
      expect(await store.update(aKey('shop/web'), first, aBody('stale'))).toMatchObject({ done: false })
    })

    test('keeps one sequence of revisions for all resources', async ({ store }) => {
      const revisions = []
      for (const [index, resource] of [exports, imports, exports, 'namespaces', imports].entries()) {
        revisions.push(await created(store, aKey(`shop/n${index}`, resource)))
      }
      expect(revisions).toEqual([...new Set(revisions)].sort((a, b) => a - b))
    })

    test('lets one of many racing creates win', async ({ store }) => {
      const results = await Promise.all(
        Array.from({ length: 20 }, (_, index) => store.create(aKey('shop/web'), aBody(`${index}`))),
      )
      const winner = results.find(result => result.done)
      const current = await store.get(aKey('shop/web'))
      expect(results.filter(result => result.done)).toHaveLength(1)
      expect(winner?.done === true && winner.object).toBe(current)
      for (const result of results) if (!result.done) expect(result.current).toBe(current)
    })

    test('lets one of many racing updates of a version win', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      const results = await Promise.all([
        ...Array.from({ length: 10 }, (_, index) => store.update(aKey('shop/web'), first, aBody(`${index}`))),
        store.delete(aKey('shop/web'), first),
      ])
      expect(results.filter(result => result.done)).toHaveLength(1)
    })

    test('loses no increment of concurrent get and update loops', async ({ store }) => {
      await created(store, aKey('shop/web'), '0')
      const increment = async (): Promise<void> => {
        for (;;) {
          const seen = await store.get(aKey('shop/web'))
          const count = Number(JSON.parse(seen?.body.toString().slice(7, -2) ?? '') as string)
          const result = await store.update(aKey('shop/web'), seen?.revision ?? 0, aBody(`${count + 1}`))
          if (result.done) return
        }
      }
      await Promise.all(Array.from({ length: 8 }, increment))
      expect((await store.get(aKey('shop/web')))?.body).toEqual(aBody('8'))
    })

    test('judges writes in the order in which they were given', async ({ store }) => {
      const key = aKey('shop/web')
      const first = await created(store, key)
      const pending = [
        store.update(key, first, aBody('second')),
        store.create(key, aBody('too early')),
        store.delete(key, first),
      ]
      const [second, early, stale] = await Promise.all(pending)
      expect(second).toMatchObject({ done: true })
      expect(early).toMatchObject({ done: false, current: { body: aBody('second') } })
      expect(stale).toMatchObject({ done: false, current: { body: aBody('second') } })
    })

    test('keeps apart keys that look alike', async ({ store }) => {
      const keys = [
        aKey('a/b'),
        aKey('a/bb'),
        aKey('ab/b'),
        aKey('a', exports),
        aKey('a/b', 'serviceexports'),
        aKey('a/b', `${exports}2`),
        { resource: exports, namespace: 'a/b', name: 'c' },
        { resource: exports, namespace: 'a', name: 'b/c' },
      ]
      for (const key of keys) await created(store, key, JSON.stringify(key))
      for (const key of keys) expect((await store.get(key))?.body).toEqual(aBody(JSON.stringify(key)))
      expect((await store.list(inScope('a'), { limit: 0 })).items).toHaveLength(3)
    })

    test('takes names with colons, tildes, percent signs and any Unicode', async ({ store }) => {
      const names = [
        'system:node',
        'a~b',
        'a%2Fb',
        '..',
        ' ',
        'ü',
        '\u{1f600}',
        '\ue000',
        '\uffff',
        'a\nb',
        '\u0001',
      ]
      for (const name of names) await created(store, { resource: exports, namespace: 'shop', name })
      for (const name of names) {
        expect(await store.get({ resource: exports, namespace: 'shop', name })).toMatchObject({ name })
      }
      const listed = (await store.list(inScope('shop'), { limit: 0 })).items.map(item => item.name)
      expect(listed).toEqual([...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))))
    })

    test('refuses a name that is not Unicode', async ({ store }) => {
      await expect(store.create(aKey('shop/\ud800'), aBody('x'))).rejects.toMatchObject({ code: 400 })
    })

    test('keeps bodies of any size up to what a request can carry, byte by byte', async ({ store }) => {
      const largest = Buffer.alloc(manifest.largestBodyBytes, 'ab')
      const bodies = [Buffer.alloc(0), Buffer.from([0, 255, 128]), largest]
      for (const [index, body] of bodies.entries()) {
        await store.create(aKey(`shop/n${index}`), body)
        expect((await store.get(aKey(`shop/n${index}`)))?.body.equals(body)).toBe(true)
      }
    })

    test('refuses with 413 what is too large for it, and goes on', async ({ store }) => {
      const body = Buffer.alloc(9 * 1024 * 1024)
      await expect(store.create(aKey('shop/web'), body)).rejects.toMatchObject({ code: 413 })
      await created(store, aKey('shop/web'))
    })

    test('does not change when the buffer of a write is used again', async ({ store }) => {
      const body = aBody('before')
      const writing = store.create(aKey('shop/web'), body)
      await writing
      body.fill(0)
      expect((await store.get(aKey('shop/web')))?.body).toEqual(aBody('before'))
    })

    test('takes many writes at once', async ({ store }) => {
      const paths = Array.from({ length: 1500 }, (_, index) => `ns${index % 7}/name-${(index * 7919) % 1500}`)
      await Promise.all(paths.map(path => created(store, aKey(path))))
      const list = await store.list(inScope(), { limit: 0 })
      expect(list.items).toHaveLength(1500)
      const gone = list.items.filter((_, index) => index % 3 === 0)
      await Promise.all(gone.map(object => deleted(store, object, object.revision)))
      expect(shownItems(await store.list(inScope(), { limit: 0 }))).toEqual(
        shownItems({ ...list, items: list.items.filter((_, index) => index % 3 !== 0) }),
      )
    })

    test(
      'refuses with 429 when too many writes wait, and loses none that it took',
      async ({ store }) => {
        const results = await Promise.allSettled(
          Array.from({ length: 50 }, (_, index) => created(store, aKey(`shop/n${index}`))),
        )
        const refused = results.filter(result => result.status === 'rejected')
        expect(refused.length).toBeGreaterThan(0)
        for (const { reason } of refused)
          expect(reason).toMatchObject({ code: 429, reason: 'TooManyRequests' })
        const kept = await store.list(inScope(), { limit: 0 })
        expect(kept.items).toHaveLength(50 - refused.length)
      },
      { bounds: { queuedWrites: 20 } },
    )

    test('finishes writes under way when it closes, and refuses later ones', async ({ store }) => {
      const writes = Array.from({ length: 40 }, (_, index) =>
        store.create(aKey(`shop/n${index}`), aBody('x')),
      )
      const closing = store.close()
      const late = store.create(aKey('shop/late'), aBody('x'))
      await expect(late).rejects.toMatchObject({ code: 503, reason: 'ServiceUnavailable' })
      for (const result of await Promise.all(writes)) expect(result.done).toBe(true)
      await closing
      await store.close()
      await expect(Promise.try(() => store.get(aKey('shop/n1')))).rejects.toMatchObject({ code: 503 })
      await expect(store.list(inScope(), { limit: 0 })).rejects.toMatchObject({ code: 503 })
    })
  })
}
