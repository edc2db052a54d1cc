/**
 * Which IP families a Service has, from what its owner said and what the cluster has: the rules and the sentences of
 * kube-apiserver (KEP-563), with `families` those of the cluster, the default one first.
 */

import type { ServiceSpec } from '../../src/api/service/schema.ts'
import { type Family, familyOf } from '../../src/ip/address.ts'
import { type FieldError, invalidValue } from '../../src/kernel/field-error.ts'
import { familiesOf, isHeadless } from './service-spec.ts'

export type Settled = { readonly spec: ServiceSpec; readonly errors: readonly FieldError[] }

const single = 'SingleStack'

/**
 * The spec with policy and families filled in. It may still lack addresses; what the cluster cannot give is in `errors`.
 * For specs that are valid by themselves.
 */
export function withFamilies(
  sent: ServiceSpec,
  old: ServiceSpec | undefined,
  families: readonly Family[],
): Settled {
  if (old !== undefined && isUnchangedPreference(sent, old)) return { spec: sent, errors: [] }
  const spec = { ...sent, ipFamilyPolicy: sent.ipFamilyPolicy ?? old?.ipFamilyPolicy ?? defaultPolicy(sent) }
  const trimmed = old === undefined ? spec : withoutSecond(spec, old)
  const inferred = inferredFamilies(trimmed, families)
  const errors = [...reductionErrors(trimmed, old), ...policyErrors(trimmed), ...inferred.errors]
  if (errors.length > 0) return { spec: inferred.spec, errors }
  return completed(inferred.spec, families)
}

/** A Service that prefers two families keeps what it has when the cluster gains or loses one. */
function isUnchangedPreference(spec: ServiceSpec, old: ServiceSpec): boolean {
  return (
    spec.ipFamilyPolicy === 'PreferDualStack' &&
    old.ipFamilyPolicy === 'PreferDualStack' &&
    sameList(spec.clusterIPs, old.clusterIPs) &&
    sameList(spec.ipFamilies, old.ipFamilies)
  )
}

function isSelectorless(spec: ServiceSpec): boolean {
  return isHeadless(spec) && Object.keys(spec.selector ?? {}).length === 0
}

function defaultPolicy(spec: ServiceSpec): string {
  return isSelectorless(spec) ? 'RequireDualStack' : single
}

/** Asking for a single family gives up the second one, unless the lists were changed as well. */
function withoutSecond(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  if (spec.ipFamilyPolicy !== single) return spec
  const { clusterIPs = [], ipFamilies = [] } = spec
  return {
    ...spec,
    ...(clusterIPs.length > 1 && sameList(clusterIPs, old.clusterIPs)
      ? { clusterIPs: clusterIPs.slice(0, 1) }
      : {}),
    ...(ipFamilies.length > 1 && sameList(ipFamilies, old.ipFamilies)
      ? { ipFamilies: ipFamilies.slice(0, 1) }
      : {}),
  }
}

function reductionErrors(spec: ServiceSpec, old: ServiceSpec | undefined): readonly FieldError[] {
  if (old === undefined || spec.ipFamilyPolicy === single) return []
  const must = (what: string): FieldError =>
    invalidValue(
      'spec.ipFamilyPolicy',
      spec.ipFamilyPolicy,
      `must be 'SingleStack' to release the secondary ${what}`,
    )
  return [
    ...(isReduced(spec.clusterIPs, old.clusterIPs) ? [must('cluster IP')] : []),
    ...(isReduced(spec.ipFamilies, old.ipFamilies) ? [must('IP family')] : []),
  ]
}

function isReduced(now: readonly string[] = [], before: readonly string[] = []): boolean {
  return now.length > 0 && now.length < before.length
}

function policyErrors(spec: ServiceSpec): readonly FieldError[] {
  if (spec.ipFamilyPolicy !== single) return []
  const must = (what: string): FieldError =>
    invalidValue(
      'spec.ipFamilyPolicy',
      single,
      `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`,
    )
  return [
    ...((spec.clusterIPs ?? []).length === 2 ? [must('cluster IPs')] : []),
    ...((spec.ipFamilies ?? []).length === 2 ? [must('IP families')] : []),
  ]
}

/** Addresses that were named say which families are meant. */
function inferredFamilies(spec: ServiceSpec, families: readonly Family[]): Settled {
  const named = isHeadless(spec) ? [] : (spec.clusterIPs ?? []).map(familyOf)
  const said = spec.ipFamilies ?? []
  const more = named.slice(said.length).filter(family => family !== undefined)
  const errors = more.flatMap((family, i) =>
    families.includes(family)
      ? []
      : [
          invalidValue(
            `spec.clusterIPs[${said.length + i}]`,
            spec.clusterIPs,
            `${family} is not configured on this cluster`,
          ),
        ],
  )
  return { spec: { ...spec, ipFamilies: [...said, ...more] }, errors }
}

function completed(spec: ServiceSpec, families: readonly Family[]): Settled {
  const said = familiesOf(spec)
  const first = said[0] ?? families[0] ?? 'IPv4'
  const wantsTwo = spec.ipFamilyPolicy !== single
  // Who fills in the endpoints of such a Service may know families that the cluster does not have.
  const isFree = isSelectorless(spec)
  const errors = isFree ? [] : clusterErrors(spec, families)
  const second: Family = first === 'IPv4' ? 'IPv6' : 'IPv4'
  const mayHaveTwo = isFree || families.length === 2
  const both = wantsTwo && said.length < 2 && mayHaveTwo ? [first, second] : undefined
  return { spec: { ...spec, ipFamilies: both ?? (said.length === 0 ? [first] : said) }, errors }
}

function clusterErrors(spec: ServiceSpec, families: readonly Family[]): readonly FieldError[] {
  const { ipFamilyPolicy: policy } = spec
  const dual = invalidValue(
    'spec.ipFamilyPolicy',
    policy,
    'this cluster is not configured for dual-stack services',
  )
  return [
    ...(policy === 'RequireDualStack' && families.length < 2 ? [dual] : []),
    ...familiesOf(spec).flatMap((family, i) =>
      families.includes(family)
        ? []
        : [invalidValue(`spec.ipFamilies[${i}]`, family, 'not configured on this cluster')],
    ),
  ]
}

function sameList(one: readonly string[] = [], other: readonly string[] = []): boolean {
  return one.length === other.length && one.every((item, i) => item === other[i])
}
