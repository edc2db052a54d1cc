import { type FieldError, immutable, invalidValue } from '../../kernel/field-error.ts'
import { clusterIdProblem } from '../cluster-id.ts'
import { conditionColumn, reasonColumn } from '../condition-column.ts'
import { conditionsSchema } from '../condition-schema.ts'
import { timeSince } from '../duration.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import type { Condition } from '../meta.ts'
import { s } from '../schema.ts'

const taint = s.object(
  {
    key: s.string({ minLength: 1, maxLength: 316, description: 'Name of the taint, as a label has one.' }),
    value: s.optional(s.string({ maxLength: 63, description: 'Value of the taint, for people.' })),
    effect: s.oneOf(['NoNewConnections', 'NoImport'], {
      description:
        'NoNewConnections: endpoints of this cluster are imported as not ready, so that they drain. NoImport: they are not imported.',
    }),
    timeAdded: s.optional(s.time({ description: 'When the taint was set.' })),
  },
  { description: 'A reason not to use this cluster.' },
)

/** Whether the member sends heartbeats, and whether its own addresses are other than those of the ClusterSet. */
export const memberClusterConditions = {
  Available: {
    True: ['Heartbeat'],
    False: ['NotAccepted'],
    Unknown: ['HeartbeatMissed', 'NothingHeard', 'NeverHeard'],
  },
  AddressesApart: { True: ['NoOverlap'], False: ['Overlap'], Unknown: [] },
} as const

/** A cluster that is, or was, a member of the ClusterSet. Its name is the cluster id. */
export const MemberClusterKind = defineKind({
  group: 'hub.isthmus.dev',
  versions: [{ name: 'v1alpha1' }],
  storageVersion: 'v1alpha1',
  kind: 'MemberCluster',
  plural: 'memberclusters',
  shortNames: ['mc'],
  scope: 'Cluster',
  description:
    'A member of the ClusterSet. Its name is the cluster id. It stays when the cluster leaves, so that a cluster that comes back is known.',
  servers: ['hub'],
  properties: {
    spec: s.object(
      {
        accepted: s.boolean({
          default: true,
          description:
            'Whether the cluster takes part. While false every request of the member is refused and what it exported counts for nothing.',
        }),
        credentialGeneration: s.int64({
          minimum: 1,
          default: 1,
          description:
            'Certificates of the member that name a lower number are refused. Raise it to revoke them all.',
        }),
        namespaces: s.optional(
          s.setList(s.string({ minLength: 1, maxLength: 63 }), {
            maxItems: 10_000,
            description:
              'The namespaces that the member takes part in: it imports and exports services of no others. Absent for all.',
          }),
        ),
        taints: s.optional(
          s.mapList(taint, ['key', 'effect'], {
            maxItems: 100,
            description: 'Reasons not to use this cluster; the strongest effect counts.',
          }),
        ),
      },
      { description: 'Whether and how far the cluster takes part.' },
    ),
    status: s.optional(
      s.object(
        {
          namespace: s.optional(
            s.string({
              maxLength: 63,
              description: 'The namespace of this server in which the member writes.',
            }),
          ),
          firstAcceptedTime: s.optional(
            s.time({
              description:
                'When this cluster id was first accepted. No export of it counts as older than this.',
            }),
          ),
          lastHeartbeatTime: s.optional(
            s.time({
              description:
                "When the member was last heard of, by the hub's clock. While all is well it is written twice a minute.",
            }),
          ),
          ipFamilies: s.optional(
            s.setList(s.oneOf(['IPv4', 'IPv6']), {
              description: 'The families that Services of the cluster can have.',
            }),
          ),
          serviceCIDRs: s.optional(
            s.atomicList(s.string(), {
              maxItems: 64,
              description: 'The blocks that Services of the cluster get addresses from, as it told.',
            }),
          ),
          podCIDRs: s.optional(
            s.atomicList(s.string(), {
              maxItems: 64,
              description: 'The blocks that pods of the cluster get addresses from, as far as it knows.',
            }),
          ),
          clockSkewSeconds: s.optional(
            s.int64({
              description: "How far the member's clock is ahead of the hub's; negative when it is behind.",
            }),
          ),
          conditions: conditionsSchema(
            'What is known of the member. Available: it was heard of lately. AddressesApart: no ClusterSetIP is one of its own addresses.',
          ),
        },
        { description: 'What the hub knows of the cluster.' },
      ),
    ),
  },
  status: {},
  conditions: memberClusterConditions,
  columns: [
    {
      name: 'Accepted',
      type: 'boolean',
      description: 'Whether the cluster takes part.',
      jsonPath: '.spec.accepted',
      cell: o => o.spec.accepted,
    },
    conditionColumn('Available', 'Whether the member was heard of lately.'),
    {
      name: 'Heartbeat',
      type: 'date',
      description: 'Time since the member was last heard of.',
      jsonPath: '.status.lastHeartbeatTime',
      cell: (o, ages) => timeSince(o.status?.lastHeartbeatTime, ages),
    },
    reasonColumn('Available', 'Reason'),
    {
      name: 'Families',
      type: 'string',
      description: 'The families that Services of the cluster can have.',
      priority: 1,
      jsonPath: '.status.ipFamilies',
      cell: o => o.status?.ipFamilies?.join(',') ?? null,
    },
    {
      name: 'Skew',
      type: 'integer',
      description: "Seconds that the member's clock is ahead of the hub's.",
      priority: 1,
      jsonPath: '.status.clockSkewSeconds',
      cell: o => o.status?.clockSkewSeconds ?? null,
    },
    {
      name: 'Namespace',
      type: 'string',
      description: 'The namespace in which the member writes.',
      priority: 1,
      jsonPath: '.status.namespace',
      cell: o => o.status?.namespace ?? null,
    },
    ageColumn,
  ],
  validate: (object, old) => {
    const problem = clusterIdProblem(object.metadata.name)
    return [
      ...(problem === undefined ? [] : [invalidValue('metadata.name', object.metadata.name, problem)]),
      // Where a member writes and since when it counts is said once.
      ...fixed('status.namespace', object.status?.namespace, old?.status?.namespace),
      ...fixed('status.firstAcceptedTime', object.status?.firstAcceptedTime, old?.status?.firstAcceptedTime),
    ]
  },
})
export type MemberCluster = ObjectOf<typeof MemberClusterKind>

export function conditionOf(
  status: MemberCluster['status'],
  wanted: keyof typeof memberClusterConditions,
): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === wanted)
}

/** Whether the member has fallen silent while others were heard, and not been heard since: nobody imports its endpoints. */
export function hasLapsed(status: MemberCluster['status']): boolean {
  const reason: (typeof memberClusterConditions.Available.Unknown)[number] = 'HeartbeatMissed'
  return conditionOf(status, 'Available')?.reason === reason
}

function fixed(field: string, value: string | undefined, before: string | undefined): readonly FieldError[] {
  return before === undefined || before === value ? [] : [immutable(field, value)]
}
