import { beforeAll, beforeEach, expect } from 'vitest'
import { bootstrapPolicy } from '../../apiservice/authz/bootstrap-policy.ts'
import { healthAuthorizer } from '../../apiservice/authz/health-paths.ts'
import { mastersAuthorizer } from '../../apiservice/authz/masters.ts'
import { RbacAuthorizer } from '../../apiservice/authz/rbac.ts'
import type { Attributes, Authorizer } from '../../apiservice/contract.ts'
import { followStore } from '../../apiservice/store/follow.ts'
import { openMemoryStore } from '../../apiservice/store/memory-store.ts'
import { issueClient, makeAuthority } from '../../src/identity/certificate.ts'
import { never } from '../../src/kernel/abort.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import { silentLogger } from '../../src/kernel/log.ts'
import { noMetrics } from '../../src/kernel/metrics.ts'
import { protocols } from '../support/api-client.ts'
import { type Answer, type Ask, asking } from './frame/ask.ts'
import { must } from './frame/must.ts'
import { servedKinds } from './frame/server.ts'
import { applyPatch } from './frame/subject.ts'
import { aSuite, isReadable, isServed, isStored } from './frame/suite.ts'

const base = { clock: systemClock, log: silentLogger, metrics: noMetrics }
const store = await openMemoryStore(base)
const rbac = new RbacAuthorizer()
await rbac.start(followStore(store, base), never)

/** What was asked about who is no member of system:masters. `carl` may do all but create. */
const asked: Attributes[] = []
const recorder: Authorizer = {
  authorize: async attributes => {
    asked.push(attributes)
    const isAllowed = attributes.user.name === 'carl' && attributes.info.verb !== 'create'
    return { allowed: isAllowed ? 'allow' : 'noOpinion', reason: '' }
  },
}

const suite = aSuite({ store, authorizers: [healthAuthorizer, mastersAuthorizer, recorder, rbac] })

beforeAll(async () => {
  for (const object of bootstrapPolicy) {
    const path = `/apis/${object.apiVersion}/${object.kind.toLowerCase()}s`
    const { code } = await suite.ask(path, { method: 'POST', body: object })
    if (code !== 201) throw new Error(`${path}: ${code}`)
  }
})
beforeEach(() => {
  asked.length = 0
})

const anonymously = (path: string, ask: Ask = {}): Promise<Answer> =>
  asking(suite.server.client('HTTP/1.1', null), path, ask)

const as = (user: string, path: string, ask: Ask = {}): Promise<Answer> =>
  suite.ask(path, { ...ask, headers: { 'impersonate-user': user, ...ask.headers } })

const root = (group: string): string => (group === '' ? '/api' : `/apis/${group}`)
const discovery = new Set([
  '/api',
  '/apis',
  '/openapi/v2',
  '/openapi/v3',
  '/version',
  ...servedKinds.flatMap(({ group, versions }) => [
    root(group),
    ...versions.flatMap(({ name }) => [`${root(group)}/${name}`, `/openapi/v3${root(group)}/${name}`]),
  ]),
])

must(113, 'lets every user that is known read OpenAPI and discovery, without groups too', async () => {
  for (const user of ['system:aggregator', 'ann']) {
    const client = suite.server.client('HTTP/2', await suite.server.issue({ user, groups: [] }))
    for (const path of discovery) expect((await client.send(path)).status, `${user} ${path}`).toBe(200)
  }
  for (const path of discovery) {
    expect((await anonymously(path)).code, path).toBe(path === '/version' ? 200 : 403)
  }
})

const whoAmI = '/apis/authentication.k8s.io/v1/selfsubjectreviews'

must([121, 128], 'keeps the groups and extras apart that a user is impersonated with', async () => {
  for (const protocol of protocols) {
    const answer = await suite.server.client(protocol).send(whoAmI, {
      method: 'POST',
      body: '{}',
      headers: {
        'content-type': 'application/json',
        'impersonate-user': 'ann',
        'impersonate-uid': 'u-1',
        'impersonate-group': ['a,b', 'c, d', 'e'],
        'impersonate-extra-Example.com%2fScopes': ['x,y', 'z'],
      },
    })
    expect(answer.json).toMatchObject({
      status: {
        userInfo: {
          username: 'ann',
          uid: 'u-1',
          groups: ['a,b', 'c, d', 'e', 'system:authenticated'],
          extra: { 'example.com/scopes': ['x,y', 'z'] },
        },
      },
    })
  }
})

