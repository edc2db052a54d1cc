import { expect, it } from 'vitest'
import { bootstrapPolicy } from '../../../../apiservice/authz/bootstrap-policy.ts'
import { ClusterRoleKind } from '../../../../src/api/kinds/cluster-role.ts'
import { ClusterRoleBindingKind } from '../../../../src/api/kinds/cluster-role-binding.ts'
import { NamespaceKind } from '../../../../src/api/kinds/namespace.ts'
import { type Cluster, resource } from '../../../../src/cluster/cluster.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { conflict, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { bootstrap } from '../../../../src/standalone/bootstrap.ts'
import { memoryCluster } from '../../../support/owned.ts'

const roles = resource(ClusterRoleKind)
const bindings = resource(ClusterRoleBindingKind)
const namespaces = resource(NamespaceKind)

const run = (cluster: Cluster, policy = bootstrapPolicy) =>
  bootstrap({ cluster, policy, log: memoryLogger() }, never)

it('a new server gets the namespaces and the policy of every cluster', async () => {
  const { cluster } = memoryCluster()
  await run(cluster)
  const names = (await cluster.list(namespaces, {}, never)).items.map(item => item.metadata.name)
  expect(names).toEqual(['default', 'kube-node-lease', 'kube-public', 'kube-system'])
  const stored = [
    ...(await cluster.list(roles, {}, never)).items,
    ...(await cluster.list(bindings, {}, never)).items,
  ]
  expect(stored).toHaveLength(bootstrapPolicy.length)
  expect(await cluster.get(roles, { name: 'view' }, never)).toMatchObject({
    aggregationRule: {
      clusterRoleSelectors: [{ matchLabels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } }],
    },
  })
})

it('running it again writes nothing', async () => {
  const { cluster, requests } = memoryCluster()
  await run(cluster)
  const before = (await cluster.list(roles, {}, never)).resourceVersion
  requests.length = 0
  await run(cluster)
  expect(requests.filter(request => request.startsWith('mergePatch'))).toEqual([])
  expect((await cluster.list(roles, {}, never)).resourceVersion).toBe(before)
})

it('what was taken away comes back and what was added stays', async () => {
  const { cluster } = memoryCluster()
  await run(cluster)
  const own = { verbs: ['get'], apiGroups: ['example.com'], resources: ['widgets'] }
  await cluster.mergePatch(roles, { name: 'system:basic-user' }, { rules: [own] }, { signal: never })
  await cluster.mergePatch(bindings, { name: 'system:discovery' }, { subjects: null }, { signal: never })
  await run(cluster)
  const { rules = [] } = await cluster.get(roles, { name: 'system:basic-user' }, never)
  expect(rules[0]).toEqual(own)
  expect(rules).toHaveLength(3)
  expect((await cluster.get(bindings, { name: 'system:discovery' }, never)).subjects).toEqual([
    { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:authenticated' },
  ])
})

it('an object whose annotation says so is left alone', async () => {
  const { cluster } = memoryCluster()
  await run(cluster)
  const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
  await cluster.mergePatch(
    roles,
    { name: 'system:basic-user' },
    { metadata: { annotations }, rules: [] },
    { signal: never },
  )
  await run(cluster)
  expect((await cluster.get(roles, { name: 'system:basic-user' }, never)).rules).toEqual([])
})

it('somebody who writes at the same time does not break the start', async () => {
  let conflicts = 0
  const { cluster } = memoryCluster(({ verb, ref }) => {
    if (verb === 'mergePatch' && ref?.name === 'system:basic-user' && conflicts++ === 1) {
      throw conflict({ group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }, 'system:basic-user')
    }
  })
  await run(cluster)
  await cluster.mergePatch(roles, { name: 'system:basic-user' }, { rules: [] }, { signal: never })
  await run(cluster)
  expect((await cluster.get(roles, { name: 'system:basic-user' }, never)).rules).toHaveLength(2)
})

it('a server that refuses is told', async () => {
  const { cluster } = memoryCluster(({ verb }) => {
    if (verb === 'create') throw unavailable('busy')
  })
  await expect(run(cluster)).rejects.toMatchObject({ code: 503 })
})

it('an object that is no policy is a mistake of the caller', async () => {
  const { cluster } = memoryCluster()
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } }
  await expect(run(cluster, [service])).rejects.toThrow('Service web is no part of a policy')
})
