import { beforeEach, describe, expect, it } from 'vitest'
import type { View } from '../../../../apiservice/contract.ts'
import type { StoredObject } from '../../../../apiservice/store-contract.ts'
import { SightKind, SpaceKind, WidgetKind } from '../../../support/kinds.ts'
import type { Answer, RegistryUnderTest } from '../../../support/registry.ts'
import { aRegistry } from '../../../support/registry.ts'
import { aSpace, aWidget, mergePatchType, spaces } from '../../../support/widgets.ts'

const sights = '/apis/test.example.com/v2/namespaces/east/sights'
const widgetsIn = (namespace: string): string => `/apis/test.example.com/v2/namespaces/${namespace}/widgets`

/** Shows each namespace the widgets and spaces that are labelled for it, under a name that tells where they are. */
function labelView(): View & { readonly asked: readonly string[]; changed(namespace: string): void } {
  const asked: string[] = []
  const listeners = new Set<(namespace: string) => void>()
  return {
    resources: ['spaces', 'widgets.test.example.com'],
    namespaces: () => ['east', 'west'],
    since: () => 0,
    keysOf: name => {
      const [namespace = '', inNamespace = ''] = name.split('.')
      return [
        { resource: 'spaces', namespace: '', name },
        { resource: 'widgets.test.example.com', namespace, name: inNamespace },
      ]
    },
    asked,
    visible: (namespace, object) => {
      asked.push(nameOf(object))
      return object.body.includes(`"for":"${namespace}"`)
    },
    render: (namespace, object) => ({
      ...object,
      resource: 'sights.test.example.com',
      namespace,
      name: nameOf(object),
      body: Buffer.from(
        object.body
          .toString()
          .replace(/"namespace":"[^"]*",/, '')
          .replace(/"name":"[^"]*"/, `"name":"${nameOf(object)}","namespace":"${namespace}"`),
      ),
    }),
    onChange: listener => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    changed: namespace => {
      for (const listener of listeners) listener(namespace)
    },
  }
}

type StoredMeta = { readonly metadata: { readonly namespace: string; readonly name: string } }

function nameOf({ namespace, name }: StoredObject): string {
  return namespace === '' ? name : `${namespace}.${name}`
}

const forEast = { metadata: { labels: { for: 'east', app: 'web' } } }

