/**
 * Deletes objects whose owners are gone, as the garbage collector of kube-controller-manager: in the background, before
 * the owner (`foregroundDeletion`) or not at all (`orphan`). It keeps only the metadata of objects.
 */
import type { Cluster, DiscoveredResource } from '../cluster/cluster.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import { WorkQueue } from '../kernel/work-queue.ts'
import { Collector } from './collector.ts'
import { offers } from './deletable.ts'
import type { FeedListener, ObjectFeed, Seen } from './object-feed.ts'
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
  /** What is done goes through it, like that of everybody else. */
  readonly cluster: Cluster
  readonly objects: ObjectFeed
  readonly clock: Clock
  readonly log: Logger
}

/** Nobody owns by them, nobody should own them, and there are many. */
const ignored: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io'])

/** Runs until the signal aborts. Resolves when it knows all objects; rejects when it cannot learn what there is. */
export async function startGarbageCollection(
  options: GarbageCollectionOptions,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, objects, clock, log } = options
  const discovered = await cluster.discover(signal)
  const graph = new OwnerGraph()
  const collector = new Collector({ cluster, resources: discovered, graph, log })
  const queue = new WorkQueue(
    { name: 'garbage collection', clock, log, concurrency: 4 },
    (uid, inner) => collector.collect(uid, inner),
    signal,
  )
  const resources = new Map(discovered.filter(isCollected).map(each => [nameOf(each), each]))
  const watcher = new GraphWatcher(graph, resources, uid => queue.add(uid))
  await objects([...resources.keys()], watcher, signal)
}

function nameOf({ plural, group }: DiscoveredResource): string {
  return group === '' ? plural : `${plural}.${group}`
}

function isCollected(resource: DiscoveredResource): boolean {
  return offers(resource, 'delete', 'list', 'watch') && !ignored.has(nameOf(resource))
}

/** Keeps the graph and says which objects must be looked at. */
class GraphWatcher implements FeedListener {
  readonly #graph: OwnerGraph
  readonly #resources: ReadonlyMap<string, DiscoveredResource>
  readonly #lookAt: (uid: string) => void

  constructor(
    graph: OwnerGraph,
    resources: ReadonlyMap<string, DiscoveredResource>,
    lookAt: (uid: string) => void,
  ) {
    this.#graph = graph
    this.#resources = resources
    this.#lookAt = lookAt
  }

  reset(objects: readonly Seen[]): void {
    const nodes = objects.flatMap(object => this.#nodeOf(object) ?? [])
    const there = new Set(nodes.map(node => node.uid))
    const gone = [...this.#graph.all()].filter(node => !there.has(node.uid))
    // An owner that is not in the graph may only come later in the list: nothing is judged before all are there.
    const known = nodes.map(node => this.#graph.put(node))
    for (const node of gone) this.#graph.remove(node.uid)
    for (const node of gone) this.#afterRemoval(node)
    for (const [at, node] of nodes.entries()) this.#afterPut(node, known[at])
  }

  put(object: Seen): void {
    const node = this.#nodeOf(object)
    if (node !== undefined) this.#afterPut(node, this.#graph.put(node))
  }

  removed(object: Seen): void {
    const node = this.#nodeOf(object)
    if (node === undefined) return
    this.#graph.remove(node.uid)
    this.#afterRemoval(node)
  }

  #nodeOf({ resource, metadata }: Seen): Node | undefined {
    const discovered = this.#resources.get(resource)
    const { uid } = metadata
    return discovered === undefined || uid === undefined ? undefined : { uid, resource: discovered, metadata }
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
