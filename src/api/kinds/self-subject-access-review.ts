import {
  accessAttributes,
  accessFields,
  accessStatus,
  attributesErrors,
  authorizationGroup,
  reviewMetadataErrors,
} from '../access-review.ts'
import { defineKind } from '../kind.ts'
import { message } from '../protobuf-fields.ts'
import { s } from '../schema.ts'

export const SelfSubjectAccessReviewKind = defineKind({
  group: authorizationGroup,
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
  scope: 'Cluster',
  description: 'Asks whether the one who asks may do something.',
  servers: ['standalone'],
  storage: 'review',
  generation: false,
  protobuf: { spec: message(2, accessFields) },
  properties: {
    spec: s.object(accessAttributes, {
      description: 'What is to be allowed: a resource or a path, one of the two.',
    }),
    status: accessStatus,
  },
  // A question has no name.
  sampleName: '',
  sample: { spec: { resourceAttributes: { verb: 'get', resource: 'services', namespace: 'default' } } },
  validate: review => [...attributesErrors(review.spec), ...reviewMetadataErrors(review.metadata)],
})
