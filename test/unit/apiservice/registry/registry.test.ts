import { describe, expect, it } from 'vitest'
import { NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { SightKind } from '../../../support/kinds.ts'
import { aSpace, aWidget, aWidgetRegistry, makeWidget, spaces, widgets } from '../../../support/widgets.ts'

const unknown = 'the server could not find the requested resource'
const unsupported = 'the server does not allow this method on the requested resource'
const inV2 = '/apis/test.example.com/v2'

describe('addresses', () => {
  it.each([
    ['GET', `${inV2}/namespaces/shop/gadgets`, 404, unknown],
    ['GET', `${inV2}/namespaces/shop/gadgets/x`, 404, unknown],
    ['GET', '/apis/test.example.com/v9/namespaces/shop/widgets', 404, unknown],
    ['GET', '/apis/other.example.com/v2/namespaces/shop/widgets', 404, unknown],
    ['GET', `${widgets}/web/scale`, 404, 'widgets.test.example.com "web" not found'],
    ['GET', `${inV2}/widgets/web`, 404, unknown],
    ['DELETE', `${inV2}/widgets/web`, 404, unknown],
    ['POST', `${inV2}/widgets`, 405, unsupported],
    ['DELETE', `${inV2}/widgets`, 405, unsupported],
    ['POST', `${widgets}/web`, 405, unsupported],
    ['PUT', widgets, 405, unsupported],
    ['PATCH', widgets, 405, unsupported],
    ['OPTIONS', widgets, 405, unsupported],
    ['GET', '/api/v1/namespaces/shop/spaces', 404, unknown],
    ['GET', '/api/v1/namespaces/spaces/spaces', 404, unknown],
    ['GET', '/api/v1/namespaces/a/spaces/a', 404, unknown],
    ['GET', `${spaces}/a/scale`, 404, unknown],
    ['DELETE', `${spaces}/a/status`, 405, unsupported],
    ['GET', '/version', 404, unknown],
    ['GET', `${widgets}/..`, 400, `Name parameter invalid: "..": may not be '..'`],
    ['DELETE', `${widgets}/.`, 400, `Name parameter invalid: ".": may not be '.'`],
    ['GET', `${widgets}/a%b/status`, 400, `Name parameter invalid: "a%b": may not contain '%'`],
    ['PUT', `${spaces}/%`, 400, `Name parameter invalid: "%": may not contain '%'`],
  ])('%s %s is answered with %i', async (method, path, code, message) => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'web')
    await registry.send('POST', spaces, { body: aSpace('a') })
    expect((await registry.send(method, path)).body).toMatchObject({ code, message })
  })

  it('finds a cluster-scoped kind whose own path begins like a namespace', async () => {
    const registry = await aWidgetRegistry({ kinds: [NamespaceKind] })
    const path = '/api/v1/namespaces'
    expect((await registry.send('POST', path, { body: { metadata: { name: 'status' } } })).code).toBe(201)
    for (const item of [`${path}/status`, `${path}/status/`, `${path}/status/status`]) {
      expect((await registry.send('GET', item)).body.metadata.name).toBe('status')
    }
  })

  it('watches one by the deprecated path', async () => {
    const registry = await aWidgetRegistry({ kinds: [NamespaceKind] })
    for (const name of ['a', 'b'])
      await registry.send('POST', '/api/v1/namespaces', { body: { metadata: { name } } })
    expect((await registry.watch('/api/v1/watch/namespaces/a')).seen).toEqual(['ADDED a'])
  })

  it('takes a slash at the end', async () => {
    const registry = await aWidgetRegistry()
    expect((await registry.send('GET', `${widgets}/`)).body.items).toEqual([])
  })

  it('needs a view for each kind that is one', async () => {
    await expect(aWidgetRegistry({ kinds: [SightKind] })).rejects.toThrow(
      'registry: nothing answers sights.test.example.com',
    )
  })

  it('tells names apart that begin alike', async () => {
    const registry = await aWidgetRegistry()
    await makeWidget(registry, 'foo')
    await makeWidget(registry, 'foo2')
    await registry.send('POST', widgets.replace('shop', 'shop2'), { body: aWidget('foo') })
    await registry.send('DELETE', `${widgets}/foo`)
    expect((await registry.send('GET', widgets)).body.items).toHaveLength(1)
    expect((await registry.send('GET', widgets.replace('shop', 'shop2'))).body.items).toHaveLength(1)
  })
})