must(122, 'adds system:authenticated once, and never to who is anonymous', async () => {
  const groupsOf = async (ask: () => Promise<unknown>) => {
    asked.length = 0
    await ask()
    return asked.at(-1)?.user.groups
  }
  const path = '/api/v1/namespaces'
  const impersonate = (user: string, group: string) =>
    suite.ask(path, { headers: { 'impersonate-user': user, 'impersonate-group': group } })
  expect(await groupsOf(() => as('ann', path))).toEqual(['system:authenticated'])
  expect(await groupsOf(() => impersonate('ann', 'system:authenticated'))).toEqual(['system:authenticated'])
  expect(await groupsOf(() => impersonate('ann', 'system:unauthenticated'))).toEqual([
    'system:unauthenticated',
  ])
  expect(await groupsOf(() => as('system:anonymous', path))).toEqual(['system:unauthenticated'])
  expect(await groupsOf(() => anonymously(path))).toEqual(['system:unauthenticated'])
  const identity = await suite.server.issue({ user: 'ann', groups: ['system:authenticated', 'ops'] })
  const client = suite.server.client('HTTP/1.1', identity)
  expect(await groupsOf(() => client.send(path))).toEqual(['system:authenticated', 'ops'])
})

const unauthorized = { code: 401, body: { kind: 'Status', reason: 'Unauthorized', message: 'Unauthorized' } }

must(124, 'answers 401 to credentials that are not good, also at paths that anybody may ask', async () => {
  const lifetime = { clock: systemClock, lifetimeMs: 3_600_000 }
  const strangers = await makeAuthority('strangers', lifetime)
  const forged = await issueClient(strangers, { user: 'admin', groups: ['system:masters'] }, lifetime)
  const withForged = suite.server.client('HTTP/1.1', forged)
  for (const path of ['/healthz', '/version', '/api/v1/namespaces', '/nothing']) {
    expect(await anonymously(path, { headers: { authorization: 'Bearer wrong' } })).toMatchObject(
      unauthorized,
    )
    expect(await asking(withForged, path, {})).toMatchObject(unauthorized)
  }
})

must(125, 'needs no rights for the three health paths, and for nothing else', async () => {
  for (const path of ['/healthz', '/livez', '/readyz']) {
    for (const query of ['', '?verbose', '?exclude=ping'])
      expect((await anonymously(path + query)).code).toBe(200)
  }
  expect(asked).toEqual([])
  for (const path of [
    '/healthz/ping',
    '/livez/ping',
    '/readyz/',
    '/readyz/ready',
    '/HEALTHZ',
    '/',
    '/metrics',
    '/apis',
  ]) {
    expect((await anonymously(path)).code, path).toBe(403)
  }
})

must(128, 'refuses to impersonate without a user (400), and who may not (403)', async () => {
  for (const header of ['impersonate-group', 'impersonate-uid', 'impersonate-extra-scopes']) {
    expect(await suite.ask('/version', { headers: { [header]: 'x' } })).toMatchObject({
      code: 400,
      body: { kind: 'Status', reason: 'BadRequest' },
    })
  }
  const ann = suite.server.client('HTTP/1.1', await suite.server.issue({ user: 'ann', groups: [] }))
  const headers = { 'impersonate-user': 'system:serviceaccount:ns:web', 'impersonate-group': 'ops' }
  expect(await asking(ann, '/version', { headers })).toMatchObject({
    code: 403,
    body: { reason: 'Forbidden' },
  })
  expect(asked.at(-1)).toMatchObject({
    user: { name: 'ann' },
    info: { verb: 'impersonate', resource: 'serviceaccounts', namespace: 'ns', name: 'web' },
  })
  await suite.ask('/nothing', { headers: { 'impersonate-user': 'system:serviceaccount:ns:web' } })
  expect(asked.at(-1)?.user).toMatchObject({
    name: 'system:serviceaccount:ns:web',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:ns', 'system:authenticated'],
  })
})

must(136, 'shows metrics only to who may see them', async () => {
  expect((await anonymously('/metrics')).code).toBe(403)
  expect((await as('ann', '/metrics')).code).toBe(403)
  expect((await suite.ask('/metrics')).code).toBe(200)
  const monitor = { 'impersonate-user': 'ann', 'impersonate-group': 'system:monitoring' }
  expect((await suite.ask('/metrics', { headers: monitor })).code).toBe(200)
})

