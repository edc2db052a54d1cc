// What a cluster needs for its member besides the process: the Service and the APIServices by which kube-apiserver finds
// it, and its rights.
import type { AnyKind } from '../src/api/kind.ts'
import type { PolicyRule } from '../src/api/rbac/schema.ts'
import { agentClusterRules, agentRoutingRules } from '../src/roles/component-rights.ts'

type Manifest = Readonly<Record<string, unknown>>

const namespace = 'isthmus-system'
const name = 'isthmus-member'
const labels = { 'app.kubernetes.io/name': 'isthmus', 'app.kubernetes.io/component': 'member' }
const podSecurity = { 'pod-security.kubernetes.io/enforce': 'restricted' }
const rbac = 'rbac.authorization.k8s.io'
const subjects = [{ kind: 'ServiceAccount', name, namespace }]
const read = ['get', 'list', 'watch']

/** Behind all built-in groups. */
const groupPriorityMinimum = 1_000

type Served = { readonly group: string; readonly version: string; readonly priority: number }

/** What the member serves; the first version of a group is preferred. */
function groupVersions(kinds: readonly AnyKind[]): readonly Served[] {
  const ours = kinds.filter(kind => kind.servers.includes('member'))
  return [...Map.groupBy(ours, kind => kind.group)].flatMap(([group, served]) => {
    const versions = [...new Set(served.flatMap(kind => kind.versions.map(version => version.name)))]
    return versions.map((version, index) => ({ group, version, priority: 10 * (versions.length - index) }))
  })
}

/** Without a caBundle: the server writes it. */
export function apiServices(kinds: readonly AnyKind[]): readonly Manifest[] {
  return groupVersions(kinds).map(({ group, version, priority }) => ({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}`, labels },
    spec: {
      group,
      version,
      groupPriorityMinimum,
      versionPriority: priority,
      service: { namespace, name, port: 443 },
    },
  }))
}

export function memberService(): readonly Manifest[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace, labels: podSecurity } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name, labels } },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { namespace, name, labels },
      spec: { selector: labels, ports: [{ name: 'https', port: 443, targetPort: 7444, protocol: 'TCP' }] },
    },
  ]
}

/** What the member may do in its cluster, and nothing more. */
export function memberRights(kinds: readonly AnyKind[]): readonly Manifest[] {
  const names = groupVersions(kinds).map(({ group, version }) => `${version}.${group}`)
  const rules: readonly PolicyRule[] = [
    ...agentClusterRules,
    ...agentRoutingRules,
    // The blocks of its Services and pods, so that it can be told whether ClusterSetIPs are among them.
    { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: ['get', 'list'] },
    { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
    {
      apiGroups: ['apiregistration.k8s.io'],
      resources: ['apiservices'],
      resourceNames: names,
      verbs: [...read, 'patch'],
    },
  ]
  const reader = 'extension-apiserver-authentication-reader'
  return [
    { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name, labels }, rules },
    binding('ClusterRoleBinding', { name, labels }, { kind: 'ClusterRole', name }),
    binding(
      'ClusterRoleBinding',
      { name: `${name}:auth-delegator`, labels },
      { kind: 'ClusterRole', name: 'system:auth-delegator' },
    ),
    binding(
      'RoleBinding',
      { namespace: 'kube-system', name: `${name}:authentication-reader`, labels },
      { kind: 'Role', name: reader },
    ),
  ]
}

function binding(kind: string, metadata: Manifest, roleRef: Manifest): Manifest {
  return { apiVersion: `${rbac}/v1`, kind, metadata, roleRef: { apiGroup: rbac, ...roleRef }, subjects }
}
