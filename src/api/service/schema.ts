/** The schema of a Service. */
import type { ObjectOfProperties } from '../kind.ts'
import { conditionFields, message, type ProtobufFields, pointer } from '../protobuf-fields.ts'
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
      s.string({ description: 'A DNS label, unique in the Service. Needed when there are several ports.' }),
    ),
    nodePort: s.optional(
      s.int({
        description:
          'Port on every node, for the types NodePort and LoadBalancer. Usually chosen by the system.',
      }),
    ),
    port: s.int({ description: 'Port of the Service.' }),
    protocol: s.optional(s.string({ default: 'TCP', description: 'TCP, UDP or SCTP; TCP when not given.' })),
    targetPort: s.optional(
      s.intOrString({
        description: 'Number or name of the port of the endpoints; the same as port when not given.',
      }),
    ),
  },
  { description: 'A port of a Service.' },
)

const affinityConfig = s.object(
  {
    clientIP: s.optional(
      s.object(
        {
          timeoutSeconds: s.optional(
            s.int({
              description:
                'Seconds that a client stays with an endpoint: above 0, at most 86400; 10800 when not given.',
            }),
          ),
        },
        { description: 'Affinity by the address of the client.' },
      ),
    ),
  },
  { description: 'Settings of the session affinity.' },
)

const spec = s.object(
  {
    allocateLoadBalancerNodePorts: s.optional(
      s.boolean({ description: 'Whether a LoadBalancer gets node ports; it does when not given.' }),
    ),
    clusterIP: s.optional(
      s.string({
        description:
          'The address of the Service. Chosen by the system when not given; None for a headless Service. Cannot be changed while the type needs it.',
      }),
    ),
    clusterIPs: s.optional(
      s.atomicList(s.string(), {
        description: 'The addresses of the Service, at most one of each family; the first is clusterIP.',
      }),
    ),
    externalIPs: s.optional(
      s.atomicList(s.string(), {
        description: 'Further addresses at which nodes take traffic for the Service.',
      }),
    ),
    externalName: s.optional(
      s.string({ description: 'DNS name that the Service stands for, when the type is ExternalName.' }),
    ),
    externalTrafficPolicy: s.optional(
      s.string({
        description:
          'Cluster: traffic from outside goes to all endpoints. Local: only to those on the node it came to.',
      }),
    ),
    healthCheckNodePort: s.optional(
      s.int({ description: 'Node port that tells load balancers whether the node has endpoints.' }),
    ),
    internalTrafficPolicy: s.optional(
      s.string({
        description:
          'Cluster: traffic from inside goes to all endpoints. Local: only to those on the node of the client.',
      }),
    ),
    ipFamilies: s.optional(
      s.atomicList(s.string(), { description: 'IPv4, IPv6 or both, in the order of clusterIPs.' }),
    ),
    ipFamilyPolicy: s.optional(
      s.string({ description: 'SingleStack, PreferDualStack or RequireDualStack.' }),
    ),
    loadBalancerClass: s.optional(
      s.string({
        description:
          'Which load balancer is to serve it, as example.com/internal. Cannot be changed while the type is LoadBalancer.',
      }),
    ),
    loadBalancerIP: s.optional(s.string({ description: 'The address that the load balancer should have.' })),
    loadBalancerSourceRanges: s.optional(
      s.atomicList(s.string(), { description: 'CIDRs of clients that the load balancer lets in.' }),
    ),
    ports: s.optional(
      s.patchList(
        s.mapList(port, ['port', 'protocol'], { description: 'The ports of the Service.' }),
        'port',
      ),
    ),
    publishNotReadyAddresses: s.optional(
      s.boolean({ description: 'Whether DNS also answers with endpoints that are not ready.' }),
    ),
    selector: s.optional(
      s.atomic(
        s.map(s.string(), {
          description:
            'Labels of the pods that traffic goes to. Without it someone else keeps the endpoints.',
        }),
      ),
    ),
    sessionAffinity: s.optional(
      s.string({ description: 'ClientIP keeps a client with one endpoint, None does not.' }),
    ),
    sessionAffinityConfig: s.optional(affinityConfig),
    trafficDistribution: s.optional(
      s.string({
        description: 'Which endpoints are preferred: PreferClose, PreferSameZone or PreferSameNode.',
      }),
    ),
    type: s.optional(s.string({ description: 'ClusterIP, NodePort, LoadBalancer or ExternalName.' })),
  },
  { description: 'What the Service offers.' },
)

