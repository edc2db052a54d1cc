// Paths that may mean one thing to who decides and another to who serves. Two servers of the same objects: on one a user
// has rights in a namespace and must never see or hit anything outside of it; on the other everything is allowed, and what
// is answered must be what was asked about.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Authorizer, RequestInfo } from '../../apiservice/contract.ts'
import type { Identity } from '../../src/identity/certificate.ts'
import { type TestServer, testServer } from '../support/api-server.ts'
import { codesOf, exchange } from '../support/raw-http.ts'

const inside = '/api/v1/namespaces/public/configmaps'
const outside = '/api/v1/namespaces/private/configmaps'

/** Paths, as they are sent, that somebody could hope to lead to what is private. */
const targets: readonly string[] = [
  outside,
  `${outside}/secret`,
  '/api/v1/namespaces/public/../private/configmaps/secret',
  '/api/v1/namespaces/public/./../private/configmaps/secret',
  '/api/v1/namespaces/public/%2e%2e/private/configmaps/secret',
  '/api/v1/namespaces/public/%2E%2e/private/configmaps/secret',
  '/api/v1/namespaces/public/.%2e/private/configmaps/secret',
  '/api/v1/namespaces/public%2f..%2fprivate/configmaps/secret',
  '/api/v1/namespaces/public%2F%2E%2E%2Fprivate/configmaps/secret',
  '/api/v1/namespaces/public/%252e%252e/private/configmaps/secret',
  '/api/v1/namespaces/public%252f..%252fprivate/configmaps/secret',
  `${inside}/../../private/configmaps/secret`,
  `${inside}/..%2f..%2fprivate%2fconfigmaps%2fsecret`,
  `${inside}/%2e%2e/%2e%2e/private/configmaps/secret`,
  `${inside}/..%5c..%5cprivate%5cconfigmaps%5csecret`,
  `${inside}/..\\..\\private\\configmaps\\secret`,
  '/api/v1/namespaces/public\\..\\private/configmaps/secret',
  '/api/v1/namespaces\\private\\configmaps\\secret',
  `${inside}/%c0%ae%c0%ae/%c0%ae%c0%ae/private/configmaps/secret`,
  `${inside}/..%c0%af..%c0%afprivate%c0%afconfigmaps%c0%afsecret`,
  `${inside}/..%e0%80%af..%e0%80%afprivate/configmaps/secret`,
  `${inside}/..%ef%bc%8f..%ef%bc%8fprivate%ef%bc%8fconfigmaps%ef%bc%8fsecret`,
  '/api/v1/namespaces/public/%uff0e%uff0e/private/configmaps/secret',
  '/api/v1//namespaces/private/configmaps/secret',
  '//api/v1/namespaces/private/configmaps/secret',
  '///api///v1///namespaces///private///configmaps///secret',
  '/api/v1/namespaces//private/configmaps/secret',
  '/api/v1/namespaces/private//configmaps/secret',
  '/api/v1/namespaces/private/configmaps//secret',
  '/api/v1/namespaces/private/configmaps/secret/',
  '/api/v1/namespaces/private/configmaps/secret//',
  '/api/v1/namespaces/private/configmaps/secret/.',
  '/api/v1/namespaces/private/configmaps/secret/..',
  '/./api/v1/namespaces/private/configmaps/secret',
  '/livez/../api/v1/namespaces/private/configmaps/secret',
  '/livez/..%2fapi/v1/namespaces/private/configmaps/secret',
  '/healthz;/../api/v1/namespaces/private/configmaps/secret',
  '/livez/api/v1/namespaces/private/configmaps/secret',
  '/api/v1/namespaces/private;/configmaps/secret',
  '/api/v1/namespaces/public;/private/configmaps/secret',
  '/api/v1/namespaces/private;x=y/configmaps/secret',
  '/api/v1;/namespaces/private/configmaps/secret',
  `${outside}/secret;.json`,
  `${outside}/secret.json`,
  `${outside}/secret%00`,
  `${outside}/secret%00.public`,
  '/api/v1/namespaces/private%00/configmaps/secret',
  '/api/v1/namespaces/public%00private/configmaps/secret',
  `${outside}/secret%20`,
  `${outside}/%20secret`,
  `${outside}/secret%0d%0a`,
  `${outside}/secret%09`,
  `${outside}/secret#/public`,
  `${inside}/x#/../../private/configmaps/secret`,
  `${outside}/secret?x=/namespaces/public/`,
  `${inside}?namespace=private`,
  `${inside}/secret?namespace=private`,
  `${inside}?fieldSelector=metadata.namespace%3Dprivate`,
  '/api/v1/configmaps',
  '/api/v1/configmaps?fieldSelector=metadata.namespace%3Dpublic',
  '/api/v1/configmaps?fieldSelector=metadata.name%3Dsecret',
  '/api/v1/configmaps?namespace=public',
  '/api/v1/configmaps/secret',
  '/api/v1/namespaces/configmaps/secret',
  `${outside}?watch=1&timeoutSeconds=1`,
  `${outside}?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`,
  '/api/v1/watch/namespaces/private/configmaps?timeoutSeconds=1',
  '/api/v1/watch/namespaces/private/configmaps/secret?timeoutSeconds=1',
  '/api/v1/watch/configmaps?timeoutSeconds=1',
  '/api/v1/namespaces/public/watch/configmaps?timeoutSeconds=1',
  '/api/v1/proxy/namespaces/private/configmaps/secret',
  '/api/v1/namespaces/private/configmaps/secret/status',
  '/api/v1/namespaces/private/configmaps/secret/configmaps/secret',
  '/api/v1/namespaces/public/namespaces/private/configmaps/secret',
  '/apis//v1/namespaces/private/configmaps/secret',
  '/apis/v1/namespaces/private/configmaps/secret',
  '/apis/core/v1/namespaces/private/configmaps/secret',
  '/apis/%2fv1/namespaces/private/configmaps/secret',
  '/API/v1/namespaces/private/configmaps/secret',
  '/api/V1/namespaces/private/configmaps/secret',
  '/api/v1/Namespaces/private/configmaps/secret',
  '/api/v1/namespaces/PRIVATE/configmaps/secret',
  '/api/v1/namespaces/Private/configmaps/secret',
  '/api/v1/namespaces/private/ConfigMaps/secret',
  '/api/v1/namespaces/private/configmap/secret',
  '/api/v1/namespaces/private/cm/secret',
  `${outside}/SECRET`,
  '/api/v1/namespaces/%70rivate/configmaps/secret',
  '/api/v1/namespaces/private/configmaps/%73ecret',
  '/%61pi/v1/namespaces/private/configmaps/secret',
  '/api/v1/namespaces/*/configmaps/secret',
  '/api/v1/namespaces/-/configmaps/secret',
  '/api/v1/namespaces/public,private/configmaps/secret',
  `https://public.test${outside}/secret`,
  `http://public.test${outside}/secret`,
  `https://user@public.test${outside}/secret`,
  `HTTPS://public.test${outside}/secret`,
  `https:///${outside}/secret`,
  `https://public.test/${outside}/secret`,
  `https://public.test\\${outside}/secret`,
  `https://public.test?${outside}/secret`,
  `ftp://public.test${outside}/secret`,
  `https:${outside}/secret`,
  `x${outside}/secret`,
  `?${outside}/secret`,
  `*${outside}/secret`,
  '/store/backup',
  '/store//backup',
  '/store/backup/',
  '/store/%62ackup',
  '/livez/../store/backup',
  '/metrics',
  '/metrics/',
  '//metrics',
]

