/** The parts that the four RBAC kinds share. */

import { message, type ProtobufFields } from '../protobuf-fields.ts'
import type { Infer } from '../schema.ts'
import { s } from '../schema.ts'

export const rbacGroup = 'rbac.authorization.k8s.io'

const policyRule = s.object(
  {
    apiGroups: s.optional(
      s.atomicList(s.string(), {
        description: 'API groups of the resources; "" is the core group, "*" all groups.',
      }),
    ),
    nonResourceURLs: s.optional(
      s.atomicList(s.string(), {
        description:
          'Paths that are no resources, for cluster roles. A last "*" stands for all that follows.',
      }),
    ),
    resourceNames: s.optional(
      s.atomicList(s.string(), { description: 'Names that the rule is limited to; empty for all names.' }),
    ),
    resources: s.optional(
      s.atomicList(s.string(), {
        description: 'Resources, as services or services/status; "*" is all of them.',
      }),
    ),
    verbs: s.atomicList(s.string(), { description: 'What is allowed; "*" is everything.' }),
  },
  { description: 'Allows verbs on resources or on paths.' },
)

export type PolicyRule = Infer<typeof policyRule>

export const rulesSchema = s.optional(
  s.atomicList(policyRule, { description: 'What the role allows. Each rule adds to the others.' }),
)

const subject = s.atomic(
  s.object(
    {
      apiGroup: s.optional(
        s.string({
          description:
            'API group of the subject: empty for service accounts, rbac.authorization.k8s.io for users and groups.',
        }),
      ),
      kind: s.string({ description: 'User, Group or ServiceAccount.' }),
      name: s.string({ description: 'Name of the subject.' }),
      namespace: s.optional(s.string({ description: 'Namespace of a service account; empty for others.' })),
    },
    { description: 'Someone who is given a role.' },
  ),
)

export type Subject = Infer<typeof subject>

const roleRef = s.atomic(
  s.object(
    {
      apiGroup: s.string({ default: rbacGroup, description: 'API group of the role.' }),
      kind: s.string({ description: 'Role or ClusterRole.' }),
      name: s.string({ description: 'Name of the role.' }),
    },
    { description: 'The role that is given. Cannot be changed.' },
  ),
)

export type RoleRef = Infer<typeof roleRef>

export const bindingProperties = {
  roleRef,
  subjects: s.optional(s.atomicList(subject, { description: 'Who is given the role.' })),
}

export const ruleFields: ProtobufFields = {
  verbs: 1,
  apiGroups: 2,
  resources: 3,
  resourceNames: 4,
  nonResourceURLs: 5,
}

export const bindingFields: ProtobufFields = {
  subjects: message(2, { kind: 1, apiGroup: 2, name: 3, namespace: 4 }),
  roleRef: message(3, { apiGroup: 1, kind: 2, name: 3 }),
}
