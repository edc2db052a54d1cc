import { type ObjectMeta, type OwnerReference, parseApiVersion } from '../api/meta.ts'
import { type Cluster, type DiscoveredResource, keyOf, type Ref } from '../cluster/cluster.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import {
  blocks,
  foregroundFinalizer,
  isNamedBy,
  isWaitingWith,
  type Node,
  type OwnerGraph,
  orphanFinalizer,
  ownersOf,
} from './owner-graph.ts'

export type CollectorOptions = {
  readonly cluster: Cluster
  /** Everything that can be an owner. */
  readonly resources: readonly DiscoveredResource[]
  readonly graph: OwnerGraph
  readonly log: Logger
}

/**
 * - there: the owner lives.
 * - waiting: the owner is being deleted and goes after its dependents.
 * - gone: there is no such owner.
 */
type OwnerState = 'there' | 'waiting' | 'gone'

/** A uid never comes back, so what is gone stays gone. */
const maxGone = 1000

/**
 * Does with one object what its owners and its own deletion ask for. Acts on the versions that the graph knows: a write
 * on another one is refused, and the change behind it, or the next try, brings the object back.
 */
export class Collector {
  readonly #options: CollectorOptions
  readonly #gone = new Set<string>()

  constructor(options: CollectorOptions) {
    this.#options = options
  }

  async collect(uid: string, signal: AbortSignal): Promise<void> {
    const node = this.#options.graph.get(uid)
    if (node === undefined) return
    if (isWaitingWith(node, orphanFinalizer)) await this.#orphan(node, signal)
    else if (isWaitingWith(node, foregroundFinalizer)) await this.#finish(node, signal)
    else if (node.metadata.deletionTimestamp === undefined) await this.#judge(node, signal)
  }

  /** Takes the owner from its dependents, then lets it go. */
  async #orphan(owner: Node, signal: AbortSignal): Promise<void> {
    for (const dependent of this.#options.graph.dependentsOf(owner.uid)) {
      await this.#setOwners(
        dependent,
        reference => (reference.uid === owner.uid ? undefined : reference),
        signal,
      )
    }
    await this.#dropFinalizer(owner, orphanFinalizer, signal)
  }

  /** Lets an owner go when no dependent that it waits for is left. */
  async #finish(owner: Node, signal: AbortSignal): Promise<void> {
    const dependents = this.#options.graph.dependentsOf(owner.uid)
    if (dependents.some(dependent => blocks(dependent, owner.uid))) return
    await this.#dropFinalizer(owner, foregroundFinalizer, signal)
  }

  async #judge(node: Node, signal: AbortSignal): Promise<void> {
    const states = new Map<OwnerReference, OwnerState>()
    for (const reference of ownersOf(node))
      states.set(reference, await this.#stateOf(reference, node, signal))
    const found = [...states.values()]
    if (found.every(state => state === 'there')) return
    if (found.includes('there')) {
      await this.#setOwners(
        node,
        reference => (states.get(reference) === 'there' ? reference : undefined),
        signal,
      )
      return
    }
    const dependents = this.#options.graph.dependentsOf(node.uid)
    if (!found.includes('waiting') || dependents.length === 0) {
      await this.#delete(node, policyOf(node), signal)
      return
    }
    // A circle of objects that wait for each other would never end.
    const isCircle = dependents.some(dependent => isWaitingWith(dependent, foregroundFinalizer))
    const free = (reference: OwnerReference): OwnerReference => ({ ...reference, blockOwnerDeletion: false })
    const freed = isCircle ? await this.#setOwners(node, free, signal) : node
    await this.#delete(freed, 'Foreground', signal)
  }

  async #stateOf(reference: OwnerReference, node: Node, signal: AbortSignal): Promise<OwnerState> {
    const owner = this.#options.graph.get(reference.uid)
    if (owner !== undefined && isNamedBy(owner, reference, node)) return stateOf(owner)
    const { group } = parseApiVersion(reference.apiVersion)
    const resource = this.#options.resources.find(
      each => each.kind === reference.kind && each.group === group,
    )
    const { namespace } = node.metadata
    // Of kinds that are not served here, and of what an object of the whole cluster says about a namespace, nothing is
    // known: such an owner cannot be called gone.
    if (resource === undefined || (resource.namespaced && namespace === undefined)) return 'there'
    const ref =
      resource.namespaced && namespace !== undefined
        ? { namespace, name: reference.name }
        : { name: reference.name }
    return this.#liveState(resource, ref, reference.uid, signal)
  }

  async #liveState(
    resource: DiscoveredResource,
    ref: Ref,
    uid: string,
    signal: AbortSignal,
  ): Promise<OwnerState> {
    const key = `${uid} ${resource.plural}.${resource.group} ${keyOf(ref)}`
    if (this.#gone.has(key)) return 'gone'
    try {
      const { metadata } = await this.#options.cluster.get(resource, ref, signal)
      if (metadata.uid === uid) return stateOf({ metadata })
    } catch (thrown) {
      if (!isReason(thrown, 'NotFound')) throw thrown
    }
    if (this.#gone.size >= maxGone) this.#gone.clear()
    this.#gone.add(key)
    return 'gone'
  }

  async #delete(
    { resource, metadata }: Node,
    propagationPolicy: 'Background' | 'Foreground' | 'Orphan',
    signal: AbortSignal,
  ): Promise<void> {
    const { uid, resourceVersion } = metadata
    const conditions = {
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    }
    try {
      await this.#options.cluster.delete(resource, refOf(metadata), {
        ...conditions,
        propagationPolicy,
        signal,
      })
    } catch (thrown) {
      if (!isReason(thrown, 'NotFound')) throw thrown
      return
    }
    this.#options.log.info('garbage collected', { resource: resource.plural, key: keyOf(refOf(metadata)) })
  }

  /** The object with other ownerReferences, as it is afterwards. */
  async #setOwners(
    node: Node,
    change: (reference: OwnerReference) => OwnerReference | undefined,
    signal: AbortSignal,
  ): Promise<Node> {
    const owners = ownersOf(node).flatMap(reference => change(reference) ?? [])
    return this.#patch(node, { ownerReferences: owners.length === 0 ? null : owners }, signal)
  }

  async #dropFinalizer(node: Node, finalizer: string, signal: AbortSignal): Promise<void> {
    const finalizers = (node.metadata.finalizers ?? []).filter(other => other !== finalizer)
    await this.#patch(node, { finalizers: finalizers.length === 0 ? null : finalizers }, signal)
  }

  async #patch(node: Node, change: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<Node> {
    const { resource, metadata } = node
    const { uid, resourceVersion } = metadata
    try {
      const patch = { metadata: { uid, resourceVersion, ...change } }
      const patched = await this.#options.cluster.mergePatch(resource, refOf(metadata), patch, { signal })
      return { ...node, metadata: patched.metadata }
    } catch (thrown) {
      if (isReason(thrown, 'NotFound')) return node
      throw thrown
    }
  }
}

function stateOf(owner: { readonly metadata: ObjectMeta }): OwnerState {
  return isWaitingWith(owner, foregroundFinalizer) ? 'waiting' : 'there'
}

function policyOf({ metadata }: Node): 'Background' | 'Foreground' | 'Orphan' {
  const { finalizers = [] } = metadata
  if (finalizers.includes(orphanFinalizer)) return 'Orphan'
  return finalizers.includes(foregroundFinalizer) ? 'Foreground' : 'Background'
}

function refOf({ namespace, name }: ObjectMeta): Ref {
  return namespace === undefined ? { name } : { namespace, name }
}
