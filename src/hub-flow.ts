/** The ordered stages of the flow on the hub: merge → allocate. */
import { Allocator } from './allocate/allocator.ts'
import { memberNamespace } from './api/cluster-id.ts'
import { type ClusterSetService, ClusterSetServiceKind } from './api/kinds/cluster-set-service.ts'
import { ExportedServiceKind } from './api/kinds/exported-service.ts'
import { type MemberCluster, MemberClusterKind } from './api/kinds/member-cluster.ts'
import { type Change, type Cluster, type Informer, resource } from './cluster/cluster.ts'
import { startInformer } from './cluster/informer.ts'
import { equalJson } from './cluster/json.ts'
import { Writer } from './cluster/writer.ts'
import type { Member } from './contract.ts'
import { type Clock, fromTime } from './kernel/clock.ts'
import type { Logger } from './kernel/log.ts'
import type { Metrics } from './kernel/metrics.ts'
import { WorkQueue } from './kernel/work-queue.ts'
import { MergeController } from './merge/controller.ts'

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
}

/** Runs until the signal aborts. Throws when a CIDR is none. */
export function startHubFlow(options: HubFlowOptions, signal: AbortSignal): HubFlow {
  const { clock, hub } = options
  const log = options.log.child({ flow: 'hub' })
  const allocator = new Allocator(options.clusterSetCidrs)
  const memberClusters = startInformer(hub, resource(MemberClusterKind), { clock, log }, signal)
  const exportedServices = startInformer(hub, resource(ExportedServiceKind), { clock, log }, signal)
  const clusterSetServices = startInformer(hub, resource(ClusterSetServiceKind), { clock, log }, signal)
  const members = new Members(memberClusters)
  const controller = new MergeController({
    hub,
    writer: new Writer(hub, options.metrics),
    exportedServices,
    clusterSetServices,
    members: () => members.list(),
    allocator,
    quarantineMs: options.quarantineMs,
    clock,
    log,
    requeue: (key, delayMs) => queue.addAfter(key, delayMs),
  })
  const queue = new WorkQueue(
    { name: 'merge', clock, log, concurrency: 8 },
    (key, keySignal) => controller.reconcile(key, keySignal),
    signal,
  )
  observePools(allocator, options.metrics)
  const start = async (): Promise<void> => {
    await Promise.all([memberClusters.synced, exportedServices.synced, clusterSetServices.synced])
    // Before anything is handed out: the older of two that hold one address keeps it.
    for (const service of [...clusterSetServices.list()].sort(byAge)) adopt(allocator, service)
    allocator.onFree(owner => queue.add(owner))
    clusterSetServices.onChange(({ before, after }) => {
      if (after !== undefined) adopt(allocator, after)
      queue.add((after ?? before)?.metadata.name ?? '')
    })
    exportedServices.onChange(({ before, after }) => queue.add((after ?? before)?.metadata.name ?? ''))
    members.onChange(namespace => {
      for (const { metadata } of exportedServices.list(namespace)) queue.add(metadata.name)
    })
  }
  const started = start()
  started.catch(() => undefined)
  return { started }
}

function adopt(allocator: Allocator, { metadata, status }: ClusterSetService): void {
  allocator.adopt(metadata.name, status.addresses)
}

function byAge(a: ClusterSetService, b: ClusterSetService): number {
  const text = ({ metadata }: ClusterSetService): string =>
    `${metadata.creationTimestamp ?? ''} ${metadata.name}`
  return text(a) < text(b) ? -1 : 1
}

function observePools(allocator: Allocator, metrics: Metrics): void {
  const labels = ['family']
  metrics.gaugeFrom(
    {
      name: 'isthmus_allocate_held_addresses',
      help: 'ClusterSetIPs that services hold, published or not.',
      labels,
    },
    () => allocator.usage().map(({ family, used }) => ({ labels: { family }, value: used })),
  )
  metrics.gaugeFrom(
    {
      name: 'isthmus_allocate_pool_addresses',
      help: 'ClusterSetIPs that there are in all, held or free.',
      labels,
    },
    () => allocator.usage().map(({ family, size }) => ({ labels: { family }, value: Number(size) })),
  )
}

/** The members as the merge needs them, and whose exports are touched when one changes. */
class Members {
  readonly #informer: Informer<MemberCluster>
  #list: readonly Member[] | undefined

  constructor(informer: Informer<MemberCluster>) {
    this.#informer = informer
    informer.onChange(() => {
      this.#list = undefined
    })
  }

  list(): readonly Member[] {
    this.#list ??= this.#informer.list().map(memberOf)
    return this.#list
  }

  /** Told of the namespace of each member of whose record more than its heartbeat has changed. */
  onChange(listener: (namespace: string) => void): void {
    this.#informer.onChange(({ before, after }: Change<MemberCluster>) => {
      const [old, now] = [before && memberOf(before), after && memberOf(after)]
      if (equalJson(old, now)) return
      for (const namespace of new Set([old?.namespace, now?.namespace])) {
        if (namespace !== undefined) listener(namespace)
      }
    })
  }
}

function memberOf({ metadata, spec, status }: MemberCluster): Member {
  const acceptedMs = fromTime(status?.firstAcceptedTime ?? '')
  const effects = (spec.taints ?? []).map(taint => taint.effect)
  return {
    cluster: metadata.name,
    namespace: status?.namespace ?? memberNamespace(metadata.name),
    accepted: spec.accepted && metadata.deletionTimestamp === undefined,
    // Until it is written down it was accepted just now: younger than all others.
    acceptedMs: Number.isNaN(acceptedMs) ? Number.MAX_SAFE_INTEGER : acceptedMs,
    namespaces: spec.namespaces,
    taint: effects.includes('NoImport') ? 'NoImport' : effects[0],
  }
}
