import { invalidValue, tooLong } from '../../kernel/field-error.ts'
import { defineKind, type ObjectOf } from '../kind.ts'
import { type Infer, s } from '../schema.ts'

const condition = s.object({
  type: s.string({ maxLength: 316 }),
  status: s.oneOf(['True', 'False', 'Unknown']),
  reason: s.string({ minLength: 1, maxLength: 1024 }),
  message: s.string({ maxLength: 32768 }),
  lastTransitionTime: s.time(),
  observedGeneration: s.optional(s.int64({ minimum: 0 })),
})

const port = s.object({
  name: s.optional(
    s.string({ maxLength: 63, description: 'Absent for the one port of a Service that has no name.' }),
  ),
  protocol: s.oneOf(['TCP', 'UDP', 'SCTP']),
  appProtocol: s.optional(s.string({ maxLength: 317 })),
  port: s.int({ minimum: 1, maximum: 65535 }),
})
export type ExportedPort = Infer<typeof port>

const service = s.object(
  {
    type: s.oneOf(['ClusterSetIP', 'Headless'], {
      description: 'What an import of this Service alone would be: Headless when its clusterIP is None.',
    }),
    ports: s.atomicList(port, { maxItems: 1000 }),
    ipFamilies: s.atomicList(s.oneOf(['IPv4', 'IPv6']), { maxItems: 2 }),
    sessionAffinity: s.optional(s.string({ maxLength: 63 })),
    sessionAffinityConfig: s.optional(
      s.object({ clientIP: s.optional(s.object({ timeoutSeconds: s.optional(s.int()) })) }),
    ),
    internalTrafficPolicy: s.optional(s.string({ maxLength: 63 })),
    trafficDistribution: s.optional(s.string({ maxLength: 63 })),
  },
  { description: 'The parts of the Service that merging needs.' },
)
export type ExportedServiceFacts = Infer<typeof service>

const maxMapBytes = 256 * 1024

/** One ServiceExport of a member and the parts of its Service that merging needs, in the member's namespace. */
export const ExportedServiceKind = defineKind({
  group: 'hub.isthmus.dev',
  versions: [{ name: 'v1alpha1' }],
  storageVersion: 'v1alpha1',
  kind: 'ExportedService',
  plural: 'exportedservices',
  scope: 'Namespaced',
  description: 'A Service that a member cluster exports, as its agent reports it. Read by the hub only.',
  servers: ['hub'],
  properties: {
    spec: s.object({
      namespace: s.string({ minLength: 1, maxLength: 63, description: 'Namespace of the ServiceExport.' }),
      service: s.string({ minLength: 1, maxLength: 63, description: 'Name of the ServiceExport.' }),
      exportedAt: s.time({ description: "The ServiceExport's creationTimestamp, by the member's clock." }),
      exportGeneration: s.int64({ minimum: 0, description: 'Generation of the ServiceExport.' }),
      exportedLabels: s.optional(s.map(s.string())),
      exportedAnnotations: s.optional(s.map(s.string())),
      consumers: s.optional(
        s.atomicList(s.string(), {
          maxItems: 1000,
          description: 'Ids of the clusters that may import; absent for all.',
        }),
      ),
      definition: service,
    }),
    status: s.optional(
      s.object({
        observedGeneration: s.optional(
          s.int64({ minimum: 0, description: 'The generation of this object that the conditions speak of.' }),
        ),
        conditions: s.optional(s.mapList(condition, ['type'])),
      }),
    ),
  },
  status: {},
  columns: [
    {
      name: 'Type',
      type: 'string',
      description: 'What an import of this Service alone would be.',
      cell: o => o.spec.definition.type,
    },
    {
      name: 'Ready',
      type: 'string',
      description: 'Whether the hub has merged it.',
      cell: o => o.status?.conditions?.find(c => c.type === 'Ready')?.status ?? '',
    },
    {
      name: 'Conflict',
      type: 'string',
      description: 'In what it disagrees with other clusters.',
      priority: 1,
      cell: o => o.status?.conditions?.find(c => c.type === 'Conflict')?.reason ?? '',
    },
  ],
  validate: object => {
    const { namespace, service: name, exportedLabels, exportedAnnotations } = object.spec
    const expected = exportedServiceName(namespace, name)
    return [
      ...(object.metadata.name === expected
        ? []
        : [invalidValue('metadata.name', object.metadata.name, `must be ${expected}`)]),
      ...mapErrors('spec.exportedLabels', exportedLabels),
      ...mapErrors('spec.exportedAnnotations', exportedAnnotations),
    ]
  },
})
export type ExportedService = ObjectOf<typeof ExportedServiceKind>

/** The name of the hub objects of one service: namespace and service are DNS labels, so it names no other. */
export function exportedServiceName(namespace: string, service: string): string {
  return `${namespace}.${service}`
}

function mapErrors(field: string, map: Readonly<Record<string, string>> | undefined) {
  const bytes = Object.entries(map ?? {}).reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  return bytes > maxMapBytes ? [tooLong(field, `may not be more than ${maxMapBytes} bytes`)] : []
}
