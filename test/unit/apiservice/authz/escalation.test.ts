import { expect, it } from 'vitest'
import { authorizersInTurn } from '../../../../apiservice/authz/chain-of-authorizers.ts'
import { escalationPlugin } from '../../../../apiservice/authz/escalation.ts'
import { mastersAuthorizer } from '../../../../apiservice/authz/masters.ts'
import type { AdmissionAttributes, UserInfo } from '../../../../apiservice/contract.ts'
import { type AnyKind, defineKind } from '../../../../src/api/kind.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { aBinding, aRole, aStoredPolicy } from '../../../support/stored-policy.ts'

const rbacGroup = 'rbac.authorization.k8s.io'
const read = [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }]
const readAndWrite = [{ apiGroups: [''], resources: ['pods', 'services'], verbs: ['get', 'delete', 'list'] }]
const { rbac } = await aStoredPolicy([
  aRole('reader', read),
  aRole('writer', readAndWrite),
  aRole('role-writer', [{ apiGroups: [rbacGroup], resources: ['*'], verbs: ['create', 'update'] }]),
  aRole('escalator', [{ apiGroups: [rbacGroup], resources: ['roles'], verbs: ['escalate'] }]),
  aRole('binder', [
    { apiGroups: [rbacGroup], resources: ['clusterroles'], resourceNames: ['writer'], verbs: ['bind'] },
  ]),
  aRole('root', [
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    { nonResourceURLs: ['*'], verbs: ['*'] },
  ]),
  aBinding('shop/readers', 'ClusterRole/reader', 'User:ada'),
  aBinding('writers', 'ClusterRole/role-writer', 'User:ada'),
  aBinding('shop/escalators', 'ClusterRole/escalator', 'User:esc'),
  aBinding('shop/binders', 'ClusterRole/binder', 'User:bind'),
  aBinding('roots', 'ClusterRole/root', 'User:root'),
])
const plugin = escalationPlugin({ authorizer: authorizersInTurn([mastersAuthorizer, rbac]), rbac })

function served(object: KubeObject): AdmissionAttributes['served'] {
  const kind: AnyKind = defineKind({
    group: rbacGroup,
    versions: [{ name: 'v1' }],
    storageVersion: 'v1',
    kind: object.kind,
    plural: `${object.kind.toLowerCase()}s`,
    scope: object.metadata.namespace === undefined ? 'Cluster' : 'Namespaced',
    description: object.kind,
    servers: ['standalone'],
    properties: {},
  })
  return { kind, version: 'v1' }
}

