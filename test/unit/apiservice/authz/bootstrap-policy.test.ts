import { expect, it } from 'vitest'
import { bootstrapPolicy } from '../../../../apiservice/authz/bootstrap-policy.ts'
import type { AccessInfo } from '../../../../apiservice/contract.ts'
import { aResourceInfo } from '../../../support/api-request.ts'
import { aBinding, aStoredPolicy } from '../../../support/stored-policy.ts'

const { rbac } = await aStoredPolicy([
  ...bootstrapPolicy,
  aBinding('shop/admins', 'ClusterRole/admin', 'User:admin'),
  aBinding('shop/editors', 'ClusterRole/edit', 'User:edit'),
  aBinding('shop/viewers', 'ClusterRole/view', 'User:view'),
])

async function may(who: string, info: AccessInfo): Promise<boolean> {
  const [name = '', ...groups] = who.split('+')
  return (await rbac.authorize({ user: { name, groups, extra: {} }, info })).allowed === 'allow'
}

const mcs = (verb: string, resource: string): AccessInfo => ({
  ...aResourceInfo({ group: 'multicluster.x-k8s.io', resource, namespace: 'shop' }),
  verb,
})
const rolebindings: AccessInfo = aResourceInfo({
  verb: 'create',
  group: 'rbac.authorization.k8s.io',
  resource: 'rolebindings',
  namespace: 'shop',
})

it.each([
  ['view', 'get', 'serviceexports', true],
  ['view', 'watch', 'serviceimports', true],
  ['view', 'create', 'serviceexports', false],
  ['edit', 'list', 'serviceimports', true],
  ['edit', 'create', 'serviceexports', true],
  ['edit', 'deletecollection', 'serviceexports', true],
  ['edit', 'create', 'serviceimports', false],
  ['admin', 'patch', 'serviceexports', true],
  ['admin', 'update', 'serviceimports', false],
  ['x+system:masters', 'update', 'serviceimports', true],
  ['x+system:authenticated', 'get', 'serviceexports', false],
])('%s may %s %s: %s', async (who, verb, resource, expected) => {
  expect(await may(who, mcs(verb, resource))).toBe(expected)
})

it('only admins hand out roles of their namespace', async () => {
  expect(await Promise.all(['admin', 'edit', 'view'].map(who => may(who, rolebindings)))).toEqual([
    true,
    false,
    false,
  ])
})

it.each([
  ['/apis/multicluster.x-k8s.io/v1beta1', true, false],
  ['/openapi/v3', true, false],
  ['/version', true, true],
  ['/readyz', true, true],
  ['/metrics', false, false],
  ['/readyz/ping', false, false],
  // The index of all paths is for administrators, as with the default roles of kube-apiserver.
  ['/', false, false],
])('%s: authenticated %s, anonymous %s', async (path, authenticated, anonymous) => {
  const info: AccessInfo = { isResource: false, verb: 'get', path }
  expect(await may('x+system:authenticated', info)).toBe(authenticated)
  expect(await may('system:anonymous+system:unauthenticated', info)).toBe(anonymous)
})

it.each([
  ['/metrics', true],
  ['/readyz/ping', true],
  ['/version', false],
])('%s: who monitors %s', async (path, expected) => {
  expect(await may('x+system:monitoring', { isResource: false, verb: 'get', path })).toBe(expected)
})

it('everybody who is known may ask what they may do', async () => {
  const ask = aResourceInfo({
    verb: 'create',
    group: 'authorization.k8s.io',
    resource: 'selfsubjectaccessreviews',
    namespace: '',
  })
  expect(await may('x+system:authenticated', ask)).toBe(true)
  expect(await may('x+system:unauthenticated', ask)).toBe(false)
})

it('every binding has its role, which comes before it', () => {
  const roles = new Set<string>()
  for (const { kind, metadata, roleRef } of bootstrapPolicy) {
    if (kind === 'ClusterRole') roles.add(metadata.name)
    else expect(roles).toContain((roleRef as { name: string }).name)
  }
})
