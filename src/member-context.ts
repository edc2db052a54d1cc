/** What the stages of the flow in a member are wired with. */
import { EndpointSliceKind } from './api/kinds/endpoint-slice.ts'
import { ExportedEndpointSliceKind } from './api/kinds/exported-endpoint-slice.ts'
import { ExportedServiceKind } from './api/kinds/exported-service.ts'
import { ImportableKind } from './api/kinds/importable.ts'
import { ImportedServiceKind } from './api/kinds/imported-service.ts'
import { NamespaceKind } from './api/kinds/namespace.ts'
import { ServiceKind } from './api/kinds/service.ts'
import { ServiceExportKind } from './api/kinds/service-export.ts'
import { ServiceImportKind } from './api/kinds/service-import.ts'
import { membershipRefusal } from './api/membership-refusal.ts'
import type { ObjectMeta } from './api/meta.ts'
import { type Cluster, type Ref, type Resource, refOf, resource } from './cluster/cluster.ts'
import { startInformer } from './cluster/informer.ts'
import { Writer } from './cluster/writer.ts'
import type { Routing } from './derive/desired.ts'
import { SliceSources } from './endpoints/sources.ts'
import { type Collected, collect } from './export/collect.ts'
import type { Networks } from './heartbeat/lease.ts'
import { HubStanding } from './hub-standing.ts'
import type { Family } from './ip/address.ts'
import type { Clock } from './kernel/clock.ts'
import { isReason } from './kernel/errors.ts'
import type { Logger } from './kernel/log.ts'
import type { Metrics } from './kernel/metrics.ts'
import { type Pace, paceOf } from './kernel/pace.ts'
import { Propagation } from './kernel/propagation.ts'
import { WorkQueue } from './kernel/work-queue.ts'

export type MemberFlowOptions = {
  /** The id of this cluster. */
  readonly cluster: string
  /** The API servers of this cluster, as one. */
  readonly local: Cluster
  readonly hub: Cluster
  /** The namespace on the hub in which this member writes. */
  readonly hubNamespace: string
  /** The families that pods of this cluster can reach. */
  readonly families: readonly Family[]
  /** The blocks of addresses that this cluster uses by itself, as they are known by now. */
  networks(): Networks
  /** Told when others are known. */
  onNetworks(listener: () => void): void
  /** The authorities of the hub that this cluster trusts, by name. */
  trusts(): readonly string[]
  /** How often the hub is told that this cluster is there. */
  readonly heartbeatMs: number
  /** At most so many objects a second are written in the cluster, and as many on the hub. */
  readonly writesPerSecond: number
  /** How the cluster routes packets to imports; absent where nothing does. */
  readonly routing?: Routing | undefined
  /** The Service by which the cluster finds this member; absent where nothing does. */
  readonly service?: Ref | undefined
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

type Reconcile = (ref: Ref, signal: AbortSignal) => Promise<void>

export type MemberContext = MemberFlowOptions & {
  readonly signal: AbortSignal
  readonly propagation: Propagation
  /** What the answers of `hub` say of this member. */
  readonly standing: HubStanding
  readonly informers: ReturnType<typeof startInformers>
  /** Of all slices, kept current by `member-flow.ts` before anything else is told of a change. */
  readonly sources: SliceSources
  /** Of all that is written in the cluster. */
  readonly localPace: Pace
  readonly localWriter: Writer
  readonly hubWriter: Writer
  /** What the export of this name comes to now; undefined when there is none. */
  collected(service: Ref): Collected | undefined
  /**
   * A queue of objects. Keys that failed because a server was away, or because the hub refuses this member, come back
   * with their backoff, or as soon as `writer` has reached it and as soon as the hub accepts this member again.
   */
  queue(name: string, writer: Writer, reconcile: Reconcile): WorkQueue
}

export function makeContext(given: MemberFlowOptions, signal: AbortSignal): MemberContext {
  const log = given.log.child({ flow: 'member', member: given.cluster })
  const standing = new HubStanding(given.cluster, log)
  const options = { ...given, hub: standing.observe(given.hub) }
  const informers = startInformers({ ...options, log }, signal)
  const localPace = paceOf(options.writesPerSecond, options.clock)
  const localWriter = new Writer(options.local, options.metrics, localPace)
  const hubWriter = new Writer(options.hub, options.metrics, paceOf(options.writesPerSecond, options.clock))
  informOfWrites(informers, localWriter, hubWriter)
  return {
    ...options,
    log,
    signal,
    propagation: new Propagation(options.metrics, options.clock),
    standing,
    informers,
    sources: new SliceSources(options.cluster),
    localPace,
    localWriter,
    hubWriter,
    collected: service => collect(informers.serviceExports.get(service), informers.services.get(service)),
    queue: (name, writer, reconcile) => {
      const failed = new Set<string>()
      const queue = new WorkQueue(
        { name, clock: options.clock, log, concurrency: 8 },
        async (key, keySignal) => {
          try {
            await reconcile(refOf(key), keySignal)
          } catch (thrown) {
            if (comesBack(thrown, options.cluster)) failed.add(key)
            throw thrown
          }
        },
        signal,
      )
      const retry = (): void => {
        for (const key of failed) queue.add(key)
        failed.clear()
      }
      writer.onWritten(retry)
      standing.onChange(() => {
        if (standing.refusal === undefined) retry()
      })
      return queue
    },
  }
}

function comesBack(thrown: unknown, cluster: string): boolean {
  const isAway = isReason(thrown, 'ServiceUnavailable', 'Timeout', 'ServerTimeout')
  return isAway || membershipRefusal(thrown, cluster) !== undefined
}

function informOfWrites(informers: ReturnType<typeof startInformers>, local: Writer, hub: Writer): void {
  local.informs(resource(ServiceExportKind), informers.serviceExports)
  local.informs(resource(ServiceImportKind), informers.serviceImports)
  local.informs(resource(ServiceKind), informers.services)
  local.informs(resource(EndpointSliceKind), informers.endpointSlices)
  hub.informs(resource(ExportedServiceKind), informers.exportedServices)
  hub.informs(resource(ExportedEndpointSliceKind), informers.exportedSlices)
  hub.informs(resource(ImportedServiceKind), informers.importedServices)
}

function startInformers(options: MemberFlowOptions, signal: AbortSignal) {
  const { clock, hub, hubNamespace, local, log } = options
  const here = <O extends { readonly metadata: ObjectMeta }>(of: Resource<O>) =>
    startInformer(local, of, { clock, log }, signal)
  const there = <O extends { readonly metadata: ObjectMeta }>(of: Resource<O>) =>
    startInformer(hub, of, { namespace: hubNamespace, clock, log }, signal)
  return {
    serviceExports: here(resource(ServiceExportKind)),
    serviceImports: here(resource(ServiceImportKind)),
    services: here(resource(ServiceKind)),
    endpointSlices: here(resource(EndpointSliceKind)),
    namespaces: here(resource(NamespaceKind)),
    exportedServices: there(resource(ExportedServiceKind)),
    exportedSlices: there(resource(ExportedEndpointSliceKind)),
    importables: there(resource(ImportableKind)),
    importedServices: there(resource(ImportedServiceKind)),
  }
}
