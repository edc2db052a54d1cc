import { defineKind } from '../kind.ts'
import { bindingDefinition } from '../rbac/binding.ts'
import { bindingErrors } from '../rbac/rules.ts'

export const ClusterRoleBindingKind = defineKind({
  ...bindingDefinition,
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
  description: 'Gives a cluster role to users, groups and service accounts, everywhere.',
  validate: (binding, old) => bindingErrors(binding, old, ['ClusterRole']),
})
