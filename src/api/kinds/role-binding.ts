import { defineKind, type ObjectOf } from '../kind.ts'
import { bindingDefinition } from '../rbac/binding.ts'
import { bindingErrors } from '../rbac/rules.ts'

export const RoleBindingKind = defineKind({
  ...bindingDefinition,
  kind: 'RoleBinding',
  plural: 'rolebindings',
  scope: 'Namespaced',
  description: 'Gives a role to users, groups and service accounts, in a namespace.',
  validate: (binding, old) => bindingErrors(binding, old, ['Role', 'ClusterRole']),
})

export type RoleBinding = ObjectOf<typeof RoleBindingKind>
