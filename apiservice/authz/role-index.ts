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

/** Of one user; whoever asks about more of them has them looked for again. */
const maxNamespacesOfUser = 1_000

const serviceAccountPrefix = 'system:serviceaccount:'

export class RoleIndex {
  readonly #roles = new Map<string, RoleRecord>()
  readonly #bindings = new Map<string, BindingRecord>()
  /** By subject, then by the binding's namespace. */
  readonly #granted = new Map<string, Map<string, Granted[]>>()
  /** The rules of aggregating roles, found when first asked for. */
  readonly #aggregated = new Map<string, readonly PolicyRule[]>()
  /** What was found for a user, by namespace, until something changes. */
  #found = new WeakMap<UserInfo, Map<string, readonly Grant[]>>()

  putRole(role: RoleRecord): void {
    this.#forgetFound()
    this.#roles.set(keyOf(role), role)
  }

  removeRole(role: { readonly namespace: string; readonly name: string }): void {
    this.#forgetFound()
    this.#roles.delete(keyOf(role))
  }

  putBinding(binding: BindingRecord): void {
    this.#forgetFound()
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
    this.#forgetFound()
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
    this.#forgetFound()
    for (const map of [this.#roles, this.#bindings, this.#granted]) map.clear()
  }

  #forgetFound(): void {
    this.#aggregated.clear()
    this.#found = new WeakMap()
  }

  /** What cluster-wide bindings and those of the namespace (unless empty) give to a user. */
  grantsOf(user: UserInfo, namespace: string): readonly Grant[] {
    const ofUser = this.#found.get(user) ?? new Map<string, readonly Grant[]>()
    const known = ofUser.get(namespace)
    if (known !== undefined) return known
    const grants = this.#findGrants(user, namespace)
    if (ofUser.size >= maxNamespacesOfUser) ofUser.clear()
    ofUser.set(namespace, grants)
    this.#found.set(user, ofUser)
    return grants
  }

  #findGrants({ name, groups }: UserInfo, namespace: string): readonly Grant[] {
    const scopes = namespace === '' ? [''] : ['', namespace]
    const keys = [`User:${name}`, ...groups.map(group => `Group:${group}`)]
    return scopes.flatMap(scope => keys.flatMap(key => this.#grants(key, scope)))
  }

  #grants(key: string, scope: string): readonly Grant[] {
    const granted = this.#granted.get(key)?.get(scope) ?? []
    return granted.map(({ binding, subject }) => {
      return { binding, subject, rules: this.rulesOf(binding.roleRef, binding.namespace) }
    })
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
