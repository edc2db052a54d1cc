import { duplicateValue, type FieldError, invalidValue } from '../../kernel/field-error.ts'
import { shortHash } from '../../kernel/short-hash.ts'
import { ageColumn, defineKind, type ObjectOf } from '../kind.ts'
import { dns1123LabelErrors } from '../names.ts'
import { type Infer, s } from '../schema.ts'
import { addressErrors } from './endpoint-slice.ts'
import { maxConsumers, serviceErrors } from './exported-service.ts'

const conditions = s.object(
  {
    ready: s.optional(s.boolean({ description: 'Whether it takes new connections.' })),
    serving: s.optional(s.boolean({ description: 'Whether it answers, also while it terminates.' })),
    terminating: s.optional(s.boolean({ description: 'Whether it is about to go away.' })),
  },
  { description: 'The state of the endpoint, as in its EndpointSlice.' },
)

const endpoint = s.object(
  {
    addresses: s.atomicList(s.string({ maxLength: 253 }), {
      minItems: 1,
      maxItems: 100,
      description: 'Addresses of the endpoint, of the family of the slice.',
    }),
    conditions: s.optional(conditions),
    hostname: s.optional(
      s.string({ maxLength: 63, description: 'The name of its own that the endpoint has in DNS.' }),
    ),
    zone: s.optional(s.string({ maxLength: 253, description: 'The zone that the endpoint is in.' })),
  },
  { description: 'An endpoint of the Service.' },
)
export type ExportedEndpoint = Infer<typeof endpoint>

const endpointPort = s.object(
  {
    name: s.optional(
      s.string({ maxLength: 63, description: "The name of the Service's port; empty for unnamed." }),
    ),
    protocol: s.optional(s.oneOf(['TCP', 'UDP', 'SCTP'], { description: 'Protocol of the transport.' })),
    port: s.optional(s.int({ minimum: 1, maximum: 65535, description: 'Where the pod listens.' })),
    appProtocol: s.optional(s.string({ maxLength: 317, description: 'Protocol above the transport.' })),
  },
  { description: 'A port of the endpoints.' },
)
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
    spec: s.object(
      {
        namespace: s.string({ minLength: 1, maxLength: 63, description: 'Namespace of the Service.' }),
        service: s.string({ minLength: 1, maxLength: 63, description: 'Name of the Service.' }),
        slice: s.string({
          minLength: 1,
          maxLength: 253,
          description: 'Name of the EndpointSlice in the member.',
        }),
        consumers: s.optional(
          s.atomicList(s.string(), {
            maxItems: maxConsumers,
            description: 'Ids of the clusters that may import; absent for all.',
          }),
        ),
        addressType: s.oneOf(['IPv4', 'IPv6'], { description: 'Family of the addresses.' }),
        endpoints: s.atomicList(endpoint, { maxItems: 1000, description: 'The endpoints of the slice.' }),
        ports: s.atomicList(endpointPort, { maxItems: 1000, description: 'The ports of every endpoint.' }),
      },
      { description: 'The slice, without what only its own cluster can use. Written by the agent.' },
    ),
  },
  sample: {
    spec: {
      namespace: 'shop',
      service: 'web',
      slice: 'web-1',
      addressType: 'IPv4',
      endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true }, hostname: 'web-0' }],
      ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    },
  },
  sampleName: exportedSliceName('shop', 'web-1'),
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
  validate: ({ metadata, spec }) => [
    ...nameErrors(metadata.name, spec.namespace, spec.slice),
    ...serviceErrors(spec),
    ...spec.endpoints.flatMap((endpoint, i) =>
      endpointErrors(endpoint, spec.addressType, `spec.endpoints[${i}]`),
    ),
    ...portErrors(spec.ports),
  ],
})
export type ExportedEndpointSlice = ObjectOf<typeof ExportedEndpointSliceKind>

/** The hub object of a slice, from its namespace and name alone: also when the slice is gone. */
export function exportedSliceName(namespace: string, slice: string): string {
  const readable = slice.slice(0, 150).replace(/(?<![^a-z0-9])[^a-z0-9]+$/, '')
  return `${namespace}.${readable}.${shortHash(namespace, slice)}`
}

/** One slice has one name, so that none can stand for another one, or for something else, in what members are shown. */
function nameErrors(name: string, namespace: string, slice: string): readonly FieldError[] {
  const expected = exportedSliceName(namespace, slice)
  return name === expected ? [] : [invalidValue('metadata.name', name, `must be ${expected}`)]
}

/** What importing clusters would refuse is refused here: one bad slice must not be retried in all of them. */
function endpointErrors(
  { addresses, hostname }: ExportedEndpoint,
  type: 'IPv4' | 'IPv6',
  at: string,
): readonly FieldError[] {
  const hostnameProblems = hostname === undefined ? [] : dns1123LabelErrors(hostname)
  return [
    ...addresses.flatMap((address, i) =>
      addressErrors(address, type).map(why => invalidValue(`${at}.addresses[${i}]`, address, why)),
    ),
    ...hostnameProblems.map(why => invalidValue(`${at}.hostname`, hostname, why)),
  ]
}

function portErrors(ports: readonly ExportedEndpointPort[]): readonly FieldError[] {
  const names = new Set<string>()
  return ports.flatMap(({ name = '' }, i) => {
    const again = names.has(name)
    names.add(name)
    const problems = name === '' ? [] : dns1123LabelErrors(name)
    return [
      ...(again ? [duplicateValue(`spec.ports[${i}].name`, name)] : []),
      ...problems.map(why => invalidValue(`spec.ports[${i}].name`, name, why)),
    ]
  })
}
