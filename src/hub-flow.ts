/** The ordered stages of the flow on the hub: merge → allocate. Beside them it observes who is there: heartbeat. */
import { Allocator } from './allocate/allocator.ts'
import { observePools } from './allocate/instruments.ts'
import { newlyChanged } from './api/changed.ts'
import { type ClusterSetService, ClusterSetServiceKind } from './api/kinds/cluster-set-service.ts'
import { ExportedServiceKind } from './api/kinds/exported-service.ts'
import { ImportedServiceKind } from './api/kinds/imported-service.ts'
import { type MemberCluster, MemberClusterKind } from './api/kinds/member-cluster.ts'
import type { KubeObject } from './api/meta.ts'
import { type Change, type Cluster, type Informer, resource } from './cluster/cluster.ts'
import { EventRecorder } from './cluster/event-recorder.ts'
import { startInformer } from './cluster/informer.ts'
import { equalJson } from './cluster/json.ts'
import { Writer } from './cluster/writer.ts'
import { observeMembers } from './heartbeat/instruments.ts'
import { heartbeatName, leases } from './heartbeat/lease.ts'
import { MemberObserver } from './heartbeat/observe.ts'
import { parseCidr } from './ip/cidr.ts'
import { background } from './kernel/abort.ts'
import type { Clock } from './kernel/clock.ts'
import type { Logger } from './kernel/log.ts'
import type { Metrics } from './kernel/metrics.ts'
import { Leg, Propagation } from './kernel/propagation.ts'
import { every, WorkQueue } from './kernel/work-queue.ts'
import { MergeController } from './merge/controller.ts'
import { Members } from './merge/members.ts'
import { byteOrder } from './merge/precedence.ts'

