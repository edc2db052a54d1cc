import { memberNamespace } from '../../src/api/cluster-id.ts'
import { apiVersionOf, resourceOf } from '../../src/api/kind.ts'
import { type MemberCluster, MemberClusterKind } from '../../src/api/kinds/member-cluster.ts'
import { decodeBody } from '../../src/codec/object-bytes.ts'
import { qualified } from '../../src/kernel/errors.ts'
import { madeOnce } from '../../src/kernel/made-once.ts'
import type { Follow, Store, StoredObject, StoreEvent } from '../store-contract.ts'
import type { MemberAuthorizerOptions, Membership } from './member-rights.ts'

const resource = qualified(resourceOf(MemberClusterKind))

/**
 * Who is a member. Each question is one to the store, whose answers are as new as all that any server of it has answered:
 * whoever is evicted at one server is out at all of them.
 */
export class MemberDirectory implements MemberAuthorizerOptions {
  readonly #store: Pick<Store, 'get'>
  readonly #listeners = new Set<() => void>()

  constructor(store: Pick<Store, 'get'>) {
    this.#store = store
  }

  /** Resolves when changes are told of, which goes on until the signal aborts. */
  start(follow: Follow, signal: AbortSignal): Promise<void> {
    return follow(
      { resources: [resource], namespace: '' },
      {
        reset: () => this.#changed(),
        events: batch => {
          if (batch.some(changesRights)) this.#changed()
        },
      },
      signal,
    )
  }

  readonly memberOf = async (id: string): Promise<Membership | undefined> => {
    const stored = await this.#store.get({ resource, namespace: '', name: id })
    return stored && membershipOf(stored)
  }

  readonly onChange = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}

/** Whether what the member may do has changed: a heartbeat asks nobody again. */
function changesRights({ type, object, previous }: StoreEvent): boolean {
  if (type === 'DELETE' || previous === undefined) return true
  const [after, before] = [membershipOf(object), membershipOf(previous)]
  return before.accepted !== after.accepted || before.generation !== after.generation
}

/** Each version of a MemberCluster is looked into once. */
const membershipOf = madeOnce((stored: StoredObject): Membership => {
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
})
