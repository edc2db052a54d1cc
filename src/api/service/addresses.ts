/** The rules of a Service's addresses and address families. */

import { familyOf } from '../../ip/address.ts'
import {
  duplicateValue,
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  tooMany,
} from '../../kernel/field-error.ts'
import type { ServiceSpec } from './schema.ts'

const families = ['IPv4', 'IPv6']
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack']
export const notAnAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)'

export function addressErrors(spec: ServiceSpec): readonly FieldError[] {
  if (spec.type === 'ExternalName') return ofExternalName(spec)
  const addresses = spec.clusterIPs ?? []
  return [
    ...headErrors(spec),
    ...(addresses.length > 2 ? [tooMany('spec.clusterIPs', addresses.length, 2)] : []),
    ...addresses.flatMap((address, i) => clusterIPErrors(spec, address, i)),
    ...familyErrors(spec.ipFamilies ?? []),
    ...(spec.ipFamilyPolicy === undefined || familyPolicies.includes(spec.ipFamilyPolicy)
      ? []
      : [notSupported('spec.ipFamilyPolicy', spec.ipFamilyPolicy, familyPolicies)]),
    ...(sameFamily(addresses)
      ? [
          invalidValue(
            'spec.clusterIPs',
            addresses,
            'may specify no more than one IP for each IP family, i.e. IPv4 and IPv6',
          ),
        ]
      : []),
  ]
}

function ofExternalName(spec: ServiceSpec): readonly FieldError[] {
  const why = 'may not be set for ExternalName services'
  return [
    ...((spec.clusterIPs ?? []).length > 0 ? [forbiddenField('spec.clusterIPs', why)] : []),
    ...((spec.ipFamilies ?? []).length > 0 ? [forbiddenField('spec.ipFamilies', why)] : []),
    ...(spec.ipFamilyPolicy === undefined ? [] : [forbiddenField('spec.ipFamilyPolicy', why)]),
  ]
}

function headErrors({ clusterIP = '', clusterIPs = [] }: ServiceSpec): readonly FieldError[] {
  if ((clusterIPs[0] ?? '') === clusterIP) return []
  return [invalidValue('spec.clusterIPs', clusterIPs, 'first value must match `clusterIP`')]
}

function clusterIPErrors(spec: ServiceSpec, address: string, index: number): readonly FieldError[] {
  const field = `spec.clusterIPs[${index}]`
  if (address === 'None') return noneErrors(spec, index, field)
  const family = familyOf(address)
  if (family === undefined) return [invalidValue(field, address, notAnAddress)]
  const wanted = spec.ipFamilies?.[index]
  return wanted === undefined || wanted === family
    ? []
    : [invalidValue(field, address, `expected an ${wanted} value as indicated by \`ipFamilies[${index}]\``)]
}

function noneErrors(
  { type, clusterIPs = [] }: ServiceSpec,
  index: number,
  field: string,
): readonly FieldError[] {
  if (type !== 'ClusterIP') {
    return [invalidValue(field, 'None', `may not be set to 'None' for ${type} services`)]
  }
  return index > 0 || clusterIPs.length > 1
    ? [invalidValue('spec.clusterIPs', clusterIPs, "'None' must be the first and only value")]
    : []
}

function familyErrors(list: readonly string[]): readonly FieldError[] {
  return [
    ...(list.length > 2 ? [tooMany('spec.ipFamilies', list.length, 2)] : []),
    ...list.flatMap((family, i) => [
      ...(families.includes(family) ? [] : [notSupported(`spec.ipFamilies[${i}]`, family, families)]),
      ...(list.indexOf(family) < i ? [duplicateValue(`spec.ipFamilies[${i}]`, family)] : []),
    ]),
  ]
}

function sameFamily(addresses: readonly string[]): boolean {
  const [first, second] = addresses.map(familyOf)
  return first !== undefined && first === second
}

/** An address may not change while the type has one; the second may come and go. */
export function changedAddressErrors(spec: ServiceSpec, old: ServiceSpec): readonly FieldError[] {
  if (spec.type === 'ExternalName' || old.type === 'ExternalName') return []
  const before = old.clusterIPs ?? []
  const now = spec.clusterIPs ?? []
  const moved = before.findIndex((address, i) => i < now.length && now[i] !== address)
  const first = before.length > 0 && now.length === 0 ? 0 : moved
  return first < 0 ? [] : [invalidValue(`spec.clusterIPs[${first}]`, now, 'may not change once set')]
}
