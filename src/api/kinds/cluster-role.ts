import { defineKind, type ObjectOf } from '../kind.ts'
import { labelSelectorSchema } from '../label-selector-schema.ts'
import { labelSelectorFields, message, pointer } from '../protobuf-fields.ts'
import { createdAtColumn } from '../rbac/columns.ts'
import { rulesErrors } from '../rbac/rules.ts'
import { rbacGroup, ruleFields, rulesSchema } from '../rbac/schema.ts'
import { s } from '../schema.ts'

export const ClusterRoleKind = defineKind({
  group: rbacGroup,
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'ClusterRole',
  plural: 'clusterroles',
  scope: 'Cluster',
  description: 'What may be done in the whole cluster, or in any namespace that it is bound in.',
  servers: ['standalone'],
  nameRule: 'pathSegment',
  strategicMergePatch: true,
  unconditionalUpdate: true,
  plainFinalizers: 'refused',
  generation: false,
  protobuf: {
    rules: message(2, ruleFields),
    aggregationRule: pointer(3, { clusterRoleSelectors: message(1, labelSelectorFields) }),
  },
  properties: {
    aggregationRule: s.optional(
      s.object(
        {
          clusterRoleSelectors: s.optional(
            s.atomicList(labelSelectorSchema('Cluster roles by their labels.'), {
              description: 'The rules of cluster roles that any of these selects are added up.',
            }),
          ),
        },
        { description: 'Fills rules with those of other cluster roles.' },
      ),
    ),
    rules: rulesSchema,
  },
  sample: { rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['services'] }] },
  columns: [createdAtColumn],
  validate: role => rulesErrors(role.rules ?? [], false),
})

export type ClusterRole = ObjectOf<typeof ClusterRoleKind>
