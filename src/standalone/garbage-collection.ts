/**
 * Deletes objects whose owners are gone, as the garbage collector of kube-controller-manager: in the background, before
 * the owner (`foregroundDeletion`) or not at all (`orphan`). It keeps only the metadata of objects.
 */
import type { KubeObject } from '../api/meta.ts'
import type { Change, Cluster, DiscoveredResource } from '../cluster/cluster.ts'
import { startInformer } from '../cluster/informer.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { WorkQueue } from '../kernel/work-queue.ts'
import { Collector } from './collector.ts'
import { bareSource, offers } from './deletable.ts'
import {
  foregroundFinalizer,
  isNamedBy,
  isWaitingWith,
  type Node,
  OwnerGraph,
  orphanFinalizer,
  ownersOf,
} from './owner-graph.ts'

export type GarbageCollectionOptions = {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: Logger
}

/** Nobody owns by them, nobody should own them, and there are many. */
const ignored: ReadonlySet<string> = new Set(['events.', 'events.events.k8s.io'])

/** Runs until the signal aborts. Resolves when it knows all objects; rejects when it cannot learn what there is. */
export async function startGarbageCollection(
  options: GarbageCollectionOptions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, clock, log } = options
  const discovered = await cluster.discover(signal)
  const resources = discovered.filter(isCollected)
  const graph = new OwnerGraph()
  const collector = new Collector({ cluster, resources: discovered, graph, log })
  const queue = new WorkQueue(
    { name: 'garbage collection', clock, log, concurrency: 4 },
    (uid, inner) => collector.collect(uid, inner),
    signal,
  )
  const watcher = new GraphWatcher(graph, uid => queue.add(uid))
  const source = bareSource(cluster)
  const informers = resources.map(resource => {
    const informer = startInformer(source, resource, { clock, log }, signal)
    informer.onChange(change => watcher.note(resource, change))
    return informer
  })
  await Promise.all(informers.map(informer => informer.synced))
  watcher.begin()
}

function isCollected(resource: DiscoveredResource): boolean {
  return offers(resource, 'delete', 'list', 'watch') && !ignored.has(`${resource.plural}.${resource.group}`)
}

/** Keeps the graph and says which objects must be looked at. */
class GraphWatcher {
  readonly #graph: OwnerGraph
  readonly #lookAt: (uid: string) => void
  /** Until everything is known, an owner that is not in the graph may only not have been listed yet. */
  #isComplete: boolean = false

  constructor(graph: OwnerGraph, lookAt: (uid: string) => void) {
    this.#graph = graph
    this.#lookAt = lookAt
  }

  begin(): void {
    this.#isComplete = true
    for (const node of this.#graph.all()) this.#afterPut(node, undefined)
  }

  note(resource: DiscoveredResource, { before, after }: Change<KubeObject>): void {
    const object = after ?? before
    const { uid } = object?.metadata ?? {}
    if (object === undefined || uid === undefined) return
    const known = this.#graph.get(uid)
    const node: Node = { uid, resource, metadata: object.metadata }
    if (after === undefined) this.#graph.remove(uid)
    else this.#graph.put(node)
    if (!this.#isComplete) return
    if (after === undefined) this.#afterRemoval(node)
    else this.#afterPut(node, known)
  }

  #afterPut(node: Node, before: Node | undefined): void {
    if (this.#mayBeGarbage(node) || isWaitingWith(node, orphanFinalizer)) this.#lookAt(node.uid)
    if (isWaitingWith(node, foregroundFinalizer)) {
      this.#lookAt(node.uid)
      for (const dependent of this.#graph.dependentsOf(node.uid)) this.#lookAt(dependent.uid)
    }
    if (before !== undefined) this.#lookAtWaitingOwners(before)
  }

  #afterRemoval(node: Node): void {
    for (const dependent of this.#graph.dependentsOf(node.uid)) this.#lookAt(dependent.uid)
    this.#lookAtWaitingOwners(node)
  }

  #mayBeGarbage(node: Node): boolean {
    return ownersOf(node).some(reference => {
      const owner = this.#graph.get(reference.uid)
      return (
        owner === undefined || !isNamedBy(owner, reference, node) || isWaitingWith(owner, foregroundFinalizer)
      )
    })
  }

  #lookAtWaitingOwners(node: Node): void {
    for (const { uid } of ownersOf(node)) {
      const owner = this.#graph.get(uid)
      if (owner !== undefined && isWaitingWith(owner, foregroundFinalizer)) this.#lookAt(uid)
    }
  }
}
