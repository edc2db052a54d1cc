/** The objects of `rbac.authorization.k8s.io` as the authorizer keeps them. */
import type { ClusterRole } from '../../src/api/kinds/cluster-role.ts'
import type { RoleBinding } from '../../src/api/kinds/role-binding.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { rbacGroup } from '../../src/api/rbac/schema.ts'
import type { BindingRecord, RoleRecord } from './role-index.ts'

export const rbacApiVersion = `${rbacGroup}/v1`

/** The kinds by the names of their stored resources. */
export const roleKinds: ReadonlyMap<string, string> = new Map([
  [`roles.${rbacGroup}`, 'Role'],
  [`clusterroles.${rbacGroup}`, 'ClusterRole'],
])
export const bindingKinds: ReadonlyMap<string, string> = new Map([
  [`rolebindings.${rbacGroup}`, 'RoleBinding'],
  [`clusterrolebindings.${rbacGroup}`, 'ClusterRoleBinding'],
])

/** For objects that the schema of Role or ClusterRole has accepted. */
export function roleOf(object: KubeObject): RoleRecord {
  // A Role is a ClusterRole without aggregation; the schema is where the type comes from.
  const { rules, aggregationRule } = object as ClusterRole
  const { namespace = '', name, labels = {} } = object.metadata
  const aggregates = aggregationRule === undefined ? undefined : (aggregationRule.clusterRoleSelectors ?? [])
  return { namespace, name, labels, rules: rules ?? [], aggregates }
}

/** For objects that the schema of RoleBinding or ClusterRoleBinding has accepted. */
export function bindingOf(object: KubeObject): BindingRecord {
  // Both kinds of bindings have the same fields; the schema is where the type comes from.
  const { roleRef, subjects } = object as RoleBinding
  const { namespace = '', name } = object.metadata
  return { namespace, name, roleRef, subjects: subjects ?? [] }
}
