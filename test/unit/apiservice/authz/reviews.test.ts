import { expect, it } from 'vitest'
import { authorizersInTurn } from '../../../../apiservice/authz/chain-of-authorizers.ts'
import { memberAuthorizer } from '../../../../apiservice/authz/member-rights.ts'
import { accessReviews } from '../../../../apiservice/authz/reviews.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { manualClock } from '../../../support/manual-clock.ts'
import { aBinding, aRole, aStoredPolicy } from '../../../support/stored-policy.ts'

const { rbac } = await aStoredPolicy([
  aRole('reader', [
    { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
    { nonResourceURLs: ['/version'], verbs: ['get'] },
  ]),
  aBinding('shop/readers', 'ClusterRole/reader', 'User:ada', 'Group:ops'),
  aBinding('readers', 'ClusterRole/reader', 'User:everywhere'),
  aBinding('shop/lost', 'Role/lost', 'User:ada'),
])
const member = memberAuthorizer({ memberOf: async () => undefined, onChange: () => () => undefined })
const reviews = accessReviews({
  authorizer: authorizersInTurn([member, rbac]),
  rbac,
  clock: manualClock(),
})

async function review(resource: string, spec: unknown, name = 'ada'): Promise<KubeObject> {
  const answer = reviews.get(resource)
  if (answer === undefined) throw new Error(`no review ${resource}`)
  const object: KubeObject = { apiVersion: 'x/v1', kind: 'Review', metadata: { name: '' }, spec }
  const user = { name, uid: 'u-1', groups: ['system:authenticated'], extra: { scopes: ['a'] } }
  return answer({ object, user, dryRun: false }, never)
}

const self = 'selfsubjectaccessreviews.authorization.k8s.io'
const other = 'subjectaccessreviews.authorization.k8s.io'
const pods = { resource: 'pods', verb: 'get', namespace: 'shop' }

it('can-i says yes, with the reason', async () => {
  expect(await review(self, { resourceAttributes: pods })).toEqual({
    apiVersion: 'x/v1',
    kind: 'Review',
    metadata: { name: '' },
    spec: { resourceAttributes: pods },
    status: {
      allowed: true,
      reason: 'RBAC: allowed by RoleBinding "readers/shop" of ClusterRole "reader" to User "ada"',
    },
  })
})

it('can-i says no', async () => {
  expect((await review(self, { resourceAttributes: { ...pods, verb: 'delete' } }, 'bob')).status).toEqual({
    allowed: false,
  })
  expect((await review(self, { resourceAttributes: { ...pods, namespace: '' } }, 'bob')).status).toEqual({
    allowed: false,
  })
})

it('can-i asks about paths', async () => {
  const spec = { nonResourceAttributes: { path: '/version', verb: 'get' } }
  expect((await review(self, spec, 'everywhere')).status).toMatchObject({ allowed: true })
  expect((await review(self, spec)).status).toMatchObject({ allowed: false })
})

it('others are asked about by user and groups', async () => {
  expect((await review(other, { resourceAttributes: pods, user: 'ada' })).status).toMatchObject({
    allowed: true,
  })
  expect((await review(other, { resourceAttributes: pods, groups: ['ops'] })).status).toMatchObject({
    allowed: true,
  })
  expect((await review(other, { resourceAttributes: pods, user: 'bob' })).status).toEqual({ allowed: false })
})

it('a denial is told from an absent permission', async () => {
  const spec = {
    resourceAttributes: pods,
    user: 'hub.isthmus.dev:member:x',
    groups: ['hub.isthmus.dev:members'],
  }
  expect((await review(other, spec)).status).toEqual({
    allowed: false,
    denied: true,
    reason: 'no cluster "x" has joined',
  })
})

it('can-i --list lists the rules of the namespace', async () => {
  const resource = 'selfsubjectrulesreviews.authorization.k8s.io'
  expect((await review(resource, { namespace: 'shop' })).status).toEqual({
    resourceRules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    nonResourceRules: [{ nonResourceURLs: ['/version'], verbs: ['get'] }],
    incomplete: false,
    evaluationError: 'role.rbac.authorization.k8s.io "lost" not found',
  })
  expect((await review(resource, { namespace: 'ops' })).status).toEqual({
    resourceRules: [],
    nonResourceRules: [],
    incomplete: false,
  })
  await expect(review(resource, {})).rejects.toMatchObject({ code: 400 })
})

it('whoami says who asks', async () => {
  const { metadata, status } = await review('selfsubjectreviews.authentication.k8s.io', undefined)
  expect(metadata.creationTimestamp).toBe('2026-01-02T03:04:05Z')
  expect(status).toEqual({
    userInfo: { username: 'ada', uid: 'u-1', groups: ['system:authenticated'], extra: { scopes: ['a'] } },
  })
})
