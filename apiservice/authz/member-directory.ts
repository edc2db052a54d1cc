import { memberNamespace } from '../../src/api/cluster-id.ts'
import { apiVersionOf, resourceOf } from '../../src/api/kind.ts'
import { type MemberCluster, MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { qualified } from '../../src/kernel/errors.ts'
import type { Follow, StoredObject } from '../store-contract.ts'
import type { MemberAuthorizerOptions, Membership } from './member-rights.ts'

/** Who is a member, kept current from the stored MemberClusters. Before the first list nobody is. */
export class MemberDirectory implements MemberAuthorizerOptions {
  readonly #members = new Map<string, Membership>()
  readonly #listeners = new Set<() => void>()

  /** Resolves when the stored members are known; keeps them current until the signal aborts. */
  start(follow: Follow, signal: AbortSignal): Promise<void> {
    const scope = { resources: [qualified(resourceOf(MemberClusterKind))], namespace: '' }
    return follow(
      scope,
      {
        reset: items => {
          this.#members.clear()
          for (const item of items) this.#members.set(item.name, membershipOf(item))
          this.#changed()
        },
        events: batch => {
          const changes = batch.map(({ type, object }) => this.#note(type, object))
          if (changes.includes(true)) this.#changed()
        },
      },
      signal,
    )
  }

  readonly memberOf = (id: string): Membership | undefined => this.#members.get(id)

  readonly onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Whether what the member may do has changed: a heartbeat asks nobody again. */
  #note(type: 'PUT' | 'DELETE', object: StoredObject): boolean {
    const before = this.#members.get(object.name)
    if (type === 'DELETE') return this.#members.delete(object.name)
    const after = membershipOf(object)
    this.#members.set(object.name, after)
    return before?.accepted !== after.accepted || before.generation !== after.generation
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

function membershipOf(stored: StoredObject): Membership {
  // The kind's schema has accepted what is stored under its name.
  const { metadata, spec } = decodeBody(
    apiVersionOf(MemberClusterKind),
    MemberClusterKind.kind,
    stored,
  ) as MemberCluster
  return {
    accepted: spec.accepted && metadata.deletionTimestamp === undefined,
    generation: spec.credentialGeneration,
    namespace: memberNamespace(stored.name),
  }
}
