/** What kube-apiserver fills into a Service without allocating anything. */
import type { Service, ServicePort, ServiceSpec } from './schema.ts'

/** What clients get when they do not ask for a time. */
const affinitySeconds = 10_800
export const internalPolicies: readonly string[] = ['Cluster', 'Local']

export function defaultService(service: Service): Service {
  const spec = defaultSpec(service.spec ?? {})
  const ingress = service.status?.loadBalancer?.ingress
  if (spec.type !== 'LoadBalancer' || !ingress?.some(i => i.ip !== undefined && i.ipMode === undefined)) {
    return { ...service, spec }
  }
  const withModes = ingress.map(i => (i.ip === undefined ? i : { ipMode: 'VIP', ...i }))
  return { ...service, spec, status: { ...service.status, loadBalancer: { ingress: withModes } } }
}

/** Settings of an affinity that is not asked for are dropped. */
function defaultSpec(sent: ServiceSpec): ServiceSpec {
  const { sessionAffinityConfig: config, ...rest } = sent
  const stays = config !== undefined && sent.sessionAffinity === 'ClientIP'
  const kept: ServiceSpec = stays ? sent : rest
  const spec = { ...kept, sessionAffinity: sent.sessionAffinity || 'None', type: sent.type || 'ClusterIP' }
  return {
    ...(spec.type === 'ExternalName' ? withoutInternalPolicy(spec) : spec),
    ...affinityOf(spec),
    ...(spec.ports === undefined ? {} : { ports: spec.ports.map(defaultPort) }),
    ...policiesOf(spec),
  }
}

/** kube-apiserver takes one that has a meaning, and does not show it. */
function withoutInternalPolicy(spec: ServiceSpec): ServiceSpec {
  const { internalTrafficPolicy: policy, ...rest } = spec
  return policy === undefined || internalPolicies.includes(policy) ? rest : spec
}

function affinityOf(spec: ServiceSpec): Partial<ServiceSpec> {
  if (spec.sessionAffinity !== 'ClientIP') return {}
  const clientIP = spec.sessionAffinityConfig?.clientIP
  if (clientIP?.timeoutSeconds !== undefined) return {}
  return { sessionAffinityConfig: { clientIP: { ...clientIP, timeoutSeconds: affinitySeconds } } }
}

function defaultPort(port: ServicePort): ServicePort {
  const given = port.targetPort !== undefined && port.targetPort !== 0 && port.targetPort !== ''
  return given ? port : { ...port, targetPort: port.port }
}

function policiesOf(spec: ServiceSpec): Partial<ServiceSpec> {
  if (spec.type === 'ExternalName') return {}
  return {
    internalTrafficPolicy: spec.internalTrafficPolicy ?? 'Cluster',
    ...(isReachedFromOutside(spec) ? { externalTrafficPolicy: spec.externalTrafficPolicy || 'Cluster' } : {}),
    ...(spec.type === 'LoadBalancer'
      ? { allocateLoadBalancerNodePorts: spec.allocateLoadBalancerNodePorts ?? true }
      : {}),
  }
}

/** Whether traffic comes to it on nodes' own addresses. */
export function isReachedFromOutside({ type, externalIPs = [] }: ServiceSpec): boolean {
  return type === 'NodePort' || type === 'LoadBalancer' || (type === 'ClusterIP' && externalIPs.length > 0)
}
