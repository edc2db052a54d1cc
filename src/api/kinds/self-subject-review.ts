import { defineKind } from '../kind.ts'
import { s } from '../schema.ts'
import { userProperties } from '../user-schema.ts'

export const SelfSubjectReviewKind = defineKind({
  group: 'authentication.k8s.io',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'SelfSubjectReview',
  plural: 'selfsubjectreviews',
  scope: 'Cluster',
  description: 'Asks who the one who asks is.',
  servers: ['standalone'],
  storage: 'review',
  generation: false,
  protobuf: {},
  properties: {
    status: s.optional(
      s.object(
        {
          userInfo: s.optional(
            s.object(
              {
                ...userProperties,
                username: s.optional(s.string({ description: 'Name of the user.' })),
              },
              { description: 'Who asked.' },
            ),
          ),
        },
        { description: 'The answer. Filled by the server.' },
      ),
    ),
  },
})
