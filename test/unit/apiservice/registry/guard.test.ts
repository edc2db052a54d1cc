import { describe, expect, it } from 'vitest'
import type { RegistryUnderTest, SendOptions } from '../../../support/registry.ts'
import { aWidget, aWidgetRegistry, makeWidget, widgets } from '../../../support/widgets.ts'

const term = { resource: 'leases.coordination.k8s.io', namespace: 'kube-system', name: 'term' }
const over = {
  code: 409,
  body: { reason: 'Conflict', details: { causes: [{ reason: 'WriteGuardChanged' }] } },
}

/** A registry with a Lease, and how to send under the guard of its present version. */
async function underGuard() {
  const registry = await aWidgetRegistry()
  const made = await registry.store.create(term, Buffer.from('{}'))
  const revision = made.done ? made.object.revision : 0
  const headers = { 'isthmus-write-guard': `leases.coordination.k8s.io/kube-system/term@${revision}` }
  const nextTerm = () => registry.store.update(term, revision, Buffer.from('{"next":1}'))
  const send = (method: string, path: string, body?: unknown, more: SendOptions = {}) =>
    registry.send(method, path, { body, headers, ...more })
  return { registry, nextTerm, send }
}

async function versionOf(registry: RegistryUnderTest, name: string): Promise<string> {
  return (await registry.send('GET', `${widgets}/${name}`)).body.metadata?.resourceVersion
}

describe('the guard of writes', () => {
  it('lets every verb write while its Lease stands', async () => {
    const { send, registry } = await underGuard()
    expect(await send('POST', widgets, aWidget('web'))).toMatchObject({ code: 201 })
    const patch = { spec: { size: 7 } }
    const type = 'application/merge-patch+json'
    expect(await send('PATCH', `${widgets}/web`, patch, { type })).toMatchObject({ code: 200 })
    expect(await send('DELETE', `${widgets}/web`)).toMatchObject({ code: 200 })
    expect(await versionOf(registry, 'web')).toBeUndefined()
  })

  it('refuses every verb once the Lease has changed', async () => {
    const { nextTerm, registry, send } = await underGuard()
    const web = await makeWidget(registry, 'web')
    await nextTerm()
    expect(await send('POST', widgets, aWidget('late'))).toMatchObject(over)
    expect(await send('PUT', `${widgets}/web`, { ...web, spec: { size: 8 } })).toMatchObject(over)
    const type = 'application/merge-patch+json'
    expect(await send('PATCH', `${widgets}/web`, { spec: { size: 7 } }, { type })).toMatchObject(over)
    expect(await send('DELETE', `${widgets}/web`)).toMatchObject(over)
    expect(await send('DELETE', widgets)).toMatchObject(over)
    expect(await versionOf(registry, 'web')).toBe(web.metadata.resourceVersion)
    expect(await versionOf(registry, 'late')).toBeUndefined()
  })

  it('is for administrators', async () => {
    const { send } = await underGuard()
    const user = { name: 'ann', groups: ['system:authenticated'], extra: {} }
    expect(await send('POST', widgets, aWidget('web'), { user })).toMatchObject({ code: 403 })
  })

  it.each(['term@1', 'leases/a/term', 'leases/a/term@one', 'leases/a/b@1,leases/a/b@2'])(
    'takes no %s',
    async text => {
      const { registry } = await underGuard()
      const headers = { 'isthmus-write-guard': text }
      const answer = await registry.send('POST', widgets, { body: aWidget('web'), headers })
      expect(answer).toMatchObject({ code: 400, body: { reason: 'BadRequest' } })
    },
  )
})
