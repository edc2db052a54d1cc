import { describe, expect } from 'vitest'
import type { ListOptions, ObjectKey, Scope, Store } from '../../../apiservice/store-contract.ts'
import type { storeTest } from './harness.ts'
import { aKey, created, deleted, exports, imports, inScope, shownItems, updated } from './harness.ts'

/** Every page of a list, as a client that follows the continuation sees it. */
async function pages(
  store: Store,
  scope: Scope,
  options: ListOptions,
): Promise<readonly (readonly string[])[]> {
  const all: (readonly string[])[] = []
  let after: ObjectKey | undefined
  let { revision } = options
  for (;;) {
    const page = await store.list(scope, {
      ...options,
      ...(revision && { revision }),
      ...(after && { after }),
    })
    revision ??= page.revision
    all.push(shownItems(page))
    after = page.items.at(-1)
    if (page.remaining === 0) return all
  }
}

/** Lists now and at older revisions, in pages, over scopes. */
export function describeLists(test: ReturnType<typeof storeTest>): void {
  describe('lists', () => {
    test('shows everything at one revision, whatever resource it is of', async ({ store }) => {
      expect((await store.snapshot()).items).toEqual([])
      await created(store, aKey('shop/web'))
      await deleted(store, aKey('shop/old'), await created(store, aKey('shop/old')))
      await created(store, aKey('shop/web', imports))
      await created(store, aKey('alone', 'things.nobody.serves'))
      const { items, revision } = await store.snapshot()
      expect(revision).toBe(store.revision())
      expect(items.map(({ resource, namespace, name }) => `${resource} ${namespace}/${name}`)).toEqual([
        `${exports} shop/web`,
        `${imports} shop/web`,
        'things.nobody.serves /alone',
      ])
      await created(store, aKey('shop/later'))
      expect(items).toHaveLength(3)
    })

    test('sorts bytewise as namespace and name with a slash between', async ({ store }) => {
      for (const path of ['b/a', 'a/z', 'a/B', 'a/b', 'a-b/a', 'a/a0', 'a/a', 'B/z'])
        await created(store, aKey(path))
      const list = await store.list(inScope(), { limit: 0 })
      const places = list.items.map(item => `${item.namespace}/${item.name}`)
      expect(places).toEqual(['B/z', 'a-b/a', 'a/B', 'a/a', 'a/a0', 'a/b', 'a/z', 'b/a'])
    })

    test('shows one namespace without those whose names begin alike', async ({ store }) => {
      for (const path of ['foo/a', 'foo2/b', 'fo/c', 'foo/d', 'foo-bar/e']) await created(store, aKey(path))
      const list = await store.list(inScope('foo'), { limit: 0 })
      expect(list.items.map(item => item.name)).toEqual(['a', 'd'])
      expect(list.remaining).toBe(0)
    })

    test('shows several resources at one revision, in the order of the scope', async ({ store }) => {
      const first = await created(store, aKey('shop/b', exports))
      const second = await created(store, aKey('shop/a', imports))
      const third = await created(store, aKey('shop/a', exports))
      await created(store, aKey('shop/a', 'services'))
      const list = await store.list(inScope('shop', imports, exports), { limit: 0 })
      expect(shownItems(list)).toEqual([`shop/a@${second}`, `shop/a@${third}`, `shop/b@${first}`])
      expect(list.revision).toBe(store.revision())
    })

    test('is at the revision of the store, also after deletions and for empty scopes', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      const gone = await deleted(store, aKey('shop/web'), first)
      expect(await store.list(inScope('none'), { limit: 0 })).toEqual({
        revision: gone,
        items: [],
        remaining: 0,
      })
      expect(await store.list(inScope(), { limit: 0 })).toEqual({ revision: gone, items: [], remaining: 0 })
    })

    test('hands out the same instance to get and list', async ({ store }) => {
      await created(store, aKey('shop/web'))
      const list = await store.list(inScope(), { limit: 0 })
      expect(list.items[0]).toBe(await store.get(aKey('shop/web')))
    })

    test('counts what is left behind a page', async ({ store }) => {
      for (let index = 0; index < 10; index++) await created(store, aKey(`shop/n${index}`))
      await created(store, aKey('other/n', imports))
      const scope = inScope('', exports, imports)
      expect((await store.list(scope, { limit: 4 })).remaining).toBe(7)
      expect((await store.list(scope, { limit: 4, after: aKey('shop/n7') })).remaining).toBe(0)
      expect((await store.list(scope, { limit: 11 })).remaining).toBe(0)
      expect((await store.list(scope, { limit: 0, after: aKey('shop/n3') })).items).toHaveLength(7)
    })

    test('goes on behind a key that is gone or never was', async ({ store }) => {
      for (const path of ['a/a', 'a/c', 'b/a', 'c/a']) await created(store, aKey(path))
      const behind = async (path: string, namespace = ''): Promise<readonly string[]> =>
        (await store.list(inScope(namespace), { limit: 0, after: aKey(path) })).items.map(
          item => `${item.namespace}/${item.name}`,
        )
      expect(await behind('a/b')).toEqual(['a/c', 'b/a', 'c/a'])
      expect(await behind('a/c')).toEqual(['b/a', 'c/a'])
      expect(await behind('aa/zzz')).toEqual(['b/a', 'c/a'])
      expect(await behind('z/z')).toEqual([])
      expect(await behind('a/b', 'b')).toEqual(['b/a'])
      expect(await behind('b/b', 'b')).toEqual([])
      expect(await behind('c/a', 'b')).toEqual([])
    })

    test('refuses to go on behind a resource outside of the scope', async ({ store }) => {
      const list = store.list(inScope(), { limit: 1, after: aKey('shop/web', imports) })
      await expect(list).rejects.toMatchObject({ code: 400 })
    })

    test('shows one snapshot over all pages while others write', async ({ store }) => {
      for (let index = 0; index < 25; index++) await created(store, aKey(`ns${index % 3}/n${index}`))
      const before = await store.list(inScope(), { limit: 0 })
      const first = await store.list(inScope(), { limit: 10 })
      for (const [index, item] of before.items.entries()) {
        if (index % 2 === 0) await deleted(store, item, item.revision)
        else await updated(store, item, item.revision, 'changed')
      }
      await created(store, aKey('ns0/new'))
      const rest = await pages(store, inScope(), { revision: first.revision, limit: 10 })
      expect(rest.map(page => page.length)).toEqual([10, 10, 5])
      expect(rest.flat()).toEqual(shownItems(before))
    })

    test('shows exactly what was there at every kept revision', async ({ store }) => {
      const key = aKey('shop/web')
      const other = aKey('shop/api')
      const seen = new Map([[store.revision(), [] as readonly string[]]])
      const note = async (): Promise<void> => {
        const list = await store.list(inScope(), { limit: 0 })
        seen.set(list.revision, shownItems(list))
      }
      for (let round = 0; round < 4; round++) {
        let revision = await created(store, key, `${round}`)
        await note()
        await created(store, aKey(`shop/n${round}`))
        await note()
        revision = await updated(store, key, revision, `${round} again`)
        await note()
        await deleted(store, key, revision)
        await note()
        const there = await store.get(other)
        if (there === undefined) await created(store, other)
        else await updated(store, other, there.revision, `${round}`)
        await note()
      }
      for (const [revision, items] of seen) {
        const list = await store.list(inScope(), { revision, limit: 0 })
        expect([list.revision, shownItems(list)]).toEqual([revision, items])
        expect((await pages(store, inScope(), { revision, limit: 2 })).flat()).toEqual(items)
      }
    })

    test('shows the bodies of older revisions', async ({ store }) => {
      const first = await created(store, aKey('shop/web'), 'first')
      const second = await updated(store, aKey('shop/web'), first, 'second')
      await deleted(store, aKey('shop/web'), second)
      const bodyAt = async (revision: number): Promise<unknown> =>
        (await store.list(inScope(), { revision, limit: 0 })).items[0]?.body.toString()
      expect(await bodyAt(first)).toBe('"name":"first"}}')
      expect(await bodyAt(second)).toBe('"name":"second"}}')
      expect(await bodyAt(store.revision())).toBeUndefined()
    })

    test('answers 504 for a revision that lies ahead', async ({ store }) => {
      const ahead = store.revision() + 100
      await expect(store.list(inScope(), { revision: ahead, limit: 0 })).rejects.toMatchObject({
        code: 504,
        reason: 'Timeout',
        message: `Timeout: Too large resource version: ${ahead}, current: ${store.revision()}`,
        details: {
          retryAfterSeconds: 1,
          causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
        },
      })
    })

    test('answers 410 for a revision that is no longer kept', async ({ store }) => {
      const first = await created(store, aKey('shop/web'))
      const second = await updated(store, aKey('shop/web'), first, 'second')
      await updated(store, aKey('shop/web'), second, 'third')
      await store.compact(second)
      expect(store.oldest()).toBe(second)
      const list = await store.list(inScope(), { revision: second, limit: 0 })
      expect(shownItems(list)).toEqual([`shop/web@${second}`])
      await expect(store.list(inScope('empty'), { revision: first, limit: 0 })).rejects.toMatchObject({
        code: 410,
      })
      await expect(store.list(inScope(), { revision: first, limit: 0 })).rejects.toMatchObject({
        code: 410,
        reason: 'Expired',
        message: 'The resourceVersion for the provided list is too old.',
      })
    })
  })
}
