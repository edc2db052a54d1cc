/**
 * The roles and bindings that every standalone server has from its first start, as kube-apiserver's: named, labelled and
 * aggregated alike, with the rules for what Isthmus serves. Who gets what of the MCS kinds: KEP-1645, RBAC; only the
 * controller writes ServiceImports.
 */
import type { KubeObject } from '../../src/api/meta.ts'
import { type PolicyRule, rbacGroup } from '../../src/api/rbac/schema.ts'
import type { LabelSelector } from './label-selector.ts'
import { mastersGroup } from './masters.ts'
import { rbacApiVersion } from './rbac-objects.ts'

const read = ['get', 'list', 'watch']
const write = ['create', 'delete', 'deletecollection', 'patch', 'update']
const mcs = 'multicluster.x-k8s.io'

const bootstrapMetadata = {
  labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
  annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
}

const aggregateTo = (role: string): string => `${rbacGroup}/aggregate-to-${role}`

function clusterRole(
  name: string,
  rules: readonly PolicyRule[],
  labels: Readonly<Record<string, string>> = {},
): KubeObject {
  const { labels: common, annotations } = bootstrapMetadata
  return {
    apiVersion: rbacApiVersion,
    kind: 'ClusterRole',
    metadata: { name, labels: { ...common, ...labels }, annotations },
    rules,
  }
}

function aggregatingRole(name: string, labels: Readonly<Record<string, string>> = {}): KubeObject {
  const selectors: readonly LabelSelector[] = [{ matchLabels: { [aggregateTo(name)]: 'true' } }]
  return { ...clusterRole(name, [], labels), aggregationRule: { clusterRoleSelectors: selectors } }
}

function binding(role: string, groups: readonly string[]): KubeObject {
  return {
    apiVersion: rbacApiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name: role, ...bootstrapMetadata },
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: role },
    subjects: groups.map(name => ({ apiGroup: rbacGroup, kind: 'Group', name })),
  }
}

const resources = (group: string, names: readonly string[], verbs: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources: names,
  verbs,
})

const everything: readonly PolicyRule[] = [
  { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  { nonResourceURLs: ['*'], verbs: ['*'] },
]

const viewRules: readonly PolicyRule[] = [
  resources('', ['configmaps', 'events', 'namespaces', 'services', 'services/status'], read),
  resources('discovery.k8s.io', ['endpointslices'], read),
  resources('events.k8s.io', ['events'], read),
  resources(
    mcs,
    ['serviceexports', 'serviceexports/status', 'serviceimports', 'serviceimports/status'],
    read,
  ),
]

const editRules: readonly PolicyRule[] = [
  resources('', ['configmaps', 'events', 'services'], write),
  resources('coordination.k8s.io', ['leases'], [...write, ...read]),
  resources('events.k8s.io', ['events'], write),
  resources(mcs, ['serviceexports'], write),
]

const adminRules: readonly PolicyRule[] = [
  resources(rbacGroup, ['rolebindings', 'roles'], [...write, ...read]),
]

const discoveryPaths = ['/api', '/api/*', '/apis', '/apis/*', '/healthz', '/livez', '/openapi', '/openapi/*']
const publicPaths = ['/healthz', '/livez', '/readyz', '/version', '/version/']

const monitoringPaths = ['/healthz', '/healthz/*', '/livez', '/livez/*', '/metrics', '/readyz', '/readyz/*']

/** Roles first, so that no binding is ever there without its role. */
export const bootstrapPolicy: readonly KubeObject[] = [
  clusterRole('cluster-admin', everything),
  clusterRole('system:discovery', [
    { nonResourceURLs: [...discoveryPaths, '/readyz', '/version', '/version/'], verbs: ['get'] },
  ]),
  clusterRole('system:public-info-viewer', [{ nonResourceURLs: publicPaths, verbs: ['get'] }]),
  clusterRole('system:monitoring', [{ nonResourceURLs: monitoringPaths, verbs: ['get'] }]),
  clusterRole('system:basic-user', [
    resources('authorization.k8s.io', ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'], ['create']),
    resources('authentication.k8s.io', ['selfsubjectreviews'], ['create']),
  ]),
  aggregatingRole('admin'),
  aggregatingRole('edit', { [aggregateTo('admin')]: 'true' }),
  aggregatingRole('view', { [aggregateTo('edit')]: 'true' }),
  clusterRole('system:aggregate-to-admin', adminRules, { [aggregateTo('admin')]: 'true' }),
  clusterRole('system:aggregate-to-edit', editRules, { [aggregateTo('edit')]: 'true' }),
  clusterRole('system:aggregate-to-view', viewRules, { [aggregateTo('view')]: 'true' }),
  binding('cluster-admin', [mastersGroup]),
  binding('system:monitoring', ['system:monitoring']),
  binding('system:discovery', ['system:authenticated']),
  binding('system:basic-user', ['system:authenticated']),
  binding('system:public-info-viewer', ['system:authenticated', 'system:unauthenticated']),
]
