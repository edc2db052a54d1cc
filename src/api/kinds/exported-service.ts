import { type FieldError, invalidValue, tooLong } from '../../kernel/field-error.ts'
import { conditionColumn, reasonColumn } from '../condition-column.ts'
import { conditionsSchema } from '../condition-schema.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { dns1123LabelErrors, labelKeyErrors, labelValueErrors } from '../names.ts'
import { type Infer, s } from '../schema.ts'
import { wellKnown } from '../well-known.ts'
import { serviceExportConditions } from './service-export.ts'

export const exportedPort = s.object(
  {
    name: s.optional(
      s.string({ maxLength: 63, description: 'Absent for the one port of a Service that has no name.' }),
    ),
    protocol: s.oneOf(['TCP', 'UDP', 'SCTP'], { description: 'Protocol of the transport.' }),
    appProtocol: s.optional(
      s.string({ maxLength: 317, description: 'Protocol above the transport, as the Service names it.' }),
    ),
    port: s.int({ minimum: 1, maximum: 65535, description: 'Port of the Service.' }),
  },
  { description: 'A port of the Service.' },
)
export type ExportedPort = Infer<typeof exportedPort>

/** A port of a Service or ServiceImport, which may hold any protocol and an empty name. */
export function toExportedPort({
  name,
  protocol,
  appProtocol,
  port,
}: Omit<ExportedPort, 'protocol'> & { readonly protocol?: string }): ExportedPort {
  return {
    ...(name === undefined || name === '' ? {} : { name }),
    protocol: protocol === 'UDP' || protocol === 'SCTP' ? protocol : 'TCP',
    ...(appProtocol === undefined ? {} : { appProtocol }),
    port,
  }
}

const clientIP = s.object(
  { timeoutSeconds: s.optional(s.int({ description: 'Seconds that a client stays with an endpoint.' })) },
  { description: 'Affinity by the address of the client.' },
)

/** What a ServiceImport takes over from the Service as it is. */
export const importedAttributes = {
  ipFamilies: s.atomicList(s.oneOf(['IPv4', 'IPv6']), {
    maxItems: 2,
    description: 'IPv4, IPv6 or both, the preferred one first.',
  }),
  sessionAffinity: s.optional(
    s.string({ maxLength: 63, description: 'ClientIP keeps a client with one endpoint, None does not.' }),
  ),
  sessionAffinityConfig: s.optional(
    s.object({ clientIP: s.optional(clientIP) }, { description: 'Settings of the session affinity.' }),
  ),
  internalTrafficPolicy: s.optional(
    s.string({
      maxLength: 63,
      description: 'Cluster: traffic goes to all endpoints. Local: only to those on the node of the client.',
    }),
  ),
  trafficDistribution: s.optional(
    s.string({ maxLength: 63, description: 'Which endpoints are preferred, as in a Service.' }),
  ),
}

const attributes = {
  type: s.oneOf(['ClusterSetIP', 'Headless'], {
    description: 'What an import of this Service alone would be: Headless when its clusterIP is None.',
  }),
  ...importedAttributes,
}

const service = s.object(
  {
    ...attributes,
    ports: s.atomicList(exportedPort, { maxItems: 1000, description: 'The ports of the Service.' }),
  },
  { description: 'The parts of the Service that merging needs.' },
)
export type ExportedServiceFacts = Infer<typeof service>

/** The same without the ports. */
export const exportedAttributes = s.object(attributes, {
  description: 'What merging needs of the Service, apart from its ports.',
})

/** So many clusters can be named as those that may import. */
export const maxConsumers = 1000
/** Leaves the import room for annotations of its own: an object may have 256 KiB of them. */
const maxMapBytes = 128 * 1024
const reservedPrefixes = [
  'multicluster.kubernetes.io',
  'multicluster.x-k8s.io',
  'kubectl.kubernetes.io',
  'isthmus.dev',
]

const whenUnreachable = s.object(
  {
    action: s.oneOf(['Keep', 'Drain'], {
      description: 'Keep: they stay as they are. Drain: they are imported as not ready.',
    }),
    afterSeconds: s.optional(s.int({ minimum: 0, description: 'Drain: for so long they stay as they are.' })),
  },
  {
    description:
      'What becomes of the endpoints in other clusters when the member has fallen silent; absent, they are imported no more.',
  },
)
export type WhenUnreachable = Infer<typeof whenUnreachable>

