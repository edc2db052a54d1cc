import { invalidValue } from '../../kernel/field-error.ts'
import { timeSince } from '../duration.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { type Infer, s } from '../schema.ts'
import { exportedAttributes, exportedPort, importedAttributes } from './exported-service.ts'

const digest = (what: string) =>
  s.optional(
    s.string({
      maxLength: 16,
      description: `Equal for clusters that export the same ${what}, which may be too much to be repeated here; absent, it is not known whether they are the same.`,
    }),
  )

export const contributor = s.object({
  cluster: s.string({ minLength: 1, maxLength: 63, description: 'Id of a cluster whose export counts.' }),
  taint: s.optional(
    s.oneOf(['NoNewConnections', 'NoImport'], {
      description: 'The strongest taint of that cluster: what becomes of its endpoints.',
    }),
  ),
  unreachable: s.optional(
    s.boolean({
      description:
        'The cluster has fallen silent: until it is heard again others do not import its endpoints.',
    }),
  ),
  region: s.optional(
    s.string({ maxLength: 63, description: 'The region that the MemberCluster of that cluster names.' }),
  ),
  draining: s.optional(
    s.boolean({
      description:
        'The cluster has fallen silent, and its export asks to drain: until it is heard again others import its endpoints as not ready.',
    }),
  ),
  ports: s.atomicList(exportedPort, {
    description: "The ports of that cluster's own Service: its slices name their ports as these are named.",
  }),
  since: s.optional(
    s.time({
      description:
        'Since when its export counts: the creationTimestamp, but no earlier than the hub first accepted the cluster. The oldest wins conflicts; absent, it is younger than all others.',
    }),
  ),
  definition: s.optional(exportedAttributes),
  labelsDigest: digest('labels'),
  annotationsDigest: digest('annotations'),
})
export type Contributor = Infer<typeof contributor>

const imported = {
  type: s.oneOf(['ClusterSetIP', 'Headless'], {
    description: 'ClusterSetIP: one address for all endpoints. Headless: DNS answers with the endpoints.',
  }),
  ports: s.atomicList(exportedPort, { description: 'The ports of all exports, where they agree.' }),
  ips: s.atomicList(s.string(), { maxItems: 2, description: 'In the order of ipFamilies.' }),
  ...importedAttributes,
  labels: s.optional(s.map(s.string(), { description: 'Labels of the imports.' })),
  annotations: s.optional(s.map(s.string(), { description: 'Annotations of the imports.' })),
}

const problem = s.optional(
  s.object(
    {
      reason: s.oneOf(['Pending', 'IPFamilyNotSupported'], { description: 'Why, for programs.' }),
      message: s.string({ description: 'Why, for people.' }),
    },
    { description: 'Why it has not the addresses that it should have.' },
  ),
)

const audience = s.object(
  {
    consumers: s.optional(
      s.atomicList(s.string(), { description: 'Ids of the clusters; absent for all that no other names.' }),
    ),
    clusters: s.atomicList(s.string(), { description: 'Ids of the clusters whose exports they may import.' }),
    spec: s.object(imported, { description: 'What they import.' }),
    problem,
  },
  { description: 'Clusters that may import the same exports, and what these come to.' },
)
export type StoredAudience = Infer<typeof audience>

/** What the exports of one service in all clusters come to, and the addresses that it has for its life. */
export const ClusterSetServiceKind = defineKind({
  group: 'hub.isthmus.dev',
  versions: [{ name: 'v1alpha1' }],
  storageVersion: 'v1alpha1',
  kind: 'ClusterSetService',
  plural: 'clustersetservices',
  shortNames: ['css'],
  scope: 'Cluster',
  description: 'A service of the ClusterSet: what its exports in all clusters come to. Written by the hub.',
  servers: ['hub'],
  properties: {
    spec: s.object(
      {
        namespace: s.string({ minLength: 1, maxLength: 63, description: 'Namespace of the service.' }),
        service: s.string({ minLength: 1, maxLength: 63, description: 'Name of the service.' }),
        consumers: s.optional(
          s.atomicList(s.string(), { description: 'Ids of the clusters that may import; absent for all.' }),
        ),
        reported: s.optional(
          s.boolean({
            description:
              'Shown to members, never stored: an export is for chosen clusters, so the hub is to be told of the import.',
          }),
        ),
        ...imported,
      },
      { description: 'What all exports together come to. Written by the hub.' },
    ),
    status: s.object(
      {
        clusters: s.mapList(contributor, ['cluster'], { description: 'Whose exports count.' }),
        addresses: s.atomicList(s.string(), {
          maxItems: 2,
          description: 'Reserved for the life of this object, published or not.',
        }),
        problem,
        audiences: s.optional(
          s.atomicList(audience, {
            description:
              'What each cluster imports, where exports are for chosen clusters; absent, all import what the spec says.',
          }),
        ),
        releasedAt: s.optional(
          s.time({
            description:
              'When the last export went. Members no longer see the service; its addresses stay reserved for a while.',
          }),
        ),
      },
      { description: 'Written together with the spec, so that a reader never sees one without the other.' },
    ),
  },
  sampleName: 'sample.sample',
  columns: [
    {
      name: 'Type',
      type: 'string',
      description: 'ClusterSetIP or Headless.',
      jsonPath: '.spec.type',
      cell: o => o.spec.type,
    },
    {
      name: 'IP',
      type: 'string',
      description: 'Its addresses.',
      jsonPath: '.spec.ips',
      cell: o => o.spec.ips.join(','),
    },
    {
      name: 'Clusters',
      type: 'string',
      description: 'Whose exports count.',
      jsonPath: '.status.clusters[*].cluster',
      cell: o => o.status.clusters.map(c => c.cluster).join(','),
    },
    {
      name: 'Problem',
      type: 'string',
      description: 'Why it has not the addresses that it should have.',
      jsonPath: '.status.problem.reason',
      cell: o => o.status.problem?.reason ?? null,
    },
    {
      name: 'Released',
      type: 'date',
      description: 'Time since the last export went: members no longer see it.',
      jsonPath: '.status.releasedAt',
      cell: (o, ages) => timeSince(o.status.releasedAt, ages),
    },
    ageColumn,
  ],
  validate: object => {
    const expected = `${object.spec.namespace}.${object.spec.service}`
    return object.metadata.name === expected
      ? []
      : [invalidValue('metadata.name', object.metadata.name, `must be ${expected}`)]
  },
})
export type ClusterSetService = ObjectOf<typeof ClusterSetServiceKind>
