import { immutable, invalidValue } from '../../kernel/field-error.ts'
import { clusterIdProblem } from '../cluster-id.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { s } from '../schema.ts'

/** A token with which one cluster may join. What is stored does not let anybody join: only the secret's hash is kept. */
export const JoinTokenKind = defineKind({
  group: 'hub.isthmus.dev',
  versions: [{ name: 'v1alpha1' }],
  storageVersion: 'v1alpha1',
  kind: 'JoinToken',
  plural: 'jointokens',
  scope: 'Cluster',
  description:
    'A one-time token with which a cluster joins the ClusterSet. Its name is the public part of the token.',
  servers: ['hub'],
  properties: {
    spec: s.object(
      {
        secretSHA256: s.string({
          pattern: '^[0-9a-f]{64}$',
          description: 'SHA-256 of the secret part of the token, in hexadecimal digits.',
        }),
        clusterID: s.optional(
          s.string({
            minLength: 1,
            maxLength: 63,
            description:
              'The only cluster id that may join with this token; a member of that id gets new credentials. Absent for any id that is not yet a member.',
          }),
        ),
        expirationTime: s.time({ description: 'The token is refused and removed after this time.' }),
      },
      { description: 'Who may join with the token, and until when.' },
    ),
    status: s.optional(
      s.object(
        {
          used: s.optional(
            s.object(
              {
                clusterID: s.string({ maxLength: 63, description: 'The id of the cluster that joined.' }),
                keySHA256: s.string({
                  pattern: '^[0-9a-f]{64}$',
                  description: 'SHA-256 of the key of that cluster, in hexadecimal digits.',
                }),
                time: s.time({ description: 'When it joined.' }),
              },
              {
                description:
                  'Who joined with the token. The same cluster with the same key may ask again, should the answer have been lost.',
              },
            ),
          ),
        },
        { description: 'What became of the token.' },
      ),
    ),
  },
  status: {},
  columns: [
    {
      name: 'Cluster',
      type: 'string',
      description: 'The cluster id that may join.',
      jsonPath: '.spec.clusterID',
      cell: o => o.spec.clusterID ?? null,
    },
    {
      name: 'Expires',
      type: 'string',
      description: 'When the token expires.',
      jsonPath: '.spec.expirationTime',
      cell: o => o.spec.expirationTime,
    },
    {
      name: 'Used by',
      type: 'string',
      description: 'The cluster that joined with it.',
      jsonPath: '.status.used.clusterID',
      cell: o => o.status?.used?.clusterID ?? null,
    },
    ageColumn,
  ],
  validate: (object, old) => {
    const { clusterID, secretSHA256 } = object.spec
    const problem = clusterID === undefined ? undefined : clusterIdProblem(clusterID)
    const moved = old !== undefined && old.spec.secretSHA256 !== secretSHA256
    return [
      ...(/^[a-z0-9]{6,63}$/.test(object.metadata.name)
        ? []
        : [
            invalidValue(
              'metadata.name',
              object.metadata.name,
              'must be 6 to 63 lower-case letters and digits',
            ),
          ]),
      ...(problem === undefined ? [] : [invalidValue('spec.clusterID', clusterID, problem)]),
      ...(moved ? [immutable('spec.secretSHA256', secretSHA256)] : []),
    ]
  },
})
export type JoinToken = ObjectOf<typeof JoinTokenKind>
