import { invalidValue } from '../../kernel/field-error.ts'
import { clusterIdProblem } from '../cluster-id.ts'
import { defineKind, type ObjectOf } from '../kind.ts'
import { s } from '../schema.ts'

/** The wish of a cluster to become a member, or of a member for a new certificate. Answered at once, never stored. */
export const MemberJoinKind = defineKind({
  group: 'hub.isthmus.dev',
  versions: [{ name: 'v1alpha1' }],
  storageVersion: 'v1alpha1',
  kind: 'MemberJoin',
  plural: 'memberjoins',
  scope: 'Cluster',
  description:
    'Asks the hub to sign the key of a cluster: with a join token to become a member, with the present certificate to renew it.',
  servers: ['hub'],
  storage: 'review',
  properties: {
    spec: s.object(
      {
        clusterID: s.string({ minLength: 1, maxLength: 63, description: 'The id of the cluster that asks.' }),
        request: s.string({
          minLength: 1,
          maxLength: 16_384,
          description:
            'A PKCS#10 request in PEM, signed with the key that the certificate is for. Only its key counts.',
        }),
      },
      { description: 'Who asks, and for which key.' },
    ),
    status: s.optional(
      s.object(
        {
          certificate: s.string({ description: 'The signed certificate, in PEM.' }),
          caBundle: s.string({
            description:
              'The authorities of the hub, in PEM: the present one, and while one is replaced the next.',
          }),
          namespace: s.string({ description: 'The namespace of the hub in which the member writes.' }),
        },
        { description: 'The answer of the hub.' },
      ),
    ),
  },
  validate: object => {
    const { clusterID } = object.spec
    const problem = clusterIdProblem(clusterID)
    return problem === undefined ? [] : [invalidValue('spec.clusterID', clusterID, problem)]
  },
})
export type MemberJoin = ObjectOf<typeof MemberJoinKind>
