/** The objects of `rbac.authorization.k8s.io` as the authorizer keeps them. */
import type { KubeObject } from '../../src/api/meta.ts'
import type { LabelSelector } from './label-selector.ts'
import type { BindingRecord, RoleRecord, RoleRef, Subject } from './policy.ts'
import type { PolicyRule } from './rules.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'
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
  // The schemas of both kinds give these fields these shapes.
  const { rules, aggregationRule } = object as KubeObject & {
    readonly rules?: readonly PolicyRule[] | null
    readonly aggregationRule?: { readonly clusterRoleSelectors?: readonly LabelSelector[] | null } | null
  }
  const { namespace = '', name, labels = {} } = object.metadata
  const aggregates = aggregationRule == null ? undefined : (aggregationRule.clusterRoleSelectors ?? [])
  return { namespace, name, labels, rules: rules ?? [], aggregates }
}

/** For objects that the schema of RoleBinding or ClusterRoleBinding has accepted. */
export function bindingOf(object: KubeObject): BindingRecord {
  // The schemas of both kinds give these fields these shapes.
  const { roleRef, subjects } = object as KubeObject & {
    readonly roleRef: RoleRef
    readonly subjects?: readonly Subject[] | null
  }
  const { namespace = '', name } = object.metadata
  return { namespace, name, roleRef, subjects: subjects ?? [] }
}