describe('a view', () => {
  let view: ReturnType<typeof labelView>
  let registry: RegistryUnderTest

  beforeEach(async () => {
    view = labelView()
    registry = await aRegistry({
      kinds: [SightKind, WidgetKind, SpaceKind],
      views: new Map([['sights.test.example.com', view]]),
    })
    await registry.send('POST', widgetsIn('shop'), { body: aWidget('a', forEast) })
    await registry.send('POST', widgetsIn('shop'), { body: aWidget('b') })
    await registry.send('POST', widgetsIn('bank'), { body: aWidget('a', forEast) })
    await registry.send('POST', spaces, { body: aSpace('s', { metadata: { labels: { for: 'east' } } }) })
  })

  const patch = (path: string, body: unknown) => registry.send('PATCH', path, { body, type: mergePatchType })
  const names = async (query = ''): Promise<readonly string[]> => {
    const { body } = await registry.send('GET', `${sights}${query}`)
    return body.items.map((item: { metadata: { name: string } }) => item.metadata.name)
  }

  it('lists what is visible of several resources in one order, at one revision', async () => {
    const { body } = await registry.send('GET', sights)
    expect([body.kind, body.metadata]).toEqual([
      'SightList',
      { resourceVersion: String(registry.store.revision()) },
    ])
    expect(await names()).toEqual(['bank.a', 's', 'shop.a'])
    expect(await names().then(() => registry.send('GET', sights.replace('east', 'west')))).toMatchObject({
      body: { items: [] },
    })
  })

  it('selects by what it shows', async () => {
    expect(await names('?labelSelector=app%3Dweb')).toEqual(['bank.a', 'shop.a'])
    expect(await names('?fieldSelector=metadata.name%3Dshop.a')).toEqual(['shop.a'])
    expect(await names('?fieldSelector=metadata.namespace%3Deast')).toHaveLength(3)
  })

  it('pages over all resources', async () => {
    const first = await registry.send('GET', `${sights}?limit=1`)
    const second = await registry.send('GET', `${sights}?limit=1&continue=${first.body.metadata.continue}`)
    expect(second.body.items[0].metadata.name).toBe('s')
    expect(await names(`?continue=${second.body.metadata.continue}`)).toEqual(['shop.a'])
  })

  it('gets one object by the name that it is shown under', async () => {
    expect((await registry.send('GET', `${sights}/shop.a`)).body.metadata.name).toBe('shop.a')
    expect((await registry.send('GET', `${sights}/shop.b`)).code).toBe(404)
  })

  it.each(['/shop.a', '?fieldSelector=metadata.name%3Dshop.a', '?fieldSelector=metadata.name%3Ds&limit=1'])(
    'asks only about objects that may be shown under the name: %s',
    async path => {
      const { code } = await registry.send('GET', `${sights}${path}`)
      expect([code, view.asked]).toEqual([200, [path.includes('shop') ? 'shop.a' : 's']])
    },
  )

  it('shows one object by name as it was at an older revision', async () => {
    const old = registry.store.revision()
    await patch(`${widgetsIn('shop')}/a`, { metadata: { labels: null } })
    expect(await names('?fieldSelector=metadata.name%3Dshop.a')).toEqual([])
    const exact = `&resourceVersion=${old}&resourceVersionMatch=Exact`
    expect(await names(`?fieldSelector=metadata.name%3Dshop.a${exact}`)).toEqual(['shop.a'])
  })

  it('watches what comes into sight, changes, and goes out of it', async () => {
    const watch = await registry.watch(`${sights}?watch=1&resourceVersion=${registry.store.revision()}`)
    await patch(`${widgetsIn('shop')}/b`, forEast)
    await patch(`${widgetsIn('shop')}/b`, { spec: { size: 1 } })
    await patch(`${widgetsIn('shop')}/b`, { metadata: { labels: null } })
    await registry.send('DELETE', `${spaces}/s`)
    await registry.send('DELETE', `${widgetsIn('shop')}/b`)
    await watch.settle()
    expect(watch.seen).toEqual(['ADDED shop.b', 'MODIFIED shop.b', 'DELETED shop.b', 'DELETED s'])
    expect(watch.frames[1]?.object.kind).toBe('Sight')
  })

  it('begins with what is in sight, and marks the end of it', async () => {
    const watch = await registry.watch(
      `${sights}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
    )
    expect(watch.seen).toEqual([
      'ADDED bank.a',
      'ADDED s',
      'ADDED shop.a',
      `BOOKMARK ${registry.store.revision()} end`,
    ])
  })

  it('does not go on with a watch from before what a namespace may see changed', async () => {
    const before = registry.store.revision()
    await patch(`${widgetsIn('shop')}/b`, { spec: { size: 1 } })
    const changed = registry.store.revision()
    view.since = namespace => (namespace === 'east' ? changed : 0)
    const late = await registry.watch(`${sights}?watch=1&resourceVersion=${before}`)
    const current = await registry.watch(`${sights}?watch=1&resourceVersion=${changed}`)
    const other = await registry.watch(`${sights.replace('east', 'west')}?watch=1&resourceVersion=${before}`)
    expect([late.seen, late.isEnded]).toEqual([['ERROR 410'], true])
    expect([current.isEnded, other.isEnded]).toEqual([false, false])
  })

  it('ends the watches of a namespace with 410 when all it may see has changed', async () => {
    const east = await registry.watch(`${sights}?watch=1`)
    const west = await registry.watch(`${sights.replace('east', 'west')}?watch=1`)
    view.changed('east')
    view.changed('east')
    expect(east.seen.slice(3)).toEqual(['ERROR 410'])
    expect([east.isEnded, west.isEnded]).toEqual([true, false])
  })

  describe('over all namespaces', () => {
    const all = '/apis/test.example.com/v2/sights'
    const seen = ({ body }: Answer): readonly string[] =>
      body.items.map(({ metadata }: StoredMeta) => `${metadata.namespace}/${metadata.name}`)
    const everything = ['east/bank.a', 'east/s', 'east/shop.a', 'west/bank.b', 'west/bank.c']

    beforeEach(async () => {
      for (const name of ['b', 'c']) {
        await registry.send('POST', widgetsIn('bank'), {
          body: aWidget(name, { metadata: { labels: { for: 'west' } } }),
        })
      }
    })

    it('lists what each of them sees, one after the other', async () => {
      const answer = await registry.send('GET', all)
      expect(seen(answer)).toEqual(everything)
      expect(answer.body.metadata).toEqual({ resourceVersion: String(registry.store.revision()) })
      expect(seen(await registry.send('GET', `${all}?labelSelector=app%3Dweb`))).toEqual([
        'east/bank.a',
        'east/shop.a',
      ])
      const inWest = `${all}?fieldSelector=metadata.namespace%3Dwest`
      expect(seen(await registry.send('GET', inWest))).toEqual(everything.slice(3))
      expect(seen(await registry.send('GET', `${inWest},metadata.name%3Dbank.c`))).toEqual(['west/bank.c'])
      expect(seen(await registry.send('GET', `${all}?fieldSelector=metadata.namespace%3Dnorth`))).toEqual([])
      expect((await registry.send('GET', `${all}?fieldSelector=spec.x%3D1`)).code).toBe(400)
    })

    it.each([1, 2, 3, 4])('pages by %i, at one revision', async limit => {
      const found: string[] = []
      let token = ''
      do {
        const answer = await registry.send('GET', `${all}?limit=${limit}&continue=${token}`)
        expect(answer.body.items.length).toBeLessThanOrEqual(limit)
        found.push(...seen(answer))
        token = answer.body.metadata.continue ?? ''
        await registry.send('DELETE', `${widgetsIn('bank')}/c`)
      } while (token !== '')
      expect(found).toEqual(everything)
    })

    it('goes on when the namespace that a page ended in sees nothing any more', async () => {
      const { body } = await registry.send('GET', `${all}?limit=2`)
      view.namespaces = () => ['west']
      const path = `${all}?continue=${body.metadata.continue}`
      expect(seen(await registry.send('GET', path))).toEqual(everything.slice(3))
      view.namespaces = () => []
      expect(seen(await registry.send('GET', path))).toEqual([])
    })

    it('takes no continue token of one namespace, nor the reverse', async () => {
      const one = await registry.send('GET', `${sights}?limit=1`)
      const many = await registry.send('GET', `${all}?limit=1`)
      for (const path of [
        `${all}?continue=${one.body.metadata.continue}`,
        `${sights}?continue=${many.body.metadata.continue}`,
      ]) {
        expect((await registry.send('GET', path)).body).toMatchObject({
          code: 400,
          message: expect.stringContaining('it belongs to another list'),
        })
      }
    })

    it('watches all of them, until what one may see changes as a whole', async () => {
      const watch = await registry.watch(`${all}?watch=1&resourceVersion=${registry.store.revision()}`)
      await patch(`${widgetsIn('bank')}/b`, { metadata: { labels: { for: 'east' } } })
      await registry.send('DELETE', `${widgetsIn('bank')}/c`)
      await watch.settle()
      expect(watch.frames.map(({ type, object }) => `${type} ${object.metadata.namespace}`)).toEqual([
        'ADDED east',
        'DELETED west',
        'DELETED west',
      ])
      view.changed('west')
      expect([watch.seen.at(-1), watch.isEnded]).toEqual(['ERROR 410', true])
    })

    it('begins with what all of them see', async () => {
      const watch = await registry.watch(`${all}?watch=1`)
      expect(watch.seen).toEqual(everything.map(name => `ADDED ${name.slice(5)}`))
    })
  })

  it.each([
    ['POST', sights, 'create is not supported on resources of kind "sights.test.example.com"'],
    ['DELETE', sights, 'deletecollection is not supported on resources of kind "sights.test.example.com"'],
    ['PUT', `${sights}/shop.a`, 'update is not supported on resources of kind "sights.test.example.com"'],
  ])('refuses %s %s', async (method, path, message) => {
    expect((await registry.send(method, path)).body).toMatchObject({ code: 405, message })
  })
})
