import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { type Infer, s } from '../schema.ts'

const endpoint = s.object({
  addresses: s.atomicList(s.string({ maxLength: 253 }), { minItems: 1, maxItems: 100 }),
  conditions: s.optional(
    s.object({
      ready: s.optional(s.boolean()),
      serving: s.optional(s.boolean()),
      terminating: s.optional(s.boolean()),
    }),
  ),
  hostname: s.optional(s.string({ maxLength: 63 })),
  zone: s.optional(s.string({ maxLength: 253 })),
})
export type ExportedEndpoint = Infer<typeof endpoint>

const endpointPort = s.object({
  name: s.optional(
    s.string({ maxLength: 63, description: "The name of the Service's port; empty for unnamed." }),
  ),
  protocol: s.optional(s.oneOf(['TCP', 'UDP', 'SCTP'])),
  port: s.optional(s.int({ minimum: 1, maximum: 65535, description: 'Where the pod listens.' })),
  appProtocol: s.optional(s.string({ maxLength: 317 })),
})
export type ExportedEndpointPort = Infer<typeof endpointPort>

/** One EndpointSlice of an exported Service, without what only its own cluster can use. */
export const ExportedEndpointSliceKind = defineKind({
  group: 'hub.isthmus.dev',
  versions: [{ name: 'v1alpha1' }],
  storageVersion: 'v1alpha1',
  kind: 'ExportedEndpointSlice',
  plural: 'exportedendpointslices',
  scope: 'Namespaced',
  description: 'An EndpointSlice of a Service that a member cluster exports, as its agent reports it.',
  servers: ['hub'],
  properties: {
    spec: s.object({
      namespace: s.string({ minLength: 1, maxLength: 63, description: 'Namespace of the Service.' }),
      service: s.string({ minLength: 1, maxLength: 63, description: 'Name of the Service.' }),
      slice: s.string({
        minLength: 1,
        maxLength: 253,
        description: 'Name of the EndpointSlice in the member.',
      }),
      consumers: s.optional(
        s.atomicList(s.string(), {
          maxItems: 1000,
          description: 'Ids of the clusters that may import; absent for all.',
        }),
      ),
      addressType: s.oneOf(['IPv4', 'IPv6']),
      endpoints: s.atomicList(endpoint, { maxItems: 1000 }),
      ports: s.atomicList(endpointPort, { maxItems: 1000 }),
    }),
  },
  columns: [
    {
      name: 'Service',
      type: 'string',
      description: 'Name of the Service.',
      jsonPath: '.spec.service',
      cell: o => o.spec.service,
    },
    {
      name: 'AddressType',
      type: 'string',
      description: 'Family of the addresses.',
      jsonPath: '.spec.addressType',
      cell: o => o.spec.addressType,
    },
    {
      name: 'Endpoints',
      type: 'integer',
      description: 'How many endpoints it holds.',
      cell: o => o.spec.endpoints.length,
    },
    ageColumn,
  ],
})
export type ExportedEndpointSlice = ObjectOf<typeof ExportedEndpointSliceKind>
