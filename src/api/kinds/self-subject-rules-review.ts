import { authorizationGroup } from '../access-review.ts'
import { defineKind } from '../kind.ts'
import { message } from '../protobuf-fields.ts'
import { s } from '../schema.ts'

const resourceRule = s.object(
  {
    apiGroups: s.optional(s.atomicList(s.string(), { description: 'API groups of the resources.' })),
    resourceNames: s.optional(
      s.atomicList(s.string(), { description: 'Names that the rule is limited to; empty for all.' }),
    ),
    resources: s.optional(s.atomicList(s.string(), { description: 'Resources.' })),
    verbs: s.atomicList(s.string(), { description: 'What is allowed.' }),
  },
  { description: 'Allows verbs on resources.' },
)

const nonResourceRule = s.object(
  {
    nonResourceURLs: s.optional(s.atomicList(s.string(), { description: 'Paths.' })),
    verbs: s.atomicList(s.string(), { description: 'What is allowed.' }),
  },
  { description: 'Allows verbs on paths.' },
)

export const SelfSubjectRulesReviewKind = defineKind({
  group: authorizationGroup,
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'SelfSubjectRulesReview',
  plural: 'selfsubjectrulesreviews',
  scope: 'Cluster',
  description: 'Asks what the one who asks may do in a namespace.',
  servers: ['standalone'],
  storage: 'review',
  generation: false,
  protobuf: { spec: message(2, { namespace: 1 }) },
  properties: {
    spec: s.object(
      { namespace: s.optional(s.string({ description: 'The namespace that is asked about.' })) },
      { description: 'Where.' },
    ),
    status: s.optional(
      s.object(
        {
          evaluationError: s.optional(
            s.string({ description: 'What went wrong while the rules were looked for.' }),
          ),
          incomplete: s.boolean({ description: 'Whether there may be more rules than these.' }),
          nonResourceRules: s.atomicList(nonResourceRule, { description: 'What is allowed on paths.' }),
          resourceRules: s.atomicList(resourceRule, { description: 'What is allowed on resources.' }),
        },
        { description: 'The answer. Filled by the server.' },
      ),
    ),
  },
})
