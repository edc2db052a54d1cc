// The numbered cases that an API server alone decides.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import type { ApiClient } from '../support/api-client.ts'
import { type TestServer, testServer } from '../support/api-server.ts'
import { anExport, anImport } from '../support/mcs-objects.ts'

describe('an API server', () => {
  let server: TestServer
  let client: ApiClient
  beforeAll(async () => {
    server = await testServer()
    client = server.client()
    const shop = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
    const headers = { 'content-type': 'application/json' }
    await client.send('/api/v1/namespaces', { method: 'POST', headers, body: JSON.stringify(shop) })
  })
  afterAll(() => server.close())

  const send = (method: string, path: string, object?: object) =>
    client.send(`/apis/multicluster.x-k8s.io/${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(object === undefined ? {} : { body: JSON.stringify(object) }),
    })

  it('61: shows an export that was created at v1alpha1 as the same at v1beta1', async () => {
    const sent = { ...anExport(), apiVersion: 'multicluster.x-k8s.io/v1alpha1' }
    const created = await send('POST', 'v1alpha1/namespaces/shop/serviceexports', sent)
    expect(created.status).toBe(201)
    const read = await send('GET', 'v1beta1/namespaces/shop/serviceexports/web')
    // What the server answered is an object of the API.
    const { apiVersion, ...body } = read.json as KubeObject
    const { apiVersion: before, ...bodyBefore } = created.json as KubeObject
    expect([before, apiVersion]).toEqual(['multicluster.x-k8s.io/v1alpha1', 'multicluster.x-k8s.io/v1beta1'])
    expect(body).toEqual(bodyBefore)
    expect(body.metadata.uid).toMatch(/-/)
    expect(body.metadata.resourceVersion).toMatch(/^\d+$/)
  })

  it('62: names each field of an import that is wrong', async () => {
    const path = 'v1beta1/namespaces/shop/serviceimports'
    // What the server answered is an object of the API.
    const { metadata } = (await send('POST', path, anImport())).json as KubeObject
    const ips = ['10.7.0.1', '10.7.0.2', '10.7.0.3']
    const wrong = { ...anImport({ ports: null, type: 'Foo', ips }), metadata }
    const answer = await send('PUT', `${path}/a`, wrong)
    expect(answer.status).toBe(422)
    expect(answer.json).toMatchObject({
      reason: 'Invalid',
      details: {
        causes: expect.arrayContaining(
          ['spec.ports', 'spec.type', 'spec.ips'].map(field => expect.objectContaining({ field })),
        ),
      },
    })
  })
})
