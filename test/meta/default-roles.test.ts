// Who may use a kind without being a cluster admin, so that no new kind is silently refused to everybody else.
import { expect, it } from 'vitest'
import { bootstrapPolicy } from '../../apiservice/authz/bootstrap-policy.ts'
import { verbsOf } from '../../src/api/derive/discovery.ts'
import type { AnyKind } from '../../src/api/kind.ts'
import { kinds } from '../../src/api/kinds/index.ts'
import { aResourceInfo } from '../support/api-request.ts'
import { aBinding, aStoredPolicy } from '../support/stored-policy.ts'

type Access = { readonly read: readonly string[]; readonly write: readonly string[] }

const roles = ['view', 'edit', 'admin']
const usual: Access = { read: roles, write: ['edit', 'admin'] }
const adminOnly: Access = { read: ['admin'], write: ['admin'] }
const nobody: Access = { read: [], write: [] }

/** As in a stock Kubernetes cluster unless the reason says otherwise. */
const exceptions: ReadonlyMap<string, Access & { readonly why: string }> = new Map([
  ['ClusterRole', { ...nobody, why: 'whoever could write them could give away more than a namespace' }],
  [
    'ClusterRoleBinding',
    { ...nobody, why: 'whoever could write them could give away more than a namespace' },
  ],
  [
    'EndpointSlice',
    { read: roles, write: [], why: 'CVE-2021-25740: they could send traffic of a Service anywhere' },
  ],
  [
    'Lease',
    { read: ['edit', 'admin'], write: ['edit', 'admin'], why: 'locks of programs, nothing to look at' },
  ],
  ['Namespace', { read: roles, write: [], why: 'these roles are given within a namespace' }],
  ['Role', { ...adminOnly, why: 'who may do what in a namespace is for its admins' }],
  ['RoleBinding', { ...adminOnly, why: 'who may do what in a namespace is for its admins' }],
  ['ServiceImport', { read: roles, write: [], why: 'KEP-1645, RBAC: only the controller writes them' }],
])

const { rbac } = await aStoredPolicy([
  ...bootstrapPolicy,
  ...roles.map(role => aBinding(role, `ClusterRole/${role}`, `User:${role}`)),
])

async function mayAll(role: string, kind: AnyKind, verbs: readonly string[]): Promise<boolean> {
  const user = { name: role, groups: [], extra: {} }
  const { group, plural: resource, scope } = kind
  const namespace = scope === 'Namespaced' ? 'shop' : ''
  const info = aResourceInfo({ group, resource, namespace })
  const decisions = await Promise.all(verbs.map(verb => rbac.authorize({ user, info: { ...info, verb } })))
  return decisions.every(({ allowed }) => allowed === 'allow')
}

async function rolesThatMay(kind: AnyKind, verbs: readonly string[]): Promise<readonly string[]> {
  const may = await Promise.all(roles.map(role => mayAll(role, kind, verbs)))
  return roles.filter((_, index) => may[index])
}

const reading = ['get', 'list', 'watch']
const servedToUsers = kinds.filter(
  ({ servers, storage }) =>
    storage === 'stored' && servers.some(server => server === 'member' || server === 'standalone'),
)

it.each(servedToUsers.map(kind => [kind.kind, kind] as const))('%s', async (name, kind) => {
  const { read, write } = exceptions.get(name) ?? usual
  const writing = verbsOf(kind).filter(verb => !reading.includes(verb))
  expect({ read: await rolesThatMay(kind, reading), write: await rolesThatMay(kind, writing) }).toEqual({
    read,
    write,
  })
})

it('excepts only kinds that there are', () => {
  const names = servedToUsers.map(({ kind }) => kind)
  expect([...exceptions.keys()].filter(name => !names.includes(name))).toEqual([])
})