const infos: RequestInfo[] = []
const recorded: Authorizer = {
  authorize: async ({ info }) => {
    // What the registry asks besides is about other things.
    if (info.verb !== 'impersonate') infos.push(info as RequestInfo)
    return { allowed: 'allow', reason: '' }
  },
}

let limited: TestServer
let open: TestServer
let mallory: Identity

const json = { 'content-type': 'application/json' }
const post = (value: unknown) => ({ method: 'POST', headers: json, body: JSON.stringify(value) })

async function fill(server: TestServer): Promise<void> {
  const admin = server.client()
  for (const [namespace, name] of [
    ['public', 'known'],
    ['private', 'secret'],
  ]) {
    await admin.send(
      '/api/v1/namespaces',
      post({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
    )
    const created = await admin.send(
      `/api/v1/namespaces/${namespace}/configmaps`,
      post({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { of: `${namespace}-value` } }),
    )
    expect(created.status).toBe(201)
  }
}

beforeAll(async () => {
  limited = await testServer()
  open = await testServer({ authorizers: [recorded] })
  await fill(limited)
  await fill(open)
  mallory = await limited.issue({ user: 'mallory', groups: [] })
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/public'
  const apiVersion = 'rbac.authorization.k8s.io/v1'
  const everything = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }]
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }]
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'all' }
  const admin = limited.client()
  await admin.send(
    `${rbac}/roles`,
    post({ apiVersion, kind: 'Role', metadata: { name: 'all' }, rules: everything }),
  )
  await admin.send(
    `${rbac}/rolebindings`,
    post({ apiVersion, kind: 'RoleBinding', metadata: { name: 'all' }, roleRef, subjects }),
  )
  for (const protocol of ['HTTP/1.1', 'HTTP/2'] as const) {
    expect((await limited.client(protocol, mallory).send(`${inside}/known`)).text).toContain('public-value')
  }
  const shown = await exchange(open.port, raw('GET', `${outside}/secret`), { identity: open.admin })
  expect(shown).toContain('private-value')
})
afterAll(async () => {
  await limited.close()
  await open.close()
})

