import { expect, it } from 'vitest'
import { aResourceInfo } from '../../../support/api-request.ts'
import { aBinding, aRole, aStoredPolicy } from '../../../support/stored-policy.ts'

const rules = (verb: string) => [{ apiGroups: [''], resources: ['pods'], verbs: [verb] }]
const labelled = (labels: Record<string, string>, name: string) => ({ metadata: { name, labels } })

function questions({ rbac }: Awaited<ReturnType<typeof aStoredPolicy>>, user = 'ada') {
  return async (verb: string): Promise<boolean> => {
    const info = { ...aResourceInfo({ namespace: 'shop' }), verb }
    return (await rbac.authorize({ user: { name: user, groups: [], extra: {} }, info })).allowed === 'allow'
  }
}

it('changes of roles and bindings hold at once', async () => {
  const policy = await aStoredPolicy([])
  const may = questions(policy)
  const role = aRole('shop/reader', rules('get'))
  const binding = aBinding('shop/readers', 'Role/reader', 'User:ada')
  let changes = 0
  policy.rbac.onChange(() => {
    changes += 1
  })
  await policy.put(binding)
  expect(await may('get')).toBe(false)
  await policy.put(role)
  expect(await may('get')).toBe(true)
  await policy.put(aRole('shop/reader', rules('list')))
  expect([await may('get'), await may('list')]).toEqual([false, true])
  await policy.put(aBinding('shop/readers', 'Role/reader', 'User:bob'))
  expect(await may('list')).toBe(false)
  await policy.put(aBinding('shop/readers', 'Role/reader', 'User:bob', 'User:ada', 'User:ada'))
  expect(await may('list')).toBe(true)
  await policy.remove(binding)
  expect(await may('list')).toBe(false)
  await policy.put(binding)
  await policy.remove(role)
  expect(await may('list')).toBe(false)
  expect(changes).toBe(8)
})

it('a listener that has left hears no more', async () => {
  const policy = await aStoredPolicy([])
  let changes = 0
  const stop = policy.rbac.onChange(() => {
    changes += 1
  })
  stop()
  await policy.put(aRole('reader', rules('get')))
  expect(changes).toBe(0)
})

const selecting = (...clusterRoleSelectors: readonly unknown[]) => ({
  aggregationRule: { clusterRoleSelectors },
})

it('an aggregating role has the rules of the roles it selects, through others too', async () => {
  const policy = await aStoredPolicy([
    aRole('admin', rules('ignored'), selecting({ matchLabels: { to: 'admin' } })),
    aRole('edit', [], {
      ...labelled({ to: 'admin' }, 'edit'),
      ...selecting(
        { matchLabels: { to: 'edit' } },
        { matchExpressions: [{ key: 'also', operator: 'Exists' }] },
      ),
    }),
    aRole('a', rules('get'), labelled({ to: 'edit' }, 'a')),
    aRole('b', rules('list'), labelled({ also: '' }, 'b')),
    aRole('c', rules('delete'), labelled({ to: 'other' }, 'c')),
    aRole('shop/a', rules('create'), { metadata: { namespace: 'shop', name: 'a', labels: { to: 'admin' } } }),
    aBinding('admins', 'ClusterRole/admin', 'User:ada'),
  ])
  const may = questions(policy)
  expect(await Promise.all(['get', 'list', 'delete', 'create', 'ignored'].map(may))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  await policy.put(aRole('c', rules('delete'), labelled({ to: 'edit' }, 'c')))
  expect(await may('delete')).toBe(true)
  await policy.remove(aRole('a', []))
  expect(await may('get')).toBe(false)
})

it('roles that aggregate each other end somewhere', async () => {
  const policy = await aStoredPolicy([
    aRole('one', [], { ...labelled({ to: 'two' }, 'one'), ...selecting({ matchLabels: { to: 'one' } }) }),
    aRole('two', [], { ...labelled({ to: 'one' }, 'two'), ...selecting({ matchLabels: { to: 'two' } }) }),
    aRole('leaf', rules('get'), labelled({ to: 'two' }, 'leaf')),
    aBinding('ones', 'ClusterRole/one', 'User:ada'),
  ])
  expect(await questions(policy)('get')).toBe(true)
})

it('a role without selectors that aggregates has no rules', async () => {
  const policy = await aStoredPolicy([
    aRole('empty', rules('get'), selecting()),
    aBinding('ones', 'ClusterRole/empty', 'User:ada'),
  ])
  expect(await questions(policy)('get')).toBe(false)
})

it('rules of a user come from all bindings that count in a namespace', async () => {
  const { rbac } = await aStoredPolicy([
    aRole('reader', rules('get')),
    aRole('shop/writer', rules('create')),
    aBinding('readers', 'ClusterRole/reader', 'Group:ops'),
    aBinding('shop/writers', 'Role/writer', 'User:ada'),
    aBinding('shop/lost', 'Role/lost', 'User:ada'),
  ])
  const user = { name: 'ada', groups: ['ops'], extra: {} }
  expect(rbac.rulesFor(user, 'shop')).toEqual({
    rules: [...rules('get'), ...rules('create')],
    missing: ['role.rbac.authorization.k8s.io "lost" not found'],
  })
  expect(rbac.rulesFor(user, 'ops')).toEqual({ rules: rules('get'), missing: [] })
})
