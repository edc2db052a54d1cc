/**
 * Keeps users from giving what they do not have (k8s.io/kubernetes `rbac` registry): who writes a role must hold its
 * rules, or the verb `escalate` on it; who writes a binding must hold the rules of its role, or the verb `bind` on it.
 */
import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../../src/api/meta.ts'
import { type PolicyRule, type RoleRef, rbacGroup } from '../../src/api/rbac/schema.ts'
import { forbidden, notFound } from '../../src/kernel/errors.ts'
import type { AdmissionAttributes, AdmissionPlugin, Authorizer, UserInfo } from '../contract.ts'
import { mastersGroup } from './masters.ts'
import { type HeldRules, inOneText } from './rbac.ts'
import { bindingKinds, bindingOf, roleKinds, roleOf } from './rbac-objects.ts'
import { atomCount, maxAtoms, missingRules, quotedList, ruleText } from './rules.ts'

export type EscalationOptions = {
  /** Asked for the verbs `escalate` and `bind`. */
  readonly authorizer: Authorizer
  /** Who holds which rules, and what roles grant. */
  readonly rbac: {
    rulesFor(user: UserInfo, namespace: string): HeldRules
    rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined
  }
}

/** A role that takes its rules from others may come to grant anything. */
const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
  { verbs: ['*'], nonResourceURLs: ['*'] },
]

export function escalationPlugin(options: EscalationOptions): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    handles: ({ operation, served, subresource, user }) =>
      operation !== 'DELETE' &&
      subresource === '' &&
      (roleKinds.has(resourceOf(served)) || bindingKinds.has(resourceOf(served))) &&
      !user.groups.includes(mastersGroup),
    async validate(attributes, signal) {
      const { object } = attributes
      if (object === undefined) return
      if (roleKinds.has(resourceOf(attributes.served))) await checkRole(options, attributes, object, signal)
      else await checkBinding(options, attributes, object, signal)
    },
  }
}

function resourceOf(served: AdmissionAttributes['served']): string {
  return `${served.kind.plural}.${served.kind.group}`
}

async function checkRole(
  options: EscalationOptions,
  attributes: AdmissionAttributes,
  object: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const role = roleOf(object)
  const old = attributes.oldObject === undefined ? undefined : roleOf(attributes.oldObject)
  if (isDeepStrictEqual([role.rules, role.aggregates], [old?.rules, old?.aggregates])) return
  const { user, namespace, served } = attributes
  const question = {
    user,
    verb: 'escalate',
    resource: served.kind.plural,
    name: role.name,
    namespace,
  } as const
  if (await mayAlso(options, question, signal)) return
  checkHeld(options, attributes, role.aggregates === undefined ? role.rules : [...role.rules, ...everything])
}

async function checkBinding(
  options: EscalationOptions,
  attributes: AdmissionAttributes,
  object: KubeObject,
  signal: AbortSignal,
): Promise<void> {
  const { roleRef, subjects } = bindingOf(object)
  const old = attributes.oldObject === undefined ? undefined : bindingOf(attributes.oldObject)
  if (isDeepStrictEqual([roleRef, subjects], [old?.roleRef, old?.subjects])) return
  const { user, namespace } = attributes
  const resource = roleRef.kind === 'Role' ? 'roles' : 'clusterroles'
  if (await mayAlso(options, { user, verb: 'bind', resource, name: roleRef.name, namespace }, signal)) return
  const rules = options.rbac.rulesOf(roleRef, namespace)
  if (rules === undefined) throw notFound({ group: rbacGroup, resource }, roleRef.name)
  checkHeld(options, attributes, rules)
}

type Question = {
  readonly user: UserInfo
  readonly verb: 'escalate' | 'bind'
  readonly resource: string
  readonly name: string
  readonly namespace: string
}

async function mayAlso(
  { authorizer }: EscalationOptions,
  { user, ...question }: Question,
  signal: AbortSignal,
): Promise<boolean> {
  const common = { isResource: true, path: '', group: rbacGroup, version: 'v1', subresource: '' } as const
  const decision = await authorizer.authorize({ user, info: { ...common, ...question } }, signal)
  return decision.allowed === 'allow'
}

function checkHeld(
  { rbac }: EscalationOptions,
  { user, namespace, served, name }: AdmissionAttributes,
  wanted: readonly PolicyRule[],
): void {
  const ref = { group: served.kind.group, resource: served.kind.plural }
  if (atomCount(wanted) > maxAtoms) {
    throw forbidden(ref, name, `its rules grant more than ${maxAtoms} single permissions, too many to check`)
  }
  const held = rbac.rulesFor(user, namespace)
  const missing = missingRules(held.rules, wanted)
  if (missing.length === 0) return
  const unresolved = held.missing.length === 0 ? '' : `; resolution errors: ${inOneText(held.missing)}`
  const who = `user ${JSON.stringify(user.name)} (groups=${quotedList(user.groups)})`
  const list = missing.map(ruleText).toSorted().join('\n')
  throw forbidden(
    ref,
    name,
    `${who} is attempting to grant RBAC permissions not currently held:\n${list}${unresolved}`,
  )
}
