/** The rules of a Service that its schema cannot say, as k8s.io/kubernetes `ValidateService` has them. */

import { familyOf } from '../../ip/address.ts'
import { parseCidr } from '../../ip/cidr.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../kernel/field-error.ts'
import { labelErrors } from '../derive/metadata.ts'
import { dns1123SubdomainErrors, labelKeyErrors } from '../names.ts'
import { addressErrors, changedAddressErrors, notAnAddress } from './addresses.ts'
import { internalPolicies, isReachedFromOutside } from './defaults.ts'
import { ingressErrors } from './ingress.ts'
import { isPort, portsErrors } from './ports.ts'
import type { Service, ServiceSpec } from './schema.ts'

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort']
const affinities = ['ClientIP', 'None']
const policies = ['Cluster', 'Local']
const distributions = ['PreferClose', 'PreferSameNode', 'PreferSameZone']

export function validateService(service: Service, old?: Service): readonly FieldError[] {
  const spec = service.spec ?? {}
  return [
    ...choiceErrors(spec),
    ...portsErrors(spec),
    ...labelErrors(spec.selector, 'spec.selector'),
    ...affinityErrors(spec),
    ...addressErrors(spec),
    ...externalErrors(spec),
    ...balancerErrors(spec),
    ...ingressErrors(spec, service.status?.loadBalancer?.ingress ?? []),
    ...(old === undefined ? [] : changeErrors(spec, old.spec ?? {})),
  ]
}

function choiceErrors(spec: ServiceSpec): readonly FieldError[] {
  return [
    ...choice('spec.type', spec.type ?? '', types),
    ...choice('spec.sessionAffinity', spec.sessionAffinity ?? '', affinities),
    ...optionalChoice('spec.internalTrafficPolicy', spec.internalTrafficPolicy, internalPolicies),
    ...optionalChoice('spec.trafficDistribution', spec.trafficDistribution, distributions),
  ]
}

function choice(field: string, value: string, allowed: readonly string[]): readonly FieldError[] {
  if (value === '') return [required(field, '')]
  return allowed.includes(value) ? [] : [notSupported(field, value, allowed)]
}

function optionalChoice(
  field: string,
  value: string | undefined,
  allowed: readonly string[],
): readonly FieldError[] {
  return value === undefined || allowed.includes(value) ? [] : [notSupported(field, value, allowed)]
}

const maxAffinitySeconds = 86_400

function affinityErrors({ sessionAffinity, sessionAffinityConfig }: ServiceSpec): readonly FieldError[] {
  const field = 'spec.sessionAffinityConfig'
  if (sessionAffinity === 'None') {
    return sessionAffinityConfig === undefined
      ? []
      : [forbiddenField(field, 'must not be set when session affinity is None')]
  }
  const seconds = sessionAffinityConfig?.clientIP?.timeoutSeconds
  if (seconds === undefined || (seconds > 0 && seconds <= maxAffinitySeconds)) return []
  return [
    invalidValue(
      `${field}.clientIP.timeoutSeconds`,
      seconds,
      `must be greater than 0 and less than ${maxAffinitySeconds}`,
    ),
  ]
}

function externalErrors(spec: ServiceSpec): readonly FieldError[] {
  return [
    ...(spec.type === 'ExternalName' ? externalNameErrors(spec.externalName ?? '') : []),
    ...(spec.externalIPs ?? []).flatMap((ip, i) =>
      familyOf(ip) === undefined ? [invalidValue(`spec.externalIPs[${i}]`, ip, notAnAddress)] : [],
    ),
    ...externalPolicyErrors(spec),
  ]
}

function externalNameErrors(name: string): readonly FieldError[] {
  if (name === '') return [required('spec.externalName', '')]
  return dns1123SubdomainErrors(name.replace(/\.$/, '')).map(e => invalidValue('spec.externalName', name, e))
}

function externalPolicyErrors(spec: ServiceSpec): readonly FieldError[] {
  const field = 'spec.externalTrafficPolicy'
  const policy = spec.externalTrafficPolicy ?? ''
  if (isReachedFromOutside(spec)) return choice(field, policy, policies)
  return policy === ''
    ? []
    : [invalidValue(field, policy, 'may only be set for externally-accessible services')]
}

function balancerErrors(spec: ServiceSpec): readonly FieldError[] {
  const why = "may only be used when `type` is 'LoadBalancer'"
  const isBalancer = spec.type === 'LoadBalancer'
  const given = (['allocateLoadBalancerNodePorts', 'loadBalancerClass', 'loadBalancerSourceRanges'] as const)
    .filter(f => spec[f] !== undefined)
    .filter(f => f !== 'loadBalancerSourceRanges' || (spec[f]?.length ?? 0) > 0)
  return [
    ...(isBalancer ? [] : given.map(f => forbiddenField(`spec.${f}`, why))),
    ...(isBalancer && spec.loadBalancerClass !== undefined
      ? labelKeyErrors(spec.loadBalancerClass).map(e =>
          invalidValue('spec.loadBalancerClass', spec.loadBalancerClass, e),
        )
      : []),
    ...(spec.loadBalancerSourceRanges ?? []).flatMap((range, i) =>
      parseCidr(range.trim()) === undefined
        ? [
            invalidValue(
              `spec.loadBalancerSourceRanges[${i}]`,
              range,
              'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)',
            ),
          ]
        : [],
    ),
    ...healthPortErrors(spec),
  ]
}

function healthPortErrors({ type, externalTrafficPolicy, healthCheckNodePort: port = 0 }: ServiceSpec) {
  const field = 'spec.healthCheckNodePort'
  if (port === 0) return []
  if (type !== 'LoadBalancer' || externalTrafficPolicy !== 'Local') {
    return [
      invalidValue(
        field,
        port,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    ]
  }
  return isPort(port) ? [] : [invalidValue(field, port, 'must be between 1 and 65535, inclusive')]
}

function changeErrors(spec: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  const both = spec.type === 'LoadBalancer' && old.type === 'LoadBalancer'
  return [
    ...changedAddressErrors(spec, old),
    ...(both && spec.loadBalancerClass !== old.loadBalancerClass
      ? [invalidValue('spec.loadBalancerClass', spec.loadBalancerClass, 'may not change once set')]
      : []),
  ]
}
