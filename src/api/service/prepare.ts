/**
 * What a write of a Service keeps of what is stored: an address, node ports and families that were allocated stay when
 * a client leaves them out, and go when the type no longer has them. The rules are those of kube-apiserver's Service
 * storage, `patchAllocatedValues` and `dropTypeDependentFields`.
 */
import type { Service, ServiceSpec } from './schema.ts'

export function prepareService(service: Service, old?: Service): Service {
  const sent = service.spec ?? {}
  if (old === undefined) {
    return { ...service, spec: withBothAddresses(sent), status: { loadBalancer: {} } }
  }
  const before = old.spec ?? {}
  const kept = dropForeign(keepAllocated(sent, before), before)
  const next = { ...service, spec: withBothAddresses(movedAddresses(kept, before)) }
  return next.spec.type === 'LoadBalancer' ? next : withoutBalancer(next)
}

/** What another type had of a load balancer is gone with it. */
function withoutBalancer(service: Service): Service {
  const { status } = service
  return status?.loadBalancer?.ingress === undefined
    ? service
    : { ...service, status: { ...status, loadBalancer: {} } }
}

/** `clusterIP` and the first of `clusterIPs` say the same. */
function withBothAddresses(spec: ServiceSpec): ServiceSpec {
  const { clusterIP, clusterIPs = [] } = spec
  return clusterIP && clusterIPs.length === 0 ? { ...spec, clusterIPs: [clusterIP] } : spec
}

/** A client that knows only one of the two fields changes the other with it. */
function movedAddresses(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  if (spec.clusterIP === before.clusterIP || !sameTexts(spec.clusterIPs, before.clusterIPs)) return spec
  const { clusterIPs: _both, ...rest } = spec
  return spec.clusterIP ? { ...rest, clusterIPs: [spec.clusterIP] } : rest
}

function keepAllocated(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  let next = spec
  if (hasAddress(spec) && hasAddress(before)) next = { ...next, ...addressesOf(spec, before) }
  if (hasNodePorts(spec) && hasNodePorts(before)) next = { ...next, ...nodePortsOf(spec, before) }
  if (hasHealthPort(spec) && hasHealthPort(before) && !spec.healthCheckNodePort) {
    next = { ...next, ...pick(before, ['healthCheckNodePort']) }
  }
  return next
}

function addressesOf(spec: ServiceSpec, before: ServiceSpec): Partial<ServiceSpec> {
  return {
    ...(spec.clusterIP ? {} : pick(before, ['clusterIP'])),
    ...((spec.clusterIPs ?? []).length > 0 || (spec.clusterIP && spec.clusterIP !== before.clusterIP)
      ? {}
      : pick(before, ['clusterIPs'])),
    ...((spec.ipFamilies ?? []).length > 0 ? {} : pick(before, ['ipFamilies'])),
  }
}

/** A port keeps the node port that the port of its name had, unless another port asks for it. */
function nodePortsOf(spec: ServiceSpec, before: ServiceSpec): Partial<ServiceSpec> {
  if (spec.ports === undefined) return {}
  const taken = new Set(spec.ports.map(p => p.nodePort ?? 0))
  const had = new Map((before.ports ?? []).map(p => [p.name ?? '', p.nodePort ?? 0]))
  return {
    ports: spec.ports.map(port => {
      const nodePort = had.get(port.name ?? '') ?? 0
      return port.nodePort || nodePort === 0 || taken.has(nodePort) ? port : { ...port, nodePort }
    }),
  }
}

const fieldsOfAddresses = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'] as const
const fieldsOfBalancers = ['allocateLoadBalancerNodePorts', 'loadBalancerClass'] as const

/** When the type changes, what only the old type has is dropped unless the client changed it too. */
function dropForeign(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  let next = spec
  if (hasAddress(before) && !hasAddress(spec)) next = dropUnchanged(next, before, fieldsOfAddresses)
  if (hasNodePorts(before) && !hasNodePorts(spec)) next = dropNodePorts(next, before)
  if (hasHealthPort(before) && !hasHealthPort(spec))
    next = dropUnchanged(next, before, ['healthCheckNodePort'])
  if (before.type === 'LoadBalancer' && spec.type !== 'LoadBalancer') {
    next = dropUnchanged(next, before, fieldsOfBalancers)
  }
  if (isOutside(before) && !isOutside(spec)) next = dropUnchanged(next, before, ['externalTrafficPolicy'])
  return next
}

function dropNodePorts(spec: ServiceSpec, before: ServiceSpec): ServiceSpec {
  const had = new Set((before.ports ?? []).map(p => p.nodePort ?? 0))
  const ports = (spec.ports ?? []).map(port => {
    const { nodePort, ...rest } = port
    return nodePort !== undefined && had.has(nodePort) ? rest : port
  })
  return spec.ports === undefined ? spec : { ...spec, ports }
}

function dropUnchanged(
  spec: ServiceSpec,
  before: ServiceSpec,
  fields: readonly (keyof ServiceSpec)[],
): ServiceSpec {
  const unchanged = new Set<string>(fields.filter(f => JSON.stringify(spec[f]) === JSON.stringify(before[f])))
  // Fields of the spec that stay keep their types.
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !unchanged.has(name))) as ServiceSpec
}

function pick<K extends keyof ServiceSpec>(from: ServiceSpec, fields: readonly K[]): Partial<ServiceSpec> {
  // A part of an object of the same type.
  return Object.fromEntries(
    fields.filter(f => from[f] !== undefined).map(f => [f, from[f]]),
  ) as Partial<ServiceSpec>
}

function hasAddress({ type }: ServiceSpec): boolean {
  return type !== 'ExternalName'
}

function hasNodePorts({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean {
  return type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)
}

function hasHealthPort({ type, externalTrafficPolicy }: ServiceSpec): boolean {
  return type === 'LoadBalancer' && externalTrafficPolicy === 'Local'
}

function isOutside({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer' || externalIPs.length > 0
}

function sameTexts(a: readonly string[] = [], b: readonly string[] = []): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i])
}
