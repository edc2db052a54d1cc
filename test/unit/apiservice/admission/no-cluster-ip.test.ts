import { describe, expect, it } from 'vitest'
import { noClusterIpPlugin } from '../../../../apiservice/admission/no-cluster-ip.ts'
import { ServiceKind } from '../../../../src/api/kinds/service.ts'
import { aRegistry } from '../../../support/registry.ts'

const path = '/api/v1/namespaces/shop/services'
const ports = [{ port: 80 }]

async function aServer() {
  const registry = await aRegistry({ kinds: [ServiceKind], plugins: [noClusterIpPlugin()] })
  const service = (spec: object) => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web' },
    spec,
  })
  return { registry, create: (spec: object) => registry.send('POST', path, { body: service(spec) }) }
}

describe('a server that gives out no addresses', () => {
  it.each([
    { clusterIP: 'None', ports },
    { type: 'ExternalName', externalName: 'web.example.com' },
  ])('takes %j', async spec => {
    const { create } = await aServer()
    expect(await create(spec)).toMatchObject({ code: 201 })
  })

  it.each([{ ports }, { clusterIP: '10.96.0.9', ports }, { type: 'NodePort', ports }])(
    'refuses %j with a sentence',
    async spec => {
      const { create } = await aServer()
      expect(await create(spec)).toMatchObject({
        code: 422,
        body: { message: expect.stringContaining('shares its store with others gives no addresses') },
      })
    },
  )

  it('lets a service keep the address that it has', async () => {
    const { registry } = await aServer()
    const key = { resource: 'services', namespace: 'shop', name: 'old' }
    const body = { name: 'old', namespace: 'shop', uid: 'u' }
    const text = `${JSON.stringify(body).slice(1)},"spec":{"clusterIP":"10.96.0.7","clusterIPs":["10.96.0.7"],"ports":[{"port":80,"protocol":"TCP","targetPort":80}]}}`
    await registry.store.create(key, Buffer.from(text))
    const patch = { body: { metadata: { labels: { a: 'b' } } }, type: 'application/merge-patch+json' }
    expect(await registry.send('PATCH', `${path}/old`, patch)).toMatchObject({ code: 200 })
  })
})
