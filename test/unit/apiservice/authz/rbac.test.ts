import { expect, it } from 'vitest'
import type { AccessInfo, UserInfo } from '../../../../apiservice/contract.ts'
import { aResourceInfo } from '../../../support/api-request.ts'
import { aBinding, aRole, aStoredPolicy } from '../../../support/stored-policy.ts'

const pods = (...verbs: readonly string[]) => [{ apiGroups: [''], resources: ['pods'], verbs }]

const { rbac } = await aStoredPolicy([
  aRole('reader', pods('get', 'list')),
  aRole('everything', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  aRole('logs', [{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }]),
  aRole('scaler', [{ apiGroups: ['*'], resources: ['*/scale'], verbs: ['update'] }]),
  aRole('named', [
    { apiGroups: [''], resources: ['pods'], resourceNames: ['web', 'db'], verbs: ['get', 'delete'] },
  ]),
  aRole('paths', [{ nonResourceURLs: ['/version', '/apis/*'], verbs: ['get'] }]),
  aRole('odd-path', [{ nonResourceURLs: ['/a*b'], verbs: ['get'] }]),
  aRole('two-groups', [
    { apiGroups: ['apps', 'batch'], resources: ['jobs', 'deployments'], verbs: ['list'] },
  ]),
  aRole('nothing', []),
  aRole('shop/writer', pods('create')),
  aBinding('readers', 'ClusterRole/reader', 'User:reader', 'Group:readers'),
  aBinding('admins', 'ClusterRole/everything', 'User:admin'),
  aBinding('logs', 'ClusterRole/logs', 'User:logs'),
  aBinding('scaler', 'ClusterRole/scaler', 'User:scaler'),
  aBinding('named', 'ClusterRole/named', 'User:named'),
  aBinding('paths', 'ClusterRole/paths', 'User:paths'),
  aBinding('odd', 'ClusterRole/odd-path', 'User:odd'),
  aBinding('two', 'ClusterRole/two-groups', 'User:two'),
  aBinding('nothing', 'ClusterRole/nothing', 'User:nothing'),
  aBinding('shop/writers', 'Role/writer', 'User:writer', 'ServiceAccount:web', 'ServiceAccount:ops/web'),
  aBinding('shop/readers', 'ClusterRole/reader', 'User:shop-reader', 'User:system:serviceaccount:x:y'),
  aBinding('shop/admins', 'ClusterRole/everything', 'User:shop-admin'),
  aBinding('ops/strays', 'Role/writer', 'User:stray'),
  aBinding('wrong-kind', 'Role/writer', 'User:stray'),
  aBinding('sa', 'ClusterRole/reader', 'ServiceAccount:lost', 'ServiceAccount:kube-system/loop'),
])

/** `get pods/log web in shop`, `list deployments.apps`, `get /version`. */
function accessOf(text: string): AccessInfo {
  const [verb = '', what = '', ...rest] = text.split(' ')
  if (what.startsWith('/')) return { isResource: false, verb, path: what }
  const at = rest.indexOf('in')
  const [resourceAndGroup = '', ...subresource] = what.split('/')
  const [resource = '', ...group] = resourceAndGroup.split('.')
  return {
    ...aResourceInfo({ resource, group: group.join('.'), subresource: subresource.join('/') }),
    verb,
    name: at === 0 ? '' : (rest[0] ?? ''),
    namespace: at < 0 ? '' : (rest[at + 1] ?? ''),
  }
}

async function may(user: string, access: string): Promise<boolean> {
  const [name = '', ...groups] = user.split('+')
  const info: UserInfo = { name, groups, extra: {} }
  return (await rbac.authorize({ user: info, info: accessOf(access) })).allowed === 'allow'
}

it.each([
  ['reader', 'get pods web in shop'],
  ['reader', 'list pods in shop'],
  ['reader', 'list pods'],
  ['nobody+readers', 'get pods web in shop'],
  ['nobody+others+readers', 'get pods web in shop'],
  ['admin', 'anything things/any.example.com x in y'],
  ['admin', 'get /metrics'],
  ['admin', 'impersonate users root'],
  ['logs', 'get pods/log web in shop'],
  ['scaler', 'update deployments.apps/scale web in shop'],
  ['scaler', 'update pods/scale web'],
  ['named', 'get pods web in shop'],
  ['named', 'delete pods db in shop'],
  ['paths', 'get /version'],
  ['paths', 'get /apis/'],
  ['paths', 'get /apis/apps/v1'],
  ['odd', 'get /a*b'],
  ['two', 'list jobs.apps in shop'],
  ['two', 'list deployments.batch'],
  ['writer', 'create pods in shop'],
  ['system:serviceaccount:shop:web', 'create pods in shop'],
  ['system:serviceaccount:ops:web', 'create pods in shop'],
  ['system:serviceaccount:x:y', 'get pods web in shop'],
  ['system:serviceaccount:kube-system:loop', 'list pods'],
  ['shop-reader', 'list pods in shop'],
  ['shop-admin', 'delete things.example.com x in shop'],
])('%s may %s', async (user, access) => {
  expect(await may(user, access)).toBe(true)
})

it.each([
  ['reader', 'delete pods web in shop'],
  ['reader', 'get pods/log web in shop'],
  ['reader', 'get pods.apps web in shop'],
  ['reader', 'get services web in shop'],
  ['Reader', 'get pods web in shop'],
  ['readers', 'get pods web in shop'],
  ['nobody', 'get pods web in shop'],
  ['nobody+reader', 'get pods web in shop'],
  ['logs', 'get pods web in shop'],
  ['logs', 'get pods/logs web in shop'],
  ['logs', 'get services/log web in shop'],
  ['scaler', 'update deployments.apps web in shop'],
  ['scaler', 'update deployments.apps/status web in shop'],
  ['named', 'get pods other in shop'],
  ['named', 'get pods in shop'],
  ['named', 'list pods in shop'],
  ['paths', 'post /version'],
  ['paths', 'get /version/'],
  ['paths', 'get /apis'],
  ['paths', 'get pods in shop'],
  ['odd', 'get /aXb'],
  ['two', 'list jobs'],
  ['two', 'list pods.apps'],
  ['nothing', 'get pods web in shop'],
  ['writer', 'create pods in ops'],
  ['writer', 'create pods'],
  ['system:serviceaccount:ops:web:x', 'create pods in shop'],
  ['system:serviceaccount:other:web', 'create pods in shop'],
  ['web', 'create pods in shop'],
  ['shop-reader', 'list pods in ops'],
  ['shop-reader', 'list pods'],
  ['shop-admin', 'get /metrics'],
  ['shop-admin', 'get namespaces shop'],
  ['stray', 'create pods in ops'],
  ['stray', 'create pods in shop'],
  ['system:serviceaccount::lost', 'list pods'],
])('%s may not %s', async (user, access) => {
  expect(await may(user, access)).toBe(false)
})

const decide = async (user: string, access: string) =>
  (await rbac.authorize({ user: { name: user, groups: [], extra: {} }, info: accessOf(access) })).reason

it('an allowance says which binding gives it', async () => {
  expect(await decide('reader', 'get pods')).toBe(
    'RBAC: allowed by ClusterRoleBinding "readers" of ClusterRole "reader" to User "reader"',
  )
  expect(await decide('system:serviceaccount:shop:web', 'create pods in shop')).toBe(
    'RBAC: allowed by RoleBinding "writers/shop" of Role "writer" to ServiceAccount "web/shop"',
  )
})

it('a refusal says which roles are missing', async () => {
  expect(await decide('nobody', 'get pods')).toBe('')
  expect(await decide('stray', 'create pods in ops')).toBe(
    'RBAC: role.rbac.authorization.k8s.io "writer" not found',
  )
})
