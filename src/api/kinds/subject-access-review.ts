import { type FieldError, invalidValue } from '../../kernel/field-error.ts'
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
import { userProperties } from '../user-schema.ts'

export const SubjectAccessReviewKind = defineKind({
  group: authorizationGroup,
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
  scope: 'Cluster',
  description: 'Asks whether someone may do something.',
  servers: ['standalone'],
  storage: 'review',
  generation: false,
  protobuf: { spec: message(2, { ...accessFields, user: 3, groups: 4, extra: 5, uid: 6 }) },
  properties: {
    spec: s.object(
      {
        ...accessAttributes,
        ...userProperties,
        user: s.optional(s.string({ description: 'Name of the user.' })),
      },
      { description: 'Who is to be allowed what.' },
    ),
    status: accessStatus,
  },
  // A question has no name.
  sampleName: '',
  sample: { spec: { user: 'jo', resourceAttributes: { verb: 'get', resource: 'services' } } },
  validate: review => [
    ...attributesErrors(review.spec),
    ...subjectErrors(review.spec),
    ...reviewMetadataErrors(review.metadata),
  ],
})

function subjectErrors(spec: {
  readonly user?: string
  readonly groups?: readonly string[]
}): readonly FieldError[] {
  if (spec.user || (spec.groups ?? []).length > 0) return []
  return [invalidValue('spec.user', spec.user ?? '', 'at least one of user or group must be specified')]
}