const raw = (method: string, target: string): string =>
  `${method} ${target} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`

describe('who has all rights in one namespace', () => {
  it.each(targets)('reads nothing outside of it by %s', async target => {
    const received = await exchange(limited.port, raw('GET', target), { identity: mallory })
    expect(received).not.toContain('private-value')
    expect(codesOf(received)).toHaveLength(1)
    const overHttp2 = await limited
      .client('HTTP/2', mallory)
      .send(target)
      .catch(() => undefined)
    expect(overHttp2?.text ?? '').not.toContain('private-value')
  })

  it.each(targets)('deletes nothing outside of it by %s', async target => {
    await exchange(limited.port, raw('DELETE', target), { identity: mallory })
    expect((await limited.client().send(`${outside}/secret`)).text).toContain('private-value')
  })

  it.each([
    ['X-HTTP-Method-Override: DELETE', 'GET'],
    ['X-HTTP-Method: DELETE', 'POST'],
    ['X-Method-Override: DELETE', 'GET'],
    [`X-Original-URL: ${outside}/secret`, 'DELETE'],
    [`X-Rewrite-URL: ${outside}/secret`, 'DELETE'],
    [`X-Forwarded-Prefix: ${outside}`, 'DELETE'],
    [`X-Forwarded-Uri: ${outside}/secret`, 'DELETE'],
    [`Destination: ${outside}/secret`, 'MOVE'],
  ])('is not helped by %s', async (line, method) => {
    // Deletions of what is inside are its right, and may have been before.
    await limited
      .client()
      .send(inside, post({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'known' } }))
    const sent = raw(method, `${inside}/${method === 'GET' ? 'known' : 'other'}`).replace(
      'host: x',
      `host: x\r\n${line}`,
    )
    expect(await exchange(limited.port, sent, { identity: mallory })).not.toContain('private-value')
    expect((await limited.client().send(`${inside}/known`)).status).toBe(200)
    expect((await limited.client().send(`${outside}/secret`)).status).toBe(200)
  })

  it('cannot go on with a list that somebody else began elsewhere', async () => {
    const admin = limited.client()
    await admin.send(
      outside,
      post({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'second' },
        data: { of: 'private-value' },
      }),
    )
    const first = await admin.send(`${outside}?limit=1`)
    const { metadata } = first.json as { metadata: { continue: string } } // a list with more
    expect(metadata.continue).toMatch(/./)
    const next = await limited
      .client('HTTP/1.1', mallory)
      .send(`${inside}?limit=5&continue=${encodeURIComponent(metadata.continue)}`)
    expect(next.text).not.toContain('private-value')
  })

  it('does not keep the server from others by a path of a million slashes', async () => {
    const path = `/api/v1/namespaces/public/namespaces/public${'/'.repeat(1_000_000)}x`
    for (const target of [
      path,
      `/apis/rbac.authorization.k8s.io/v1/namespaces/public/clusterroles/x${'/'.repeat(1_000_000)}x`,
    ]) {
      const received = await exchange(limited.port, raw('GET', target), { identity: mallory })
      expect([400, 403, 404, 405, 431]).toContain(codesOf(received)[0])
    }
  })
})

describe('where everything is allowed', () => {
  it.each(targets)('what is answered is what was asked about: %s', async target => {
    infos.length = 0
    const answer = await exchange(open.port, raw('GET', target), { identity: open.admin })
    const [info] = infos
    const isPrivate = answer.includes('private-value')
    if (!isPrivate) return
    if (info?.isResource !== true) {
      expect(info?.path).toBe('/store/backup')
      return
    }
    expect(info).toMatchObject({ resource: 'configmaps', subresource: '', group: '', version: 'v1' })
    expect(['', 'private']).toContain(info.namespace)
    expect(['', 'secret']).toContain(info.name)
    if (info.verb === 'get') expect(info).toMatchObject({ namespace: 'private', name: 'secret' })
  })
})