const condition = s.object(
  {
    lastTransitionTime: s.time({ description: 'When the status of the condition last changed.' }),
    message: s.string({ description: 'What happened, for people.' }),
    observedGeneration: s.optional(s.int64({ description: 'The generation that it was computed from.' })),
    reason: s.string({ description: 'Why the condition last changed, for programs.' }),
    status: s.string({ description: 'True, False or Unknown.' }),
    type: s.string({ description: 'Name of the condition.' }),
  },
  { description: 'One aspect of the present state.' },
)

const ingressPort = s.object(
  {
    error: s.optional(s.string({ description: 'Why the port does not work.' })),
    port: s.int({ description: 'Port number.' }),
    protocol: s.string({ description: 'TCP, UDP or SCTP.' }),
  },
  { description: 'A port of a load balancer.' },
)

const ingress = s.object(
  {
    hostname: s.optional(s.string({ description: 'Name of the load balancer.' })),
    ip: s.optional(s.string({ description: 'Address of the load balancer.' })),
    ipMode: s.optional(
      s.string({
        description:
          'VIP: nodes take the address for themselves. Proxy: traffic goes through the load balancer.',
      }),
    ),
    ports: s.optional(s.atomicList(ingressPort, { description: 'How the ports are doing.' })),
  },
  { description: 'A point where traffic comes in.' },
)

const status = s.object(
  {
    conditions: s.optional(
      s.patchList(s.mapList(condition, ['type'], { description: 'How the Service is doing.' }), 'type'),
    ),
    loadBalancer: s.optional(
      s.object(
        { ingress: s.optional(s.atomicList(ingress, { description: 'Points where traffic comes in.' })) },
        { description: 'How the load balancer is doing.' },
      ),
    ),
  },
  { description: 'How the Service is doing.' },
)

export const serviceProperties = { spec: s.optional(spec), status: s.optional(status) }

export const serviceFields: ProtobufFields = {
  spec: message(2, {
    ports: message(1, { name: 1, protocol: 2, port: 3, targetPort: 4, nodePort: 5, appProtocol: pointer(6) }),
    selector: 2,
    clusterIP: 3,
    type: 4,
    externalIPs: 5,
    sessionAffinity: 7,
    loadBalancerIP: 8,
    loadBalancerSourceRanges: 9,
    externalName: 10,
    externalTrafficPolicy: 11,
    healthCheckNodePort: 12,
    publishNotReadyAddresses: 13,
    sessionAffinityConfig: pointer(14, { clientIP: pointer(1, { timeoutSeconds: pointer(1) }) }),
    ipFamilyPolicy: pointer(17),
    clusterIPs: 18,
    ipFamilies: 19,
    allocateLoadBalancerNodePorts: pointer(20),
    loadBalancerClass: pointer(21),
    internalTrafficPolicy: pointer(22),
    trafficDistribution: pointer(23),
  }),
  status: message(3, {
    loadBalancer: message(1, {
      ingress: message(1, {
        ip: 1,
        hostname: 2,
        ipMode: pointer(3),
        ports: message(4, { port: 1, protocol: 2, error: pointer(3) }),
      }),
    }),
    conditions: message(2, conditionFields),
  }),
}

export type Service = ObjectOfProperties<typeof serviceProperties>
export type ServiceSpec = NonNullable<Service['spec']>
export type Ingress = NonNullable<
  NonNullable<NonNullable<Service['status']>['loadBalancer']>['ingress']
>[number]
export type ServicePort = NonNullable<ServiceSpec['ports']>[number]