/** What the plugin says when a user writes an object, `ok` when nothing. */
async function write(user: string | UserInfo, object: KubeObject, oldObject?: KubeObject): Promise<string> {
  const attributes: AdmissionAttributes = {
    operation: oldObject === undefined ? 'CREATE' : 'UPDATE',
    served: served(object),
    namespace: object.metadata.namespace ?? '',
    name: object.metadata.name,
    subresource: '',
    user: typeof user === 'string' ? { name: user, groups: ['system:authenticated'], extra: {} } : user,
    dryRun: false,
    object,
    oldObject,
    warn: () => undefined,
  }
  if (!plugin.handles(attributes)) return 'not asked'
  try {
    await plugin.validate?.(attributes, never)
    return 'ok'
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

it('a role with what its writer holds there is fine', async () => {
  expect(await write('ada', aRole('shop/mine', read))).toBe('ok')
  expect(
    await write('ada', aRole('shop/mine', [{ ...read[0], verbs: ['get'], resourceNames: ['web'] }])),
  ).toBe('ok')
  expect(await write('ada', aRole('shop/none', []))).toBe('ok')
})

it('a role with more than its writer holds is refused, naming what is missing', async () => {
  expect(await write('ada', aRole('shop/mine', readAndWrite))).toBe(
    `roles.rbac.authorization.k8s.io "mine" is forbidden: user "ada" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}
{APIGroups:[""], Resources:["services"], Verbs:["get" "delete" "list"]}`,
  )
})

it('what is held in one namespace is not held elsewhere or everywhere', async () => {
  expect(await write('ada', aRole('ops/mine', read))).toMatch(/not currently held/)
  expect(await write('ada', aRole('mine', read))).toMatch(/not currently held/)
})

it.each([
  [[{ apiGroups: ['*'], resources: ['pods'], verbs: ['get'] }]],
  [[{ apiGroups: [''], resources: ['*'], verbs: ['get'] }]],
  [[{ apiGroups: [''], resources: ['pods'], verbs: ['*'] }]],
  [[{ apiGroups: [''], resources: ['pods/log'], verbs: ['get'] }]],
  [[{ nonResourceURLs: ['/metrics'], verbs: ['get'] }]],
])('a role with the rules %j is refused', async rules => {
  expect(await write('ada', aRole('shop/mine', rules))).toMatch(/not currently held/)
})

it('an update is asked about only when it changes the rules', async () => {
  const old = aRole('shop/mine', readAndWrite)
  const labelled = { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }
  expect(await write('ada', labelled, old)).toBe('ok')
  expect(await write('ada', aRole('shop/mine', readAndWrite), aRole('shop/mine', read))).toMatch(
    /not currently/,
  )
})

it('an aggregating role takes somebody who may do everything', async () => {
  const aggregating = aRole('mine', [], { aggregationRule: { clusterRoleSelectors: [] } })
  expect(await write('ada', aggregating)).toMatch(
    /\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}/,
  )
  expect(await write('root', aggregating)).toBe('ok')
})

it('the verb escalate lifts the check for roles', async () => {
  expect(await write('esc', aRole('shop/mine', readAndWrite))).toBe('ok')
  expect(await write('esc', aRole('ops/mine', readAndWrite))).toMatch(/not currently held/)
  expect(await write('esc', aBinding('shop/b', 'ClusterRole/writer', 'User:eve'))).toMatch(
    /not currently held/,
  )
})

it('a binding takes the rules of its role, or the verb bind on it', async () => {
  expect(await write('ada', aBinding('shop/b', 'ClusterRole/reader', 'User:eve'))).toBe('ok')
  expect(await write('ada', aBinding('b', 'ClusterRole/reader', 'User:eve'))).toMatch(
    /^clusterrolebindings.* not currently/s,
  )
  expect(await write('ada', aBinding('shop/b', 'ClusterRole/writer', 'User:eve'))).toMatch(
    /not currently held/,
  )
  expect(await write('ada', aBinding('shop/b', 'ClusterRole/root', 'User:ada'))).toMatch(/not currently held/)
  expect(await write('bind', aBinding('shop/b', 'ClusterRole/writer', 'User:eve'))).toBe('ok')
  expect(await write('bind', aBinding('shop/b', 'ClusterRole/root', 'User:eve'))).toMatch(
    /not currently held/,
  )
})

it('a binding to a role that does not exist is refused', async () => {
  expect(await write('ada', aBinding('shop/b', 'Role/lost', 'User:eve'))).toBe(
    'roles.rbac.authorization.k8s.io "lost" not found',
  )
})

it('a binding is asked about only when it gives more', async () => {
  const old = aBinding('shop/b', 'ClusterRole/writer', 'User:eve')
  expect(await write('ada', { ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }, old)).toBe('ok')
  expect(await write('ada', aBinding('shop/b', 'ClusterRole/writer', 'User:eve', 'User:ada'), old)).toMatch(
    /not currently held/,
  )
})

it('masters are not asked, nor is who deletes', async () => {
  const masters = { name: 'x', groups: ['system:masters'], extra: {} }
  expect(await write(masters, aRole('mine', readAndWrite))).toBe('not asked')
})

it('rules that explode are refused before they are compared', async () => {
  const many = Array.from({ length: 1000 }, (_, index) => `v${index}`)
  const rules = [{ apiGroups: [''], resources: many, verbs: many }]
  expect(await write('ada', aRole('shop/mine', rules))).toMatch(/more than 20000 single permissions/)
})
