/**
 * Role-based access control from the stored roles and bindings, decided in memory. A change of policy holds as soon as
 * the store has told it; before the first list no question gets an opinion.
 */
import { type PolicyRule, type RoleRef, rbacGroup } from '../../src/api/rbac/schema.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import type { Attributes, Authorizer, Decision, UserInfo } from '../contract.ts'
import type { Follow, StoredObject } from '../store-contract.ts'
import { bindingKinds, bindingOf, rbacApiVersion, roleKinds, roleOf } from './rbac-objects.ts'
import { type Grant, RoleIndex } from './role-index.ts'
import { ruleAllows } from './rules.ts'

/** What a user may do in a namespace, as far as stored roles say. */
export type HeldRules = {
  readonly rules: readonly PolicyRule[]
  /** A sentence for each role that a binding names and that does not exist. */
  readonly missing: readonly string[]
}

export class RbacAuthorizer implements Authorizer {
  readonly #index = new RoleIndex()
  readonly #listeners = new Set<() => void>()

  /** Resolves when the stored roles and bindings are known; keeps them current until the signal aborts. */
  start(follow: Follow, signal: AbortSignal): Promise<void> {
    const scope = { resources: [...roleKinds.keys(), ...bindingKinds.keys()], namespace: '' }
    const follower = {
      reset: (items: readonly StoredObject[]) => {
        this.#index.clear()
        for (const item of items) this.#put(item)
        this.#changed()
      },
      events: (batch: readonly { readonly type: 'PUT' | 'DELETE'; readonly object: StoredObject }[]) => {
        for (const { type, object } of batch) {
          if (type === 'PUT') this.#put(object)
          else this.#remove(object)
        }
        this.#changed()
      },
    }
    return follow(scope, follower, signal)
  }

  authorize({ user, info }: Attributes): Decision {
    const grants = this.#index.grantsOf(user, info.isResource ? info.namespace : '')
    for (const grant of grants) {
      if (grant.rules?.some(rule => ruleAllows(rule, info)) === true) return new Allowed(grant)
    }
    const missing = missingOf(grants)
    return { allowed: 'noOpinion', reason: missing.length === 0 ? '' : `RBAC: ${inOneText(missing)}` }
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** All rules that bindings give to a user in a namespace, or cluster-wide when it is empty. */
  rulesFor(user: UserInfo, namespace: string): HeldRules {
    const grants = this.#index.grantsOf(user, namespace)
    return { rules: grants.flatMap(grant => grant.rules ?? []), missing: missingOf(grants) }
  }

  /** The rules of a role as a binding in `namespace` names it; undefined when it does not exist. */
  rulesOf(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    return this.#index.rulesOf(ref, namespace)
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }

  #put(stored: StoredObject): void {
    const role = roleKinds.get(stored.resource)
    const binding = bindingKinds.get(stored.resource)
    if (role !== undefined) this.#index.putRole(roleOf(decodeBody(rbacApiVersion, role, stored)))
    else if (binding !== undefined)
      this.#index.putBinding(bindingOf(decodeBody(rbacApiVersion, binding, stored)))
  }

  #remove(stored: StoredObject): void {
    if (roleKinds.has(stored.resource)) this.#index.removeRole(stored)
    else this.#index.removeBinding(stored)
  }
}

/** Only a review wants to know why. */
class Allowed implements Decision {
  readonly allowed = 'allow'
  readonly #grant: Grant

  constructor(grant: Grant) {
    this.#grant = grant
  }

  get reason(): string {
    return allowedText(this.#grant)
  }
}

function allowedText({ binding, subject }: Grant): string {
  const { roleRef, namespace, name } = binding
  const bound =
    namespace === '' ? `ClusterRoleBinding ${JSON.stringify(name)}` : `RoleBinding "${name}/${namespace}"`
  const who =
    subject.kind === 'ServiceAccount'
      ? `ServiceAccount "${subject.name}/${subject.namespace ?? namespace}"`
      : `${subject.kind} ${JSON.stringify(subject.name)}`
  return `RBAC: allowed by ${bound} of ${roleRef.kind} ${JSON.stringify(roleRef.name)} to ${who}`
}

/** A sentence for each role that there is not. */
function missingOf(grants: readonly Grant[]): readonly string[] {
  return [...new Set(grants.filter(grant => grant.rules === undefined).map(missingText))]
}

function missingText({ binding }: Grant): string {
  return `${binding.roleRef.kind.toLowerCase()}.${rbacGroup} ${JSON.stringify(binding.roleRef.name)} not found`
}

/** As apimachinery prints several errors as one. */
export function inOneText(texts: readonly string[]): string {
  return texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`
}
