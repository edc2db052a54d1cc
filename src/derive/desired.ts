import { derivedServiceName } from '../api/derived-service.ts'
import type { Service } from '../api/kinds/service.ts'
import { ServiceKind } from '../api/kinds/service.ts'
import { type ServiceImport, ServiceImportKind } from '../api/kinds/service-import.ts'
import { serviceManager, wellKnown } from '../api/well-known.ts'
import { type Ref, resource } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'

export type ServiceSpec = NonNullable<Service['spec']>
type Port = NonNullable<ServiceSpec['ports']>[number]

/**
 * How packets to the address of an import find their way.
 * - shared: to the ClusterSetIP, the same in every cluster, which the Service has as the address of a load balancer.
 * - shared-keep-source: so too, and they keep their source address. For kube-proxy this is `externalTrafficPolicy: Local`,
 *   which costs a node port for health checks: of pods it takes the packets to all endpoints, as any policy does, but
 *   does not masquerade them.
 * - local: to an address of this cluster, which the Service is given as any other.
 */
export type Routing = 'shared' | 'shared-keep-source' | 'local'

/** Nobody else takes care of load balancers of this class. */
const loadBalancerClass = 'isthmus.dev/clusterset'

const { apiVersion, kind } = resource(ServiceKind)
const owner = resource(ServiceImportKind)

/**
 * The Service that routes an import, on top of what is there; without a status. Undefined when the import needs none: it
 * is headless, has no address to route, is going away, or is none of ours. Of others, any address could be routed
 * anywhere by whoever may write an import.
 */
export function desiredService(
  imported: ServiceImport,
  routing: Routing,
  current: Service | undefined,
): Service | undefined {
  const { metadata, spec } = imported
  if (spec?.type !== 'ClusterSetIP' || metadata.deletionTimestamp !== undefined) return undefined
  if (metadata.annotations?.[wellKnown.exportedKeys] === undefined) return undefined
  if (spec.ports.length === 0 || (spec.ipFamilies ?? []).length === 0) return undefined
  if (routing !== 'local' && (spec.ips ?? []).length === 0) return undefined
  const { namespace = '', name, uid = '' } = metadata
  const own = current?.metadata ?? { namespace, name: derivedServiceName(metadata) }
  const { status: _status, ...there } = current ?? { apiVersion, kind }
  return {
    ...there,
    metadata: {
      ...own,
      labels: { ...own.labels, [wellKnown.serviceName]: name, [wellKnown.serviceManagedBy]: serviceManager },
      ownerReferences: [{ apiVersion: owner.apiVersion, kind: owner.kind, name, uid }],
    },
    spec: { ...givenTo(current?.spec ?? {}, routing), ...specOf(spec, routing) },
  }
}

/** Whether the Service of an import is the same with both. */
export function sameForRouting(a: ServiceImport | undefined, b: ServiceImport | undefined): boolean {
  return equalJson(a && relevant(a), b && relevant(b))
}

function relevant({ metadata, spec }: ServiceImport): unknown {
  const { annotations, deletionTimestamp, uid } = metadata
  return { spec, deletionTimestamp, uid, isOurs: annotations?.[wellKnown.exportedKeys] !== undefined }
}

function specOf(spec: NonNullable<ServiceImport['spec']>, routing: Routing): ServiceSpec {
  const { ipFamilies = [], ports } = spec
  const affinity = spec.sessionAffinity ?? 'None'
  return {
    ...(routing === 'local' ? { type: 'ClusterIP' } : balanced(routing)),
    ipFamilies,
    ipFamilyPolicy: ipFamilies.length > 1 ? 'RequireDualStack' : 'SingleStack',
    ports: ports.map(portOf),
    sessionAffinity: affinity,
    ...(affinity === 'ClientIP' && spec.sessionAffinityConfig !== undefined
      ? { sessionAffinityConfig: spec.sessionAffinityConfig }
      : {}),
    internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
    ...(spec.trafficDistribution === undefined ? {} : { trafficDistribution: spec.trafficDistribution }),
  }
}

function balanced(routing: Exclude<Routing, 'local'>): ServiceSpec {
  return {
    type: 'LoadBalancer',
    loadBalancerClass,
    allocateLoadBalancerNodePorts: false,
    externalTrafficPolicy: routing === 'shared-keep-source' ? 'Local' : 'Cluster',
  }
}

/** What the API server has added; all else is ours to say. */
function givenTo(spec: ServiceSpec, routing: Routing): ServiceSpec {
  const { clusterIP, clusterIPs, healthCheckNodePort } = spec
  const hasHealthPort = routing === 'shared-keep-source' && healthCheckNodePort !== undefined
  return {
    ...(clusterIP === undefined ? {} : { clusterIP }),
    ...(clusterIPs === undefined ? {} : { clusterIPs }),
    ...(hasHealthPort ? { healthCheckNodePort } : {}),
  }
}

function portOf({ name, protocol, port, appProtocol }: Port): Port {
  return {
    ...(name === undefined ? {} : { name }),
    protocol: protocol ?? 'TCP',
    port,
    ...(appProtocol === undefined ? {} : { appProtocol }),
  }
}

/** What the Service says about its load balancer: the addresses of the import. */
export function desiredStatus(imported: ServiceImport, current: Service): NonNullable<Service['status']> {
  const ingress = (imported.spec?.ips ?? []).map(ip => ({ ip, ipMode: 'VIP' }))
  return { ...current.status, loadBalancer: { ...current.status?.loadBalancer, ingress } }
}

/** Whether the object is what is wanted, whatever the API server has defaulted or given to it. */
export function sameService(current: Service, desired: Service): boolean {
  return (
    equalJson(current.metadata, desired.metadata) &&
    equalJson(plainSpec(current.spec ?? {}), plainSpec(desired.spec ?? {}))
  )
}

function plainSpec(spec: ServiceSpec): unknown {
  const { sessionAffinityConfig = { clientIP: { timeoutSeconds: 10_800 } }, ...rest } = spec
  const plain = { ...rest, ports: (spec.ports ?? []).map(portOf) }
  return spec.sessionAffinity === 'ClientIP' ? { ...plain, sessionAffinityConfig } : plain
}

/** A Service keeps its first family for life: another one needs another Service. */
export function needsAnother(current: Service | undefined, desired: Service): boolean {
  return current !== undefined && current.spec?.ipFamilies?.[0] !== desired.spec?.ipFamilies?.[0]
}

/** Whether an agent made this Service. */
export function isOurs({ metadata }: Service): boolean {
  return metadata.labels?.[wellKnown.serviceManagedBy] === serviceManager
}

/** The import that a Service of ours routes; undefined for all others. */
export function importOf(service: Service): Ref | undefined {
  const name = service.metadata.labels?.[wellKnown.serviceName]
  if (!isOurs(service) || name === undefined) return undefined
  return { namespace: service.metadata.namespace ?? '', name }
}