export type HubFlowOptions = {
  /** The hub's own API server. */
  readonly hub: Cluster
  /** Blocks of ClusterSetIPs, of either family. */
  readonly clusterSetCidrs: readonly string[]
  /** How long the addresses of a service that nobody exports any more stay reserved for it. */
  readonly quarantineMs: number
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

export type HubFlow = {
  /** Resolves when everything that the hub holds has been read and the controllers run. */
  readonly started: Promise<void>
  /**
   * Other blocks from now on: every service has its turn, members are looked at again. Throws, and changes nothing, when
   * one is no CIDR or overlaps another.
   */
  setPools(cidrs: readonly string[]): void
}

type Wiring = Omit<HubFlowOptions, 'clusterSetCidrs'> & {
  readonly memberClusters: Informer<MemberCluster>
  readonly writer: Writer
  readonly signal: AbortSignal
}

/** How often it is looked for members that have fallen silent. */
const silenceCheckMs = 5_000

/** Runs until the signal aborts. Throws when a CIDR is none. */
export function startHubFlow(options: HubFlowOptions, signal: AbortSignal): HubFlow {
  const { clock, hub } = options
  const log = options.log.child({ flow: 'hub' })
  const allocator = new Allocator(options.clusterSetCidrs)
  const memberClusters = startInformer(hub, resource(MemberClusterKind), { clock, log }, signal)
  const writer = new Writer(hub, options.metrics)
  writer.informs(resource(MemberClusterKind), memberClusters)
  const wiring = { ...options, log, memberClusters, writer, signal }
  const pools = new Pools(allocator, log)
  const started = Promise.all([startMerging(wiring, allocator, pools), startObserving(wiring, pools)]).then(
    () => undefined,
  )
  started.catch(() => undefined)
  return { started, setPools: cidrs => pools.set(cidrs) }
}

/** The blocks of the allocator, and who has to know of others. */
class Pools {
  readonly #allocator: Allocator
  readonly #log: Logger
  readonly #listeners: (() => void)[] = []

  constructor(allocator: Allocator, log: Logger) {
    this.#allocator = allocator
    this.#log = log
  }

  get blocks(): readonly string[] {
    return this.#allocator.blocks
  }

  onChange(listener: () => void): void {
    this.#listeners.push(listener)
  }

  set(cidrs: readonly string[]): void {
    const before = this.#allocator.blocks
    const after = cidrs.map(text => parseCidr(text)?.text ?? text)
    if (equalJson(before.toSorted(byteOrder), after.toSorted(byteOrder))) return
    this.#allocator.setBlocks(after)
    const { outside } = this.#allocator
    this.#log.info('the pools of ClusterSetIPs have changed', { before: before.join(), after: after.join() })
    if (outside.length > 0) {
      const services = { services: outside.length, first: outside[0] }
      this.#log.warn(
        'services keep addresses of a block that was taken out, until nobody exports them',
        services,
      )
    }
    for (const listener of this.#listeners) listener()
  }
}

async function startMerging(wiring: Wiring, allocator: Allocator, pools: Pools): Promise<void> {
  const { clock, hub, log, memberClusters, signal, writer } = wiring
  const exportedServices = startInformer(hub, resource(ExportedServiceKind), { clock, log }, signal)
  const clusterSetServices = startInformer(hub, resource(ClusterSetServiceKind), { clock, log }, signal)
  const importedServices = startInformer(hub, resource(ImportedServiceKind), { clock, log }, signal)
  writer.informs(resource(ExportedServiceKind), exportedServices)
  writer.informs(resource(ClusterSetServiceKind), clusterSetServices)
  const members = new Members(memberClusters)
  const controller = new MergeController({
    hub,
    writer,
    exportedServices,
    clusterSetServices,
    importedServices,
    members: () => members.list(),
    allocator,
    quarantineMs: wiring.quarantineMs,
    clock,
    log,
    metrics: wiring.metrics,
    requeue: (key, delayMs) => queue.addAfter(key, delayMs),
  })
  const propagation = new Propagation(wiring.metrics, clock)
  const merged = new Leg({ propagation, way: 'export', stage: 'merge' })
  const queue = new WorkQueue(
    { name: 'merge', clock, log, concurrency: 8 },
    (key, keySignal) => merged.carry(key, changed => controller.reconcile(key, changed, keySignal)),
    signal,
  )
  observePools(allocator, wiring.metrics)
  await Promise.all(
    [memberClusters, exportedServices, clusterSetServices, importedServices].map(({ synced }) => synced),
  )
  // Before anything is handed out: the older of two that hold one address keeps it.
  for (const service of [...clusterSetServices.list()].sort(byAge)) adopt(allocator, service)
  allocator.onFree(owner => queue.add(owner))
  clusterSetServices.onChange(({ before, after }) => {
    if (after !== undefined) adopt(allocator, after)
    queue.add((after ?? before)?.metadata.name ?? '')
  })
  exportedServices.onChange(({ before, after }) => {
    if (before?.metadata.generation === after?.metadata.generation) return
    const changed = newlyChanged(before, after)
    const key = (after ?? before)?.metadata
    if (key !== undefined) merged.note(key.name, changed && { ...changed, by: key.namespace })
  })
  for (const informer of [exportedServices, importedServices]) {
    informer.onChange(({ before, after }: Change<KubeObject>) =>
      queue.add((after ?? before)?.metadata.name ?? ''),
    )
  }
  pools.onChange(() => {
    for (const { metadata } of exportedServices.list()) queue.add(metadata.name)
  })
  members.onChange(namespace => {
    for (const informer of [exportedServices, importedServices])
      for (const { metadata } of informer.list(namespace)) queue.add(metadata.name)
  })
}

async function startObserving(wiring: Wiring, pools: Pools): Promise<void> {
  const { clock, hub, log, memberClusters, metrics, signal, writer } = wiring
  const ofMembers = { fieldSelector: `metadata.name=${heartbeatName}`, clock, log }
  const heartbeats = startInformer(hub, leases, ofMembers, signal)
  const events = new EventRecorder({ cluster: hub, component: 'isthmus-hub', clock, log })
  const observer = new MemberObserver({
    memberClusters,
    pools: () => pools.blocks,
    writer,
    events,
    clock,
    log,
  })
  const queue = new WorkQueue(
    { name: 'members', clock, log, concurrency: 8 },
    (id, inner) => observer.reconcile(id, inner),
    signal,
  )
  observeMembers(memberClusters, metrics)
  await Promise.all([memberClusters.synced, heartbeats.synced])
  memberClusters.onChange(({ before, after }) => {
    if (after !== undefined) queue.add(after.metadata.name)
    else if (before !== undefined) observer.forget(before.metadata.name)
  })
  pools.onChange(() => {
    for (const { metadata } of memberClusters.list()) queue.add(metadata.name)
  })
  heartbeats.onChange(change => {
    const id = observer.hear(change)
    if (id !== undefined) queue.add(id)
  })
  const task = { name: 'look for silent members', intervalMs: silenceCheckMs, clock, log }
  const look = async (): Promise<void> => {
    for (const id of observer.silent()) queue.add(id)
  }
  background(task.name, log, signal, () => every(task, look, signal))
}

function adopt(allocator: Allocator, { metadata, status }: ClusterSetService): void {
  allocator.adopt(metadata.name, status.addresses)
}

function byAge(a: ClusterSetService, b: ClusterSetService): number {
  const text = ({ metadata }: ClusterSetService): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return text(a) < text(b) ? -1 : 1
}
