/** What the two kinds of bindings have alike. */
import { bindingColumns } from './columns.ts'
import { withSubjectGroups } from './rules.ts'
import { bindingFields, bindingProperties, rbacGroup } from './schema.ts'

export const bindingDefinition = {
  group: rbacGroup,
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  servers: ['standalone'],
  nameRule: 'pathSegment',
  strategicMergePatch: true,
  unconditionalUpdate: true,
  plainFinalizers: 'refused',
  generation: false,
  protobuf: bindingFields,
  properties: bindingProperties,
  sample: {
    roleRef: { apiGroup: rbacGroup, kind: 'ClusterRole', name: 'view' },
    subjects: [{ kind: 'User', name: 'jo', apiGroup: rbacGroup }],
  },
  columns: bindingColumns,
  default: withSubjectGroups,
} as const
