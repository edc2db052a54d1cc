// A server behind a kube-apiserver: whom it believes, whom it asks, what it leaves to the other.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RoleKind } from '../../src/api/kinds/role.ts'
import { RoleBindingKind } from '../../src/api/kinds/role-binding.ts'
import { resource } from '../../src/cluster/cluster.ts'
import { issueClient, makeAuthority } from '../../src/identity/certificate.ts'
import { never } from '../../src/kernel/abort.ts'
import {
  type Aggregation,
  authenticationMap,
  configMaps,
  lifetime,
  namespaces,
  startAggregation,
} from '../support/aggregation.ts'
import { eventually } from '../support/eventually.ts'

const exportsIn = (namespace: string): string =>
  `/apis/multicluster.x-k8s.io/v1beta1/namespaces/${namespace}/serviceexports`
const web = JSON.stringify({
  apiVersion: 'multicluster.x-k8s.io/v1beta1',
  kind: 'ServiceExport',
  metadata: { name: 'web' },
})
const create = { method: 'POST', headers: { 'content-type': 'application/json' }, body: web }

describe('a server behind a kube-apiserver', () => {
  let under: Aggregation
  beforeAll(async () => {
    under = await startAggregation()
    const { cluster } = under
    for (const name of ['shop', 'other']) {
      await cluster.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, never)
    }
    const rbac = 'rbac.authorization.k8s.io'
    const metadata = { namespace: 'shop', name: 'exporter' }
    const rules = [
      {
        apiGroups: ['multicluster.x-k8s.io'],
        resources: ['serviceexports'],
        verbs: ['get', 'list', 'create'],
      },
    ]
    await cluster.create(
      resource(RoleKind),
      { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules },
      never,
    )
    await cluster.create(
      resource(RoleBindingKind),
      {
        apiVersion: `${rbac}/v1`,
        kind: 'RoleBinding',
        metadata,
        roleRef: { apiGroup: rbac, kind: 'Role', name: 'exporter' },
        subjects: [{ apiGroup: rbac, kind: 'User', name: 'ada' }],
      },
      never,
    )
  })
  afterAll(() => under.close())

  it('serves its own kinds and nothing else', async () => {
    const admin = await under.server.running.identity.client('admin', {
      user: 'a',
      groups: ['system:masters'],
    })
    const client = under.client(admin)
    const { json } = await client.send('/apis')
    expect(json).toMatchObject({ groups: [{ name: 'multicluster.x-k8s.io' }] })
    expect((await client.send('/api')).status).toBe(404)
    expect((await client.send('/api/v1/namespaces')).status).toBe(404)
    expect((await client.send('/apis/authorization.k8s.io/v1')).status).toBe(404)
    expect((await client.send('/openapi/v3')).status).toBe(200)
    expect((await client.send('/readyz?verbose')).text).toContain('[+]authentication ok\n[+]namespaces ok\n')
  })

  it('lets those through whom the cluster lets through', async () => {
    expect((await under.asUser('ada', exportsIn('shop'), create)).status).toBe(201)
    const { json } = await under.asUser('ada', exportsIn('shop'))
    expect(json).toMatchObject({ items: [{ metadata: { namespace: 'shop', name: 'web' } }] })
    const elsewhere = await under.asUser('ada', exportsIn('other'), create)
    expect(elsewhere.json).toMatchObject({
      code: 403,
      message:
        'serviceexports.multicluster.x-k8s.io is forbidden: User "ada" cannot create resource "serviceexports" in API group "multicluster.x-k8s.io" in the namespace "other"',
    })
    expect((await under.asUser('bob', exportsIn('shop'))).status).toBe(403)
  })

  it('knows users of the cluster by their certificates', async () => {
    const ada = await issueClient(under.users, { user: 'ada', groups: [] }, lifetime)
    expect((await under.client(ada).send(exportsIn('shop'))).status).toBe(200)
  })

  it.each([
    ['nobody', async () => undefined],
    ['a user', () => issueClient(under.users, { user: 'front-proxy-client', groups: [] }, lifetime)],
  ])('believes no headers of %s', async (_who, identityOf) => {
    const headers = { 'x-remote-user': 'ada', 'x-remote-group': 'system:masters' }
    const { json } = await under.client(await identityOf()).send(exportsIn('shop'), { headers })
    expect(json).toMatchObject({ code: 403, message: expect.not.stringContaining('"ada"') })
  })

  it('refuses front proxies of others, and other names', async () => {
    const headers = { 'x-remote-user': 'ada' }
    for (const [authority, user] of [
      [await makeAuthority('proxies', lifetime), 'front-proxy-client'],
      [under.proxies, 'another'],
    ] as const) {
      const identity = await issueClient(authority, { user, groups: [] }, lifetime)
      expect((await under.client(identity).send(exportsIn('shop'), { headers })).status).toBe(401)
    }
  })

  it('takes objects only in namespaces of the cluster', async () => {
    const masters = { ...create, headers: { ...create.headers, 'x-remote-group': 'system:masters' } }
    const missing = await under.asUser('root', exportsIn('nowhere'), masters)
    expect(missing.json).toMatchObject({ code: 404, message: 'namespaces "nowhere" not found' })
    const metadata = { name: 'fresh' }
    await under.cluster.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata }, never)
    expect((await under.asUser('root', exportsIn('fresh'), masters)).status).toBe(201)
  })

  it('follows another authority of front proxies without a restart', async () => {
    const next = await makeAuthority('next proxies', lifetime)
    const both = { ...under.proxies, certificate: under.proxies.certificate + next.certificate }
    const renewed = await issueClient(next, { user: 'front-proxy-client', groups: [] }, lifetime)
    const headers = { 'x-remote-user': 'ada' }
    expect((await under.client(renewed).send(exportsIn('shop'), { headers })).status).toBe(401)
    await replaceMap(under, both)
    await eventually(async () =>
      expect((await under.client(renewed).send(exportsIn('shop'), { headers })).status).toBe(200),
    )
    expect((await under.asUser('ada', exportsIn('shop'))).status).toBe(200)
    await replaceMap(under, next)
    await eventually(async () => expect((await under.asUser('ada', exportsIn('shop'))).status).toBe(401))
    await replaceMap(under, under.proxies)
    await eventually(async () => expect((await under.asUser('ada', exportsIn('shop'))).status).toBe(200))
  })
})

