/**
 * The roles and bindings of a server, indexed by who they are for, so that a decision looks only at the bindings of one
 * user in one namespace.
 */
import type { PolicyRule, RoleRef, Subject } from '../../src/api/rbac/schema.ts'
import type { UserInfo } from '../contract.ts'
import { type LabelSelector, labelSelectorMatches } from './label-selector.ts'

/** A Role (with a namespace) or a ClusterRole (without). */
export type RoleRecord = {
  readonly namespace: string
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly rules: readonly PolicyRule[]
  /** The role's rules are those of the ClusterRoles that any of these select. */
  readonly aggregates: readonly LabelSelector[] | undefined
}

/** A RoleBinding (with a namespace) or a ClusterRoleBinding (without). */
export type BindingRecord = {
  readonly namespace: string
  readonly name: string
  readonly roleRef: RoleRef
  readonly subjects: readonly Subject[]
}

/** One subject of one binding, and the rules it gets by it; no rules when there is no such role. */
export type Grant = {
  readonly binding: BindingRecord
  readonly subject: Subject
  readonly rules: readonly PolicyRule[] | undefined
}

type Granted = { readonly binding: BindingRecord; readonly subject: Subject }

const serviceAccountPrefix = 'system:serviceaccount:'

export class RoleIndex {
  readonly #roles = new Map<string, RoleRecord>()
  readonly #bindings = new Map<string, BindingRecord>()
  /** By subject, then by the binding's namespace. */
  readonly #granted = new Map<string, Map<string, Granted[]>>()
  /** The rules of aggregating roles, found when first asked for. */
  readonly #aggregated = new Map<string, readonly PolicyRule[]>()

  putRole(role: RoleRecord): void {
    this.#aggregated.clear()
    this.#roles.set(keyOf(role), role)
  }

  removeRole(role: { readonly namespace: string; readonly name: string }): void {
    this.#aggregated.clear()
    this.#roles.delete(keyOf(role))
  }

  putBinding(binding: BindingRecord): void {
    this.removeBinding(binding)
    this.#bindings.set(keyOf(binding), binding)
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace)
      if (key === undefined) continue
      const byNamespace = this.#granted.get(key) ?? new Map<string, Granted[]>()
      byNamespace.set(binding.namespace, [
        ...(byNamespace.get(binding.namespace) ?? []),
        { binding, subject },
      ])
      this.#granted.set(key, byNamespace)
    }
  }

  removeBinding(binding: { readonly namespace: string; readonly name: string }): void {
    const old = this.#bindings.get(keyOf(binding))
    if (old === undefined) return
    this.#bindings.delete(keyOf(old))
    for (const subject of old.subjects) {
      const key = subjectKey(subject, old.namespace)
      if (key !== undefined) this.#withdraw(key, old)
    }
  }

  #withdraw(key: string, binding: BindingRecord): void {
    const byNamespace = this.#granted.get(key)
    const left = byNamespace?.get(binding.namespace)?.filter(granted => granted.binding !== binding) ?? []
    if (left.length > 0) byNamespace?.set(binding.namespace, left)
    else byNamespace?.delete(binding.namespace)
    if (byNamespace?.size === 0) this.#granted.delete(key)
  }

  clear(): void {
    for (const map of [this.#roles, this.#bindings, this.#granted, this.#aggregated]) map.clear()
  }

  /** What cluster-wide bindings and those of the namespace (unless empty) give to a user. */
  *grantsOf(user: UserInfo, namespace: string): Generator<Grant> {
    const scopes = namespace === '' ? [''] : ['', namespace]
    for (const scope of scopes) {
      yield* this.#grants(`User:${user.name}`, scope)
      for (const group of user.groups) yield* this.#grants(`Group:${group}`, scope)
    }
  }

  *#grants(key: string, scope: string): Generator<Grant> {
    for (const { binding, subject } of this.#granted.get(key)?.get(scope) ?? []) {
      yield { binding, subject, rules: this.rulesOf(binding.roleRef, binding.namespace) }
    }
  }

  /** The rules of the role that a binding in `namespace` refers to; undefined when there is none. */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const role = this.#roles.get(keyOf({ namespace: ref.kind === 'Role' ? namespace : '', name: ref.name }))
    if (role === undefined || (ref.kind === 'Role') !== (role.namespace !== '')) return undefined
    return role.aggregates === undefined ? role.rules : this.#aggregate(role)
  }

  #aggregate(role: RoleRecord): readonly PolicyRule[] {
    const known = this.#aggregated.get(role.name)
    if (known !== undefined) return known
    const rules = [...this.#selected(role, new Set())].flatMap(each => each.rules)
    this.#aggregated.set(role.name, rules)
    return rules
  }

  /** The ordinary roles that a role is made of, through other aggregating ones too, each once. */
  #selected(role: RoleRecord, seen: Set<RoleRecord>): ReadonlySet<RoleRecord> {
    const found = new Set<RoleRecord>()
    seen.add(role)
    for (const candidate of this.#roles.values()) {
      if (candidate.namespace !== '' || seen.has(candidate)) continue
      if (!role.aggregates?.some(selector => labelSelectorMatches(selector, candidate.labels))) continue
      const made = candidate.aggregates === undefined ? [candidate] : this.#selected(candidate, seen)
      for (const each of made) found.add(each)
    }
    return found
  }
}

function keyOf({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`
}

/** A service account is found by the user name that its tokens carry. */
function subjectKey(subject: Subject, bindingNamespace: string): string | undefined {
  if (subject.kind === 'User' || subject.kind === 'Group') return `${subject.kind}:${subject.name}`
  const namespace = subject.namespace ?? bindingNamespace
  if (subject.kind !== 'ServiceAccount' || namespace === '') return undefined
  return `User:${serviceAccountPrefix}${namespace}:${subject.name}`
}
