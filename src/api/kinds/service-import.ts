import { conditionColumn, messageColumn, reasonColumn } from '../condition-column.ts'
import { conditionsSchema } from '../condition-schema.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import type { Condition } from '../meta.ts'
import { s } from '../schema.ts'

const port = s.object(
  {
    appProtocol: s.optional(
      s.string({
        description:
          'Protocol above the transport: an IANA service name, kubernetes.io/h2c and its like, or a name with a domain before it.',
      }),
    ),
    name: s.optional(
      s.string({
        description:
          'Name of the port, a DNS label that no other port has. May be empty when there is only one. EndpointSlices use the same name.',
      }),
    ),
    port: s.int({ description: 'Port on the ClusterSetIP.' }),
    protocol: s.optional(s.string({ description: 'TCP, UDP or SCTP; TCP when not given.' })),
  },
  { description: 'A port of the imported Service.' },
)

const clientIP = s.object(
  {
    timeoutSeconds: s.optional(
      s.int({
        description:
          'Seconds that a client stays with an endpoint, above 0 and at most 86400; 10800 when not given.',
      }),
    ),
  },
  { description: 'Affinity by the address of the client.' },
)

export const serviceImportConditions = {
  Ready: {
    True: ['Ready'],
    False: ['Pending', 'IPFamilyNotSupported', 'ServiceNameTaken'],
    Unknown: ['Pending'],
  },
} as const

/** KEP-1645, the types of mcs-api. What prose calls a default stays absent when it is not given. */
export const ServiceImportKind = defineKind({
  group: 'multicluster.x-k8s.io',
  versions: [{ name: 'v1beta1' }, { name: 'v1alpha1' }],
  storageVersion: 'v1beta1',
  kind: 'ServiceImport',
  plural: 'serviceimports',
  shortNames: ['svcim', 'svcimport'],
  scope: 'Namespaced',
  description:
    'A Service that clusters of the ClusterSet export, as this cluster may use it. Made by the controller wherever the namespace exists.',
  servers: ['member'],
  properties: {
    spec: s.optional(
      s.object(
        {
          internalTrafficPolicy: s.optional(
            s.string({
              description:
                'Cluster: traffic goes to all endpoints. Local: only to endpoints on the node of the client. Cluster when not given.',
            }),
          ),
          ipFamilies: s.optional(
            s.list(s.string(), {
              maxItems: 2,
              description: 'IPv4, IPv6 or both, in the order of ips.',
            }),
          ),
          ips: s.optional(
            s.list(s.string(), {
              maxItems: 2,
              description:
                'The addresses of the Service, at most one of each family. Empty when type is Headless.',
            }),
          ),
          ports: s.atomicList(port, { description: 'The ports of the Service. May be an empty list.' }),
          sessionAffinity: s.optional(
            s.string({
              description:
                'ClientIP keeps a client with one endpoint, None does not. None when not given. Without effect when type is Headless.',
            }),
          ),
          sessionAffinityConfig: s.optional(
            s.object(
              { clientIP: s.optional(clientIP) },
              { description: 'Settings of the session affinity.' },
            ),
          ),
          trafficDistribution: s.optional(
            s.string({
              description:
                'Which endpoints are preferred: PreferClose, PreferSameZone or PreferSameNode, as in a Service.',
            }),
          ),
          type: s.oneOf(['ClusterSetIP', 'Headless'], {
            description:
              'ClusterSetIP: one address for all endpoints. Headless: DNS answers with the endpoints themselves.',
          }),
        },
        { description: 'What the Service offers.' },
      ),
    ),
    status: s.optional(
      s.object(
        {
          clusters: s.optional(
            s.mapList(
              s.object(
                { cluster: s.string({ description: 'Id of a cluster, a DNS label.' }) },
                { description: 'A cluster that exports the Service.' },
              ),
              ['cluster'],
              { description: 'The clusters whose exports this import is made of.' },
            ),
          ),
          conditions: conditionsSchema('Ready: the import can be used in this cluster.'),
          endpointSliceObjects: s.optional(
            s.oneOf(['Present', 'Absent'], {
              description: 'Whether the endpoints are in this cluster as EndpointSlices.',
            }),
          ),
        },
        { description: 'How the import is doing. Written by the controller.' },
      ),
    ),
  },
  status: {},
  conditions: serviceImportConditions,
  crd: {
    labels: {
      'multicluster.x-k8s.io/release-version': 'v0.5.2',
      'multicluster.x-k8s.io/crd-schema-revision': '1',
    },
  },
  aggregate: 'view',
  sample: {
    spec: {
      type: 'ClusterSetIP',
      ips: ['10.200.0.1'],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', port: 80, protocol: 'TCP' }],
    },
  },
  columns: [
    {
      name: 'Type',
      type: 'string',
      description: 'ClusterSetIP or Headless.',
      jsonPath: '.spec.type',
      cell: o => o.spec?.type ?? null,
    },
    {
      name: 'IP',
      type: 'string',
      description: 'The ClusterSetIPs; None for a Headless service.',
      jsonPath: '.spec.ips',
      cell: addressText,
    },
    {
      name: 'Ports',
      type: 'string',
      description: 'Ports with their protocols.',
      cell: o =>
        o.spec === undefined
          ? null
          : o.spec.ports.map(p => `${p.port}/${p.protocol ?? 'TCP'}`).join(',') || '<none>',
    },
    {
      name: 'Clusters',
      type: 'string',
      description: 'Ids of the clusters that export the Service; of many, the first three.',
      cell: o => firstOf(o.status?.clusters?.map(c => c.cluster) ?? []),
    },
    conditionColumn('Ready', 'Whether the import can be used in this cluster.'),
    ageColumn,
    {
      name: 'Families',
      type: 'string',
      description: 'Families of its addresses or, when it is Headless, of its endpoints.',
      priority: 1,
      cell: o => o.spec?.ipFamilies?.join(',') || null,
    },
    {
      name: 'From',
      type: 'string',
      description: 'Ids of all clusters that export the Service.',
      priority: 1,
      cell: o => o.status?.clusters?.map(c => c.cluster).join(',') || null,
    },
    reasonColumn('Ready', 'Reason'),
    messageColumn('Ready'),
  ],
})

export type ServiceImport = ObjectOf<typeof ServiceImportKind>

/** The type of a kind cannot be asked for in its own columns. */
type Addressed = {
  readonly spec?: { readonly type: string; readonly ips?: readonly string[] }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** In the words of `kubectl get services`. */
function addressText({ spec, status }: Addressed): string | null {
  if (spec === undefined) return null
  if (spec.type === 'Headless') return 'None'
  if (spec.ips !== undefined && spec.ips.length > 0) return spec.ips.join(',')
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')
  return ready === undefined || ready.reason === 'Pending' ? '<pending>' : '<none>'
}

const maxShown = 3

function firstOf(clusters: readonly string[]): string | null {
  if (clusters.length === 0) return null
  const more = clusters.length - maxShown
  return clusters.slice(0, maxShown).join(',') + (more > 0 ? ` + ${more} more...` : '')
}
