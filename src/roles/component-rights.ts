/** Who the parts of a server are, and what they may do in it. */
import { bootstrapPolicy } from '../../apiservice/authz/bootstrap-policy.ts'
import type { KubeObject } from '../api/meta.ts'
import type { PolicyRule } from '../api/rbac/schema.ts'
import type { ClientSubject } from '../identity/certificate.ts'

export const agentSubject: ClientSubject = { user: 'system:isthmus:agent', groups: [] }
export const dnsSubject: ClientSubject = { user: 'system:isthmus:dns', groups: [] }

const rbacGroup = 'rbac.authorization.k8s.io'
const read = ['get', 'list', 'watch']
const write = ['create', 'delete', 'deletecollection', 'patch', 'update']
const mcs = ['multicluster.x-k8s.io']

/** What the agent reads, writes and reports of the kinds of its cluster. */
export const agentClusterRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['namespaces', 'services'], verbs: read },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: [...read, ...write] },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'get', 'update'] },
]

/** What it writes besides where the cluster routes packets to imports. */
export const agentRoutingRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['services'], verbs: ['create', 'delete', 'update'] },
  { apiGroups: [''], resources: ['services/status'], verbs: ['update'] },
]

/** And of ours. */
const agentOwnRules: readonly PolicyRule[] = [
  { apiGroups: mcs, resources: ['serviceexports'], verbs: read },
  { apiGroups: mcs, resources: ['serviceexports/status'], verbs: ['get', 'patch', 'update'] },
  { apiGroups: mcs, resources: ['serviceimports'], verbs: [...read, ...write] },
  { apiGroups: mcs, resources: ['serviceimports/status'], verbs: ['get', 'patch', 'update'] },
]

/** What parts of the server's own process may do at it whatever the cluster says, by user. */
export const componentRights: ReadonlyMap<string, readonly PolicyRule[]> = new Map([
  [agentSubject.user, agentOwnRules],
])

export const dnsRules: readonly PolicyRule[] = [
  { apiGroups: mcs, resources: ['serviceimports'], verbs: read },
  { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: read },
  { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'get', 'update'] },
]

function grant({ user }: ClientSubject, rules: readonly PolicyRule[]): readonly KubeObject[] {
  const metadata = { name: user }
  const apiVersion = `${rbacGroup}/v1`
  return [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    {
      apiVersion,
      kind: 'ClusterRoleBinding',
      metadata,
      roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: user },
      subjects: [{ apiGroup: rbacGroup, kind: 'User', name: user }],
    },
  ]
}

/** What a standalone server has from its start. */
export const policy: readonly KubeObject[] = [
  ...bootstrapPolicy,
  ...grant(agentSubject, [...agentClusterRules, ...agentOwnRules]),
  ...grant(dnsSubject, dnsRules),
]