suite.every(isServed, subject => {
  must(124, 'says in the words of kube-apiserver what may not be done', async () => {
    const { kind } = subject
    const where = kind.scope === 'Namespaced' ? 'in the namespace "default"' : 'at the cluster scope'
    const create = await as('ann', subject.collection('default'), { method: 'POST', body: {} })
    if (kind.storage !== 'review') {
      // A namespace is in itself.
      const there = kind.plural === 'namespaces' ? 'in the namespace "web"' : where
      const { name, path } = { name: 'web', path: `${subject.collection('default')}/web` }
      expect(await as('ann', path)).toMatchObject({
        code: 403,
        headers: { 'x-content-type-options': 'nosniff' },
        body: {
          kind: 'Status',
          reason: 'Forbidden',
          message: `${subject.resource} "${name}" is forbidden: User "ann" cannot get resource "${kind.plural}" in API group "${kind.group}" ${there}`,
          details: { name, kind: kind.plural },
        },
      })
    }
    // Everybody may ask what they may do.
    if (create.code === 403) {
      expect(create.body.message).toBe(
        `${subject.resource} is forbidden: User "ann" cannot create resource "${kind.plural}" in API group "${kind.group}" ${where}`,
      )
    } else expect(kind.storage).toBe('review')
  })
})

suite.every(isReadable, subject => {
  must(126, 'asks for the verb, the subresource and the name that a request is about', async () => {
    const { group, plural: resource } = subject.kind
    const namespace = subject.isNamespaced ? 'default' : ''
    const collection = subject.collection(namespace)
    const info = { isResource: true, group, version: subject.kind.versions[0].name, resource, namespace }
    const none = { subresource: '', name: '' }
    for (const [method, query, expected] of [
      ['GET', '', { verb: 'list', ...none }],
      ['GET', '?watch=true', { verb: 'watch', ...none }],
      ['GET', '?watch=false', { verb: 'list', ...none }],
      ['GET', '?watch=', { verb: 'watch', ...none }],
      ['GET', '?fieldSelector=metadata.name%3Dweb', { verb: 'list', subresource: '', name: 'web' }],
      [
        'GET',
        '?watch=1&fieldSelector=metadata.name%3D%3Dweb',
        { verb: 'watch', subresource: '', name: 'web' },
      ],
      ['GET', '?fieldSelector=metadata.name!%3Dweb', { verb: 'list', ...none }],
      ['DELETE', '', { verb: 'deletecollection', ...none }],
      ['DELETE', '?fieldSelector=metadata.name%3Dweb', { verb: 'deletecollection', ...none }],
      ['POST', '', { verb: 'create', ...none }],
      ['GET', '/web', { verb: 'get', subresource: '', name: 'web' }],
      ['HEAD', '/web', { verb: 'get', subresource: '', name: 'web' }],
      ['PUT', '/web', { verb: 'update', subresource: '', name: 'web' }],
      ['PATCH', '/web', { verb: 'patch', subresource: '', name: 'web' }],
      ['DELETE', '/web', { verb: 'delete', subresource: '', name: 'web' }],
      ['GET', '/web/status', { verb: 'get', subresource: 'status', name: 'web' }],
      ['PUT', '/web/status', { verb: 'update', subresource: 'status', name: 'web' }],
      ['PATCH', '/web/status', { verb: 'patch', subresource: 'status', name: 'web' }],
    ] as const) {
      const answer = await as('ann', collection + query, { method })
      expect(answer.code, `${method} ${query}`).toBe(403)
      // A namespace is also in its own.
      const { info: got } = asked.at(-1) as Attributes
      expect(got, `${method} ${query}`).toMatchObject({
        ...info,
        ...expected,
        ...namespaceOf(subject.kind.plural, expected.name),
      })
    }
  })
})

function namespaceOf(plural: string, name: string): object {
  return plural === 'namespaces' && name !== '' ? { namespace: expect.stringMatching(/^(web)?$/) } : {}
}

suite.every(isStored, subject => {
  must(127, 'asks for create too when an apply or a PUT turns out to create', async () => {
    const place = await subject.place()
    const object = place.sample()
    const path = place.item(object)
    const applied = await as('carl', `${path}?fieldManager=carl`, {
      method: 'PATCH',
      body: object,
      type: applyPatch,
    })
    const put = await as('carl', path, { method: 'PUT', body: object })
    const refused = {
      code: 403,
      body: { reason: 'Forbidden', message: expect.stringContaining('User "carl" cannot create resource') },
    }
    expect(applied).toMatchObject(refused)
    expect(put).toMatchObject(subject.kind.createOnUpdate ? refused : { code: 404 })
    expect(asked.some(({ info }) => info.verb === 'create')).toBe(true)
    expect((await place.get(object)).code).toBe(404)
    expect((await place.apply(object, 'carl')).code).toBe(201)
  })
})
