import { describe, expect, it } from 'vitest'
import {
  makeNamespaceLifecycle,
  storedNamespaces,
} from '../../../../apiservice/admission/namespace-lifecycle.ts'
import { NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { QuestionKind, SpaceKind, WidgetKind } from '../../../support/kinds.ts'
import { aRegistry, type RegistryUnderTest } from '../../../support/registry.ts'
import { aSpace, aWidget, widgets } from '../../../support/widgets.ts'

const namespaces = '/api/v1/namespaces'

async function aCluster(): Promise<RegistryUnderTest> {
  let registry: RegistryUnderTest | undefined
  const lookup = storedNamespaces({ get: async key => registry?.store.get(key) })
  registry = await aRegistry({
    kinds: [NamespaceKind, WidgetKind, SpaceKind, QuestionKind],
    plugins: [makeNamespaceLifecycle(lookup)],
    reviews: new Map([['questions.test.example.com', async ({ object }) => object]]),
  })
  return registry
}

const makeNamespace = (registry: RegistryUnderTest, name: string) =>
  registry.send('POST', namespaces, { body: { metadata: { name } } })

describe('the namespace lifecycle', () => {
  it('refuses to create where there is no namespace', async () => {
    const registry = await aCluster()
    expect((await registry.send('POST', widgets, { body: aWidget('web') })).body).toMatchObject({
      code: 404,
      message: 'namespaces "shop" not found',
      details: { kind: 'namespaces', name: 'shop' },
    })
    expect((await registry.send('POST', `${widgets}?dryRun=All`, { body: aWidget('web') })).code).toBe(404)
  })

  it('lets creations pass as soon as the namespace is there', async () => {
    const registry = await aCluster()
    expect((await makeNamespace(registry, 'shop')).code).toBe(201)
    expect((await registry.send('POST', widgets, { body: aWidget('web') })).code).toBe(201)
  })

  it('refuses to create in a namespace that is going away, and lets it be emptied', async () => {
    const registry = await aCluster()
    await makeNamespace(registry, 'shop')
    await registry.send('POST', widgets, { body: aWidget('web', { metadata: { finalizers: ['a.com/a'] } }) })
    expect((await registry.send('DELETE', `${namespaces}/shop`)).body.status.phase).toBe('Terminating')
    expect((await registry.send('POST', widgets, { body: aWidget('late') })).body).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'widgets.test.example.com "late" is forbidden: unable to create new content in namespace shop because it is being terminated',
      details: {
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace shop is being terminated',
            field: 'metadata.namespace',
          },
        ],
      },
    })
    const body = [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }]
    const patched = await registry.send('PATCH', `${widgets}/web`, {
      body,
      type: 'application/json-patch+json',
    })
    expect(patched.code).toBe(200)
    expect((await registry.send('DELETE', widgets)).code).toBe(200)
  })

  it('refuses updates when the namespace is gone, not deletions', async () => {
    const registry = await aCluster()
    await makeNamespace(registry, 'shop')
    const { body } = await registry.send('POST', widgets, { body: aWidget('web') })
    const { revision } = (await registry.store.get({
      resource: 'namespaces',
      namespace: '',
      name: 'shop',
    })) ?? {
      revision: 0,
    }
    await registry.store.delete({ resource: 'namespaces', namespace: '', name: 'shop' }, revision)
    expect(
      (await registry.send('PUT', `${widgets}/web`, { body: { ...body, spec: { size: 1 } } })).code,
    ).toBe(404)
    expect((await registry.send('DELETE', `${widgets}/web`)).code).toBe(200)
  })

  it('does not concern cluster-scoped objects, reviews and reads', async () => {
    const registry = await aCluster()
    expect((await registry.send('POST', '/api/v1/spaces', { body: aSpace('a') })).code).toBe(201)
    const question = { spec: { text: 'why' } }
    const asked = await registry.send('POST', '/apis/test.example.com/v2/questions', { body: question })
    expect(asked.code).toBe(201)
    expect((await registry.send('GET', widgets)).body.items).toEqual([])
  })

  it.each(['default', 'kube-system', 'kube-public'])('keeps %s', async name => {
    const registry = await aCluster()
    await makeNamespace(registry, name)
    expect((await registry.send('DELETE', `${namespaces}/${name}`)).body).toMatchObject({
      code: 403,
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    })
  })
})
