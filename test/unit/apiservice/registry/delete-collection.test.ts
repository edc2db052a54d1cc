import { describe, expect, it } from 'vitest'
import type { Store } from '../../../../apiservice/store-contract.ts'
import { unavailable } from '../../../../src/kernel/errors.ts'
import type { RegistryUnderTest } from '../../../support/registry.ts'
import { storeOver } from '../../../support/store-over.ts'
import { allWidgets, aWidgetRegistry, makeWidget, widgets } from '../../../support/widgets.ts'

async function seed(registry: RegistryUnderTest): Promise<void> {
  await makeWidget(registry, 'h', { metadata: { labels: { k: '1' } } })
  await makeWidget(registry, 'i', { metadata: { labels: { k: '1' } } })
  await makeWidget(registry, 'j', { metadata: { labels: { k: '2' } } })
  await makeWidget(registry, 'l', { metadata: { labels: { k: '1' }, finalizers: ['example.com/f'] } })
}

const names = (body: {
  readonly items: readonly { readonly metadata: { readonly name: string } }[]
}): string => body.items.map(item => item.metadata.name).join('')

describe('deletecollection', () => {
  it('answers the list of what it deletes, and is done when it answers', async () => {
    const registry = await aWidgetRegistry()
    await seed(registry)
    const { code, body } = await registry.send('DELETE', `${widgets}?labelSelector=k%3D1`)
    expect([code, body.kind, names(body)]).toEqual([200, 'WidgetList', 'hil'])
    expect(body.items[2].metadata).not.toHaveProperty('deletionTimestamp')
    const left = await registry.send('GET', widgets)
    expect(names(left.body)).toBe('jl')
    expect(left.body.items[1].metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      generation: 2,
    })
  })

  it('takes field selectors and delete options', async () => {
    const registry = await aWidgetRegistry()
    await seed(registry)
    const body = { propagationPolicy: 'Orphan' }
    await registry.send('DELETE', `${widgets}?fieldSelector=metadata.name%3Dh`, { body })
    const left = await registry.send('GET', widgets)
    expect(names(left.body)).toBe('hijl')
    expect(left.body.items[0].metadata.finalizers).toEqual(['orphan'])
  })

  it('deletes only the page that a limit leaves', async () => {
    const registry = await aWidgetRegistry()
    await seed(registry)
    expect(names((await registry.send('DELETE', `${widgets}?limit=2`)).body)).toBe('hi')
    expect(names((await registry.send('GET', widgets)).body)).toBe('jl')
  })

  it('changes nothing in a dry run', async () => {
    const registry = await aWidgetRegistry()
    await seed(registry)
    expect(names((await registry.send('DELETE', `${widgets}?dryRun=All`)).body)).toBe('hijl')
    expect(names((await registry.send('GET', widgets)).body)).toBe('hijl')
  })

  it('lets others have their turn, also when nothing of it is written', async () => {
    const registry = await aWidgetRegistry()
    await seed(registry)
    let nowMs = registry.clock.now()
    Object.assign(registry.clock, { now: () => (nowMs += 20) })
    let turns = 0
    const others = (): void => {
      turns += 1
      setImmediate(others).unref()
    }
    setImmediate(others)
    await registry.send('DELETE', `${widgets}?dryRun=All`)
    expect(turns).toBeGreaterThan(0)
  })

  it('passes over what others have deleted meanwhile', async () => {
    let gone = false
    const wrap = (store: Store): Store =>
      storeOver(store, {
        get: async key => {
          const found = await store.get(key)
          if (key.name !== 'i' || gone || found === undefined) return found
          gone = true
          await store.delete(key, found.revision)
          return undefined
        },
      })
    const registry = await aWidgetRegistry({ wrap })
    await seed(registry)
    expect((await registry.send('DELETE', widgets)).code).toBe(200)
    expect(gone).toBe(true)
    expect(names((await registry.send('GET', widgets)).body)).toBe('l')
  })

  it('stops at another failure, and answers it', async () => {
    let deletions = 0
    const wrap = (store: Store): Store =>
      storeOver(store, {
        delete: (key, expected, body) => {
          deletions += 1
          if (key.name === 'w0') return Promise.reject(unavailable('the disk is full'))
          return store.delete(key, expected, body)
        },
      })
    const registry = await aWidgetRegistry({ wrap })
    for (let i = 0; i < 100; i += 1) await makeWidget(registry, `w${i}`)
    expect((await registry.send('DELETE', widgets)).body).toMatchObject({
      code: 503,
      message: 'the disk is full',
    })
    expect(deletions).toBeLessThan(100)
  })

  it('is not for all namespaces at once', async () => {
    const registry = await aWidgetRegistry()
    expect((await registry.send('DELETE', allWidgets)).code).toBe(405)
  })
})
