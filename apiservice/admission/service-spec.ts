import type { KubeObject } from '../../src/api/meta.ts'
import type { Service, ServiceSpec } from '../../src/api/service/schema.ts'
import type { Family } from '../../src/ip/address.ts'
import type { AdmissionAttributes } from '../contract.ts'

/** For objects that the schema of Service has accepted. */
export function specOf(object: KubeObject): ServiceSpec {
  // The schema is where the type comes from.
  return (object as Service).spec ?? {}
}

/** Validation allows no other families. */
export function familiesOf(spec: ServiceSpec): readonly Family[] {
  return (spec.ipFamilies ?? []).map(family => (family === 'IPv6' ? 'IPv6' : 'IPv4'))
}

export function hasClusterIp(spec: ServiceSpec): boolean {
  return spec.type !== 'ExternalName'
}

export function isHeadless(spec: ServiceSpec): boolean {
  return spec.clusterIPs?.[0] === 'None'
}

export function hasNodePorts(spec: ServiceSpec): boolean {
  return spec.type === 'NodePort' || spec.type === 'LoadBalancer'
}

/** The node port on which load balancers ask whether a node has endpoints of the Service. */
export function hasHealthPort(spec: ServiceSpec): boolean {
  return spec.type === 'LoadBalancer' && spec.externalTrafficPolicy === 'Local'
}

/** Of writes, those of a Service itself. */
export function writesService({ operation, served, subresource }: AdmissionAttributes): boolean {
  const { group, plural } = served.kind
  return operation !== 'DELETE' && subresource === '' && group === '' && plural === 'services'
}
