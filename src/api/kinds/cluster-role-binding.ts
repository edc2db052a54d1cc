import { defineKind } from '../kind.ts'
import { bindingColumns } from '../rbac/columns.ts'
import { bindingErrors, withSubjectGroups } from '../rbac/rules.ts'
import { bindingFields, bindingProperties, rbacGroup } from '../rbac/schema.ts'

export const ClusterRoleBindingKind = defineKind({
  group: rbacGroup,
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'ClusterRoleBinding',
  plural: 'clusterrolebindings',
  scope: 'Cluster',
  description: 'Gives a cluster role to users, groups and service accounts, everywhere.',
  servers: ['standalone'],
  nameRule: 'pathSegment',
  strategicMergePatch: true,
  unconditionalUpdate: true,
  generation: false,
  protobuf: bindingFields,
  properties: bindingProperties,
  sample: {
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', name: 'jo', apiGroup: rbacGroup }],
  },
  columns: bindingColumns,
  default: withSubjectGroups,
  validate: (binding, old) => bindingErrors(binding, old, ['ClusterRole']),
})
