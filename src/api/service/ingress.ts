/** The rules of where traffic comes into a Service from its load balancer, as `ValidateLoadBalancerStatus` has them. */
import { familyOf } from '../../ip/address.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../kernel/field-error.ts'
import { dns1123SubdomainErrors } from '../names.ts'
import { notAnAddress } from './addresses.ts'
import type { Ingress, ServiceSpec } from './schema.ts'

const field = 'status.loadBalancer.ingress'
const modes = ['Proxy', 'VIP']

export function ingressErrors({ type }: ServiceSpec, ingress: readonly Ingress[]): readonly FieldError[] {
  if (ingress.length === 0) return []
  if (type !== 'LoadBalancer') {
    return [forbiddenField(field, "may only be used when `spec.type` is 'LoadBalancer'")]
  }
  return ingress.flatMap((point, i) => pointErrors(`${field}[${i}]`, point))
}

function pointErrors(at: string, { ip = '', ipMode, hostname = '' }: Ingress): readonly FieldError[] {
  return [
    ...(ip === '' || familyOf(ip) !== undefined ? [] : [invalidValue(`${at}.ip`, ip, notAnAddress)]),
    ...modeErrors(`${at}.ipMode`, ip, ipMode),
    ...(hostname === '' ? [] : hostnameErrors(`${at}.hostname`, hostname)),
  ]
}

function modeErrors(at: string, ip: string, mode: string | undefined): readonly FieldError[] {
  if (mode === undefined) return ip === '' ? [] : [required(at, 'must be specified when `ip` is set')]
  if (ip === '') return [forbiddenField(at, 'may not be specified when `ip` is not set')]
  return modes.includes(mode) ? [] : [notSupported(at, mode, modes)]
}

function hostnameErrors(at: string, hostname: string): readonly FieldError[] {
  return [
    ...dns1123SubdomainErrors(hostname).map(why => invalidValue(at, hostname, why)),
    ...(familyOf(hostname) === undefined
      ? []
      : [invalidValue(at, hostname, 'must be a DNS name, not an IP address')]),
  ]
}
