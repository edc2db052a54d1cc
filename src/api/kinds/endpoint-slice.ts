import { isIP } from 'node:net'
import {
  duplicateValue,
  type FieldError,
  forbiddenField,
  immutable,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from '../../kernel/field-error.ts'
import { ageColumn, defineKind, type ObjectOfProperties } from '../kind.ts'
import { dns1123LabelErrors, dns1123SubdomainErrors, labelKeyErrors } from '../names.ts'
import { objectReferenceSchema } from '../object-reference-schema.ts'
import { message, objectReferenceFields, pointer } from '../protobuf-fields.ts'
import { s } from '../schema.ts'

const maxEndpoints = 1000
const maxAddresses = 100
const maxPorts = 20_000

const conditions = s.object(
  {
    ready: s.optional(
      s.boolean({ description: 'Whether it takes new connections. Not given means it does.' }),
    ),
    serving: s.optional(
      s.boolean({ description: 'Whether it answers, also while it terminates. Not given means it does.' }),
    ),
    terminating: s.optional(
      s.boolean({ description: 'Whether it is about to go away. Not given means it is not.' }),
    ),
  },
  { description: 'The state of an endpoint.' },
)

const hint = s.object(
  { name: s.string({ description: 'Name of a zone or node.' }) },
  { description: 'A place.' },
)

const endpoint = s.object(
  {
    addresses: s.setList(s.string(), {
      description:
        'Addresses of the endpoint, all of the type of the slice, at most 100. Consumers use the first.',
    }),
    conditions: s.optional(conditions),
    deprecatedTopology: s.optional(
      s.map(s.string(), { description: 'Left over from v1beta1; cannot be set.' }),
    ),
    hints: s.optional(
      s.object(
        {
          forNodes: s.optional(s.atomicList(hint, { description: 'Nodes whose clients should use it.' })),
          forZones: s.optional(s.atomicList(hint, { description: 'Zones whose clients should use it.' })),
        },
        { description: 'Who should use the endpoint.' },
      ),
    ),
    hostname: s.optional(
      s.string({
        description: 'A DNS label. Endpoints that share one answer to the same name.',
      }),
    ),
    nodeName: s.optional(s.string({ description: 'The node that the endpoint is on.' })),
    targetRef: s.optional(objectReferenceSchema('The object that stands behind the endpoint.')),
    zone: s.optional(s.string({ description: 'The zone that the endpoint is in.' })),
  },
  { description: 'One backend of a Service.' },
)

const port = s.atomic(
  s.object(
    {
      appProtocol: s.optional(s.string({ description: 'Protocol above the transport, as in the Service.' })),
      name: s.optional(
        s.string({
          description: 'Name of the port in the Service; empty or a DNS label. Unique in the slice.',
        }),
      ),
      port: s.optional(s.int({ description: 'Port number. Not given means all ports.' })),
      protocol: s.optional(
        s.string({ default: 'TCP', description: 'TCP, UDP or SCTP; TCP when not given.' }),
      ),
    },
    { description: 'A port of the endpoints.' },
  ),
)

const properties = {
  addressType: s.oneOf(['FQDN', 'IPv4', 'IPv6'], {
    description: 'The type of all addresses in the slice. Cannot be changed.',
  }),
  endpoints: s.atomicList(endpoint, { default: [], description: 'The endpoints, at most 1000.' }),
  ports: s.optional(
    s.atomicList(port, {
      description: 'The ports that every endpoint of the slice has. Empty means none.',
    }),
  ),
}

export type EndpointSlice = ObjectOfProperties<typeof properties>

export const EndpointSliceKind = defineKind({
  group: 'discovery.k8s.io',
  versions: [{ name: 'v1' }],
  storageVersion: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
  description:
    'Some of the endpoints of a Service. The label kubernetes.io/service-name says of which; a Service may have many slices.',
  servers: ['standalone'],
  strategicMergePatch: true,
  protobuf: {
    endpoints: message(2, {
      addresses: 1,
      conditions: message(2, { ready: pointer(1), serving: pointer(2), terminating: pointer(3) }),
      hostname: pointer(3),
      targetRef: pointer(4, objectReferenceFields),
      deprecatedTopology: 5,
      nodeName: pointer(6),
      zone: pointer(7),
      hints: pointer(8, { forZones: message(1, { name: 1 }), forNodes: message(2, { name: 1 }) }),
    }),
    ports: message(3, { name: pointer(1), protocol: pointer(2), port: pointer(3), appProtocol: pointer(4) }),
    addressType: 4,
  },
  plainFinalizers: 'refused',
  unconditionalUpdate: true,
  properties,
  sample: {
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true }, hostname: 'web-0' }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  },
  columns: [
    {
      name: 'AddressType',
      type: 'string',
      description: 'The type of the addresses.',
      cell: o => o.addressType,
    },
    {
      name: 'Ports',
      type: 'string',
      description: 'The ports.',
      cell: o => firstThree((o.ports ?? []).map(p => String(p.port ?? p.name ?? '*'))),
    },
    {
      name: 'Endpoints',
      type: 'string',
      description: 'The addresses.',
      cell: o => firstThree(o.endpoints.flatMap(e => e.addresses)),
    },
    ageColumn,
  ],
  validate: (slice, old) => [
    ...(old === undefined || old.addressType === slice.addressType
      ? []
      : [immutable('addressType', slice.addressType)]),
    ...endpointsErrors(slice),
    ...portsErrors(slice.ports ?? []),
  ],
})

