/** What the schemas of RBAC kinds cannot say. */
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
} from '../../kernel/field-error.ts'
import { pathSegmentErrors } from '../names.ts'
import { type PolicyRule, type RoleRef, rbacGroup, type Subject } from './schema.ts'

/** `namespaced` rules are those of a Role. */
export function rulesErrors(rules: readonly PolicyRule[], namespaced: boolean): readonly FieldError[] {
  return rules.flatMap((rule, i) => ruleErrors(rule, namespaced, `rules[${i}]`))
}

function ruleErrors(rule: PolicyRule, namespaced: boolean, at: string): readonly FieldError[] {
  const verbs =
    rule.verbs.length === 0 ? [required(`${at}.verbs`, 'verbs must contain at least one value')] : []
  const paths = rule.nonResourceURLs ?? []
  return [...verbs, ...(paths.length > 0 ? pathErrors(rule, namespaced, at) : resourceErrors(rule, at))]
}

function pathErrors(rule: PolicyRule, namespaced: boolean, at: string): readonly FieldError[] {
  const field = `${at}.nonResourceURLs`
  const also = [rule.apiGroups, rule.resources, rule.resourceNames].some(list => (list ?? []).length > 0)
  return [
    ...(namespaced
      ? [invalidValue(field, rule.nonResourceURLs, 'namespaced rules cannot apply to non-resource URLs')]
      : []),
    ...(also
      ? [
          invalidValue(
            field,
            rule.nonResourceURLs,
            'rules cannot apply to both regular resources and non-resource URLs',
          ),
        ]
      : []),
  ]
}

function resourceErrors(rule: PolicyRule, at: string): readonly FieldError[] {
  return [
    ...((rule.apiGroups ?? []).length === 0
      ? [required(`${at}.apiGroups`, 'resource rules must supply at least one api group')]
      : []),
    ...((rule.resources ?? []).length === 0
      ? [required(`${at}.resources`, 'resource rules must supply at least one resource')]
      : []),
  ]
}

type Binding = { readonly roleRef: RoleRef; readonly subjects?: readonly Subject[] }

/** `roleKinds`: what a binding of this kind may refer to. */
export function bindingErrors(
  binding: Binding,
  old: Binding | undefined,
  roleKinds: readonly string[],
): readonly FieldError[] {
  return [
    ...roleRefErrors(binding.roleRef, roleKinds),
    ...(binding.subjects ?? []).flatMap((s, i) => subjectErrors(s, `subjects[${i}]`)),
    ...(old === undefined || sameRole(old.roleRef, binding.roleRef)
      ? []
      : [invalidValue('roleRef', binding.roleRef, 'cannot change roleRef')]),
  ]
}

function sameRole(a: RoleRef, b: RoleRef): boolean {
  return a.apiGroup === b.apiGroup && a.kind === b.kind && a.name === b.name
}

function roleRefErrors(ref: RoleRef, roleKinds: readonly string[]): readonly FieldError[] {
  return [
    ...(ref.apiGroup === rbacGroup ? [] : [notSupported('roleRef.apiGroup', ref.apiGroup, [rbacGroup])]),
    ...(roleKinds.includes(ref.kind) ? [] : [notSupported('roleRef.kind', ref.kind, roleKinds)]),
    ...(ref.name === '' ? [required('roleRef.name', '')] : []),
    ...pathSegmentErrors(ref.name, false).map(e => invalidValue('roleRef.name', ref.name, e)),
  ]
}

function subjectErrors(subject: Subject, at: string): readonly FieldError[] {
  const name = subject.name === '' ? [required(`${at}.name`, '')] : []
  switch (subject.kind) {
    case 'ServiceAccount':
      return [
        ...name,
        ...(subject.name === '' ? [] : pathSegmentErrors(subject.name, false)).map(e =>
          invalidValue(`${at}.name`, subject.name, e),
        ),
        ...groupErrors(subject, '', at),
        ...(subject.namespace ? [] : [required(`${at}.namespace`, '')]),
      ]
    case 'User':
    case 'Group':
      return [
        ...name,
        ...groupErrors(subject, rbacGroup, at),
        ...(subject.namespace
          ? [forbiddenField(`${at}.namespace`, 'must not be set for users and groups')]
          : []),
      ]
    default:
      return [...name, notSupported(`${at}.kind`, subject.kind, ['ServiceAccount', 'User', 'Group'])]
  }
}

function groupErrors(subject: Subject, group: string, at: string): readonly FieldError[] {
  const { apiGroup = '' } = subject
  return apiGroup === group ? [] : [notSupported(`${at}.apiGroup`, apiGroup, [group])]
}

/** Users and groups are of the RBAC group when no group is given. */
export function withSubjectGroups<B extends Binding>(binding: B): B {
  if (!binding.subjects?.some(lacksGroup)) return binding
  return {
    ...binding,
    subjects: binding.subjects.map(s => (lacksGroup(s) ? { ...s, apiGroup: rbacGroup } : s)),
  }
}

function lacksGroup(subject: Subject): boolean {
  return !subject.apiGroup && (subject.kind === 'User' || subject.kind === 'Group')
}
