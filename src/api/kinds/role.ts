import { defineKind } from '../kind.ts'
import { message } from '../protobuf-fields.ts'

import { createdAtColumn } from '../rbac/columns.ts'
import { rulesErrors } from '../rbac/rules.ts'
import { rbacGroup, ruleFields, rulesSchema } from '../rbac/schema.ts'

export const RoleKind = defineKind({
  group: rbacGroup,
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'Role',
  plural: 'roles',
  scope: 'Namespaced',
  description: 'What may be done in a namespace.',
  servers: ['standalone'],
  nameRule: 'pathSegment',
  strategicMergePatch: true,
  unconditionalUpdate: true,
  plainFinalizers: 'refused',
  generation: false,
  protobuf: { rules: message(2, ruleFields) },
  properties: {
    rules: rulesSchema,
  },
  sample: { rules: [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['services'] }] },
  columns: [createdAtColumn],
  validate: role => rulesErrors(role.rules ?? [], true),
})
