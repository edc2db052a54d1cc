import { type ObjectMeta, type OwnerReference, parseApiVersion } from '../api/meta.ts'
import type { DiscoveredResource } from '../cluster/cluster.ts'

/** An object that may own others or be owned. */
export type Node = {
  readonly uid: string
  readonly resource: DiscoveredResource
  readonly metadata: ObjectMeta
}

/** Who owns whom, by uid: as far as ownerReferences say, whether the owner is there or not. */
export class OwnerGraph {
  readonly #nodes = new Map<string, Node>()
  readonly #dependents = new Map<string, Set<string>>()

  get(uid: string): Node | undefined {
    return this.#nodes.get(uid)
  }

  all(): Iterable<Node> {
    return this.#nodes.values()
  }

  /** The objects that name this one as an owner. */
  dependentsOf(uid: string): readonly Node[] {
    return [...(this.#dependents.get(uid) ?? [])].flatMap(dependent => this.#nodes.get(dependent) ?? [])
  }

  /** Answers what was known of the object before. */
  put(node: Node): Node | undefined {
    const known = this.#nodes.get(node.uid)
    this.#nodes.set(node.uid, node)
    if (known !== undefined) this.#disown(known)
    for (const { uid } of ownersOf(node)) {
      const dependents = this.#dependents.get(uid) ?? new Set()
      dependents.add(node.uid)
      this.#dependents.set(uid, dependents)
    }
    return known
  }

  remove(uid: string): void {
    const node = this.#nodes.get(uid)
    if (node === undefined) return
    this.#nodes.delete(uid)
    this.#disown(node)
  }

  #disown(node: Node): void {
    for (const { uid: owner } of ownersOf(node)) {
      const dependents = this.#dependents.get(owner)
      dependents?.delete(node.uid)
      if (dependents?.size === 0) this.#dependents.delete(owner)
    }
  }
}

const nobody: readonly OwnerReference[] = []

export function ownersOf({ metadata }: Node): readonly OwnerReference[] {
  return metadata.ownerReferences ?? nobody
}

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

/** Being deleted, and gone once its dependents are free of it or gone. */
export function isWaitingWith({ metadata }: Pick<Node, 'metadata'>, finalizer: string): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers ?? []).includes(finalizer)
}

/** Whether a reference of `dependent` names this very object, and not one of its uid in another place. */
export function isNamedBy(owner: Node, reference: OwnerReference, dependent: Node): boolean {
  const { resource, metadata } = owner
  return (
    metadata.name === reference.name &&
    resource.kind === reference.kind &&
    resource.group === parseApiVersion(reference.apiVersion).group &&
    (!resource.namespaced || metadata.namespace === dependent.metadata.namespace)
  )
}

/** Whether the deletion of an owner waits for this object. */
export function blocks(dependent: Node, owner: string): boolean {
  return ownersOf(dependent).some(
    ({ uid, blockOwnerDeletion }) => uid === owner && blockOwnerDeletion === true,
  )
}