type Endpoint = EndpointSlice['endpoints'][number]
type Port = NonNullable<EndpointSlice['ports']>[number]

function firstThree(texts: readonly string[]): string {
  if (texts.length === 0) return '<unset>'
  const shown = texts.slice(0, 3).join(',')
  return texts.length > 3 ? `${shown} + ${texts.length - 3} more...` : shown
}

function endpointsErrors(slice: EndpointSlice): readonly FieldError[] {
  if (slice.endpoints.length > maxEndpoints) {
    return [tooMany('endpoints', slice.endpoints.length, maxEndpoints)]
  }
  return slice.endpoints.flatMap((e, i) => endpointErrors(e, slice.addressType, `endpoints[${i}]`))
}

function endpointErrors(
  endpoint: Endpoint,
  type: EndpointSlice['addressType'],
  at: string,
): readonly FieldError[] {
  const { addresses, hostname, nodeName, deprecatedTopology } = endpoint
  return [
    ...countErrors(addresses, at),
    ...addresses.flatMap((address, i) =>
      addressErrors(address, type).map(e => invalidValue(`${at}.addresses[${i}]`, address, e)),
    ),
    ...(deprecatedTopology === undefined
      ? []
      : [forbiddenField(`${at}.deprecatedTopology`, 'may not be set, use zone and nodeName')]),
    ...textErrors(`${at}.nodeName`, nodeName, dns1123SubdomainErrors),
    ...textErrors(`${at}.hostname`, hostname, dns1123LabelErrors),
  ]
}

function countErrors(addresses: readonly string[], at: string): readonly FieldError[] {
  if (addresses.length === 0) return [required(`${at}.addresses`, 'must contain at least 1 address')]
  return addresses.length > maxAddresses ? [tooMany(`${at}.addresses`, addresses.length, maxAddresses)] : []
}

/** What is wrong with an address in a slice of this type. */
export function addressErrors(address: string, type: EndpointSlice['addressType']): readonly string[] {
  if (type === 'FQDN') return dns1123SubdomainErrors(address)
  if (!isOfFamily(address, type)) return [`must be a valid ${type} address`]
  const why = unusable(address)
  return why === undefined ? [] : [why]
}

/** Node's own check, for there may be a thousand of them; it takes zones, which Kubernetes does not. */
function isOfFamily(address: string, family: 'IPv4' | 'IPv6'): boolean {
  return isIP(address) === (family === 'IPv4' ? 4 : 6) && !address.includes('%')
}

/** Addresses that no endpoint can have, since a node would send their traffic to itself. */
function unusable(address: string): string | undefined {
  if (/^(0\.0\.0\.0|::)$/.test(address)) return `may not be unspecified (${address})`
  if (/^(127\.|::1$)/.test(address)) return 'may not be in the loopback range (127.0.0.0/8, ::1/128)'
  if (/^(169\.254\.|fe[89ab][0-9a-f]:)/i.test(address)) {
    return 'may not be in the link-local range (169.254.0.0/16, fe80::/10)'
  }
  return /^(224\.0\.0\.|ff02:)/i.test(address)
    ? 'may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'
    : undefined
}

function textErrors(
  field: string,
  value: string | undefined,
  check: (value: string) => readonly string[],
): readonly FieldError[] {
  return value === undefined ? [] : check(value).map(e => invalidValue(field, value, e))
}

function portsErrors(ports: readonly Port[]): readonly FieldError[] {
  if (ports.length > maxPorts) return [tooMany('ports', ports.length, maxPorts)]
  const seen = new Set<string>()
  return ports.flatMap((p, i) => {
    const name = p.name ?? ''
    const again = seen.has(name)
    seen.add(name)
    return [...(again ? [duplicateValue(`ports[${i}].name`, name)] : []), ...portErrors(p, `ports[${i}]`)]
  })
}

const protocols = ['SCTP', 'TCP', 'UDP']

function portErrors({ name = '', protocol = '', port: number, appProtocol }: Port, at: string) {
  return [
    ...(name === '' ? [] : textErrors(`${at}.name`, name, dns1123LabelErrors)),
    ...(protocols.includes(protocol) ? [] : [notSupported(`${at}.protocol`, protocol, protocols)]),
    ...(number === undefined || (number >= 1 && number <= 65535)
      ? []
      : [invalidValue(`${at}.port`, number, 'must be between 1 and 65535, inclusive')]),
    ...textErrors(`${at}.appProtocol`, appProtocol, labelKeyErrors),
  ]
}