async function replaceMap({ cluster, users }: Aggregation, proxies: { certificate: string; key: string }) {
  const { metadata, data } = authenticationMap(proxies, users)
  await cluster.mergePatch(configMaps, metadata, { data }, { signal: never })
}

describe('without the kube-apiserver', () => {
  it('nobody gets more than before, whatever their names, and the parts of the server go on', async () => {
    const under = await startAggregation()
    try {
      const root = { headers: { 'x-remote-group': 'system:masters' } }
      expect((await under.asUser('root', exportsIn('default'), root)).status).toBe(200)
      await under.stopUnderneath()
      expect((await under.client().send('/livez')).status).toBe(200)
      expect((await under.client().send('/readyz')).status).toBe(200)
      expect((await under.asUser('root', exportsIn('default'), root)).status).toBe(200)
      const agent = await under.server.running.client('agent', { user: 'system:isthmus:agent', groups: [] })
      const agentExports = { group: 'multicluster.x-k8s.io', version: 'v1beta1', plural: 'serviceexports' }
      const kind = { apiVersion: 'multicluster.x-k8s.io/v1beta1', kind: 'ServiceExport', namespaced: true }
      expect((await agent.list({ ...agentExports, ...kind }, {}, never)).items).toEqual([])
      // The name of its agent gives nobody else the rights of its agent: others choose the names of users as well.
      const namesake = await issueClient(under.users, { user: 'system:isthmus:agent', groups: [] }, lifetime)
      const headers = { 'x-remote-extra-iscomponent': 'true' }
      for (const { json } of [
        await under.asUser('ada', exportsIn('default')),
        await under.asUser('system:isthmus:agent', exportsIn('default'), { headers }),
        await under.client(namesake).send(exportsIn('default')),
        await under.client(namesake).send(exportsIn('default'), { headers }),
      ]) {
        expect(json).toMatchObject({
          code: 500,
          reason: 'InternalError',
          message: 'Internal error occurred: kube-apiserver cannot be asked whether this is allowed',
        })
      }
      const token = { headers: { authorization: 'Bearer abc' } }
      expect((await under.client().send(exportsIn('default'), token)).status).toBe(503)
    } finally {
      await under.close()
    }
  }, 30_000)
})