/** What the hub says of an export, which the member repeats on its ServiceExport. */
export const exportedServiceConditions = {
  Ready: serviceExportConditions.Ready,
  Conflict: serviceExportConditions.Conflict,
  'isthmus.dev/Imported': serviceExportConditions['isthmus.dev/Imported'],
} as const

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
    spec: s.object(
      {
        namespace: s.string({ minLength: 1, maxLength: 63, description: 'Namespace of the ServiceExport.' }),
        service: s.string({ minLength: 1, maxLength: 63, description: 'Name of the ServiceExport.' }),
        exportedAt: s.time({ description: "The ServiceExport's creationTimestamp, by the member's clock." }),
        exportGeneration: s.int64({ minimum: 0, description: 'Generation of the ServiceExport.' }),
        exportedLabels: s.optional(
          s.map(s.string(), { description: 'Labels that the imports of the service get.' }),
        ),
        exportedAnnotations: s.optional(
          s.map(s.string(), { description: 'Annotations that the imports of the service get.' }),
        ),
        consumers: s.optional(
          s.atomicList(s.string(), {
            maxItems: maxConsumers,
            description: 'Ids of the clusters that may import, besides the one that exports; absent for all.',
          }),
        ),
        addresses: s.optional(
          s.atomicList(s.string({ maxLength: 45 }), {
            maxItems: 2,
            description: 'ClusterSetIPs that the export asks for.',
          }),
        ),
        whenUnreachable: s.optional(whenUnreachable),
        definition: service,
      },
      { description: 'What the member exports. Written by its agent.' },
    ),
    status: s.optional(
      s.object(
        {
          observedGeneration: s.optional(
            s.int64({
              minimum: 0,
              description: 'The generation of this object that the conditions speak of.',
            }),
          ),
          conditions: conditionsSchema(
            'Ready: the ClusterSet has it. Conflict: exports of other clusters disagree, and the oldest wins. isthmus.dev/Imported: the clusters that it is for have imported it.',
          ),
        },
        { description: 'What the hub made of it.' },
      ),
    ),
  },
  status: {},
  conditions: exportedServiceConditions,
  sampleName: 'sample.sample',
  columns: [
    {
      name: 'Type',
      type: 'string',
      description: 'What an import of this Service alone would be.',
      jsonPath: '.spec.definition.type',
      cell: o => o.spec.definition.type,
    },
    conditionColumn('Ready', 'Whether the hub has merged it.'),
    conditionColumn('Conflict', 'Whether it disagrees with exports of other clusters.'),
    reasonColumn('Conflict', 'Conflict Reason'),
    ageColumn,
  ],
  validate: object => {
    const { namespace, service: name, exportedLabels, exportedAnnotations } = object.spec
    const expected = exportedServiceName(namespace, name)
    return [
      ...(object.metadata.name === expected
        ? []
        : [invalidValue('metadata.name', object.metadata.name, `must be ${expected}`)]),
      ...serviceErrors(object.spec),
      ...mapErrors('spec.exportedLabels', exportedLabels, exportedLabelProblem),
      ...mapErrors('spec.exportedAnnotations', exportedAnnotations, exportedAnnotationProblem),
    ]
  },
})
export type ExportedService = ObjectOf<typeof ExportedServiceKind>

/** Whether the hub says that the export counts for nothing, as it is now: then there is no word of conflicts. */
export function isLeftOut({ metadata, status }: ExportedService): boolean {
  const { conditions = [], observedGeneration } = status ?? {}
  const reason: (typeof exportedServiceConditions.Ready.False)[number] = 'Failed'
  const isRefused = conditions.some(({ type, reason: why }) => type === 'Ready' && why === reason)
  const isMerged = conditions.some(({ type }) => type === 'Conflict')
  return observedGeneration === metadata.generation && isRefused && !isMerged
}

/** Both are DNS labels: without dots, so that a name on the hub is that of one service only. */
export function serviceErrors(spec: {
  readonly namespace: string
  readonly service: string
}): readonly FieldError[] {
  return [
    ...dns1123LabelErrors(spec.namespace).map(why => invalidValue('spec.namespace', spec.namespace, why)),
    ...dns1123LabelErrors(spec.service).map(why => invalidValue('spec.service', spec.service, why)),
  ]
}

/** The name of the hub objects of one service: namespace and service are DNS labels, so it names no other. */
export function exportedServiceName(namespace: string, service: string): string {
  return `${namespace}.${service}`
}

/** Why an import cannot carry this label; undefined when it can. */
export function exportedLabelProblem(key: string, value: string): string | undefined {
  return exportedKeyProblem(key) ?? labelValueErrors(value)[0]
}

/** Why an import cannot carry this annotation; undefined when it can. */
export function exportedAnnotationProblem(key: string): string | undefined {
  return exportedKeyProblem(key.toLowerCase())
}

/** Why an import cannot carry all of these labels or annotations together; undefined when it can. */
export function exportedMapProblem(map: Readonly<Record<string, string>>): string | undefined {
  const bytes = Object.entries(map).reduce(
    (sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value),
    0,
  )
  return bytes > maxMapBytes ? `may not be more than ${maxMapBytes} bytes` : undefined
}

/** Keys that mean something to the controllers of the importing cluster are not for other clusters to set. */
function exportedKeyProblem(key: string): string | undefined {
  if (key === wellKnown.exposePerCluster) return undefined
  const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : ''
  if (reservedPrefixes.some(reserved => prefix === reserved || prefix.endsWith(`.${reserved}`))) {
    return `keys under ${prefix}/ cannot be exported`
  }
  return labelKeyErrors(key)[0]
}

function mapErrors(
  field: string,
  map: Readonly<Record<string, string>> | undefined,
  problemOf: (key: string, value: string) => string | undefined,
): readonly FieldError[] {
  const problem = exportedMapProblem(map ?? {})
  if (problem !== undefined) return [tooLong(field, problem)]
  return Object.entries(map ?? {}).flatMap(([key, value]) => {
    const pairProblem = problemOf(key, value)
    return pairProblem === undefined
      ? []
      : [invalidValue(`${field}[${key.slice(0, 100)}]`, value.slice(0, 100), pairProblem)]
  })
}
