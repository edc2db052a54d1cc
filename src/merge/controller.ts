/**
 * Stage `merge`, on the hub. Owns ClusterSetServices and the status of ExportedServices.
 * Promises: what a service is depends on the exports that count and on nothing else; addresses are written down before they
 * are seen, and given away only when nothing that was written holds them.
 * Refuses: exports of clusters that are not accepted, and of namespaces that a cluster does not take part in.
 */
import { withChanged } from '../api/changed.ts'
import { type ClusterSetService, ClusterSetServiceKind } from '../api/kinds/cluster-set-service.ts'
import { type ExportedService, ExportedServiceKind } from '../api/kinds/exported-service.ts'
import type { ImportedService } from '../api/kinds/imported-service.ts'
import { type Cluster, type Informer, resource } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'
import type { Writer } from '../cluster/writer.ts'
import type { AddressAllocator, Contribution, Member } from '../contract.ts'
import { type Clock, fromTime, toTime } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Carried, Changed } from '../kernel/propagation.ts'
import { conflictsIn, mergeForAll, type Outcome } from './audiences.ts'
import {
  type Assign,
  desiredConditions,
  desiredService,
  releasedService,
  type Standing,
  standingOf,
  type Told,
} from './desired.ts'
import { MergeInstruments } from './instruments.ts'
import { takenBy } from './taken.ts'

export type MergeOptions = {
  readonly hub: Cluster
  readonly writer: Writer
  readonly exportedServices: Informer<ExportedService>
  readonly clusterSetServices: Informer<ClusterSetService>
  readonly importedServices: Informer<ImportedService>
  members(): readonly Member[]
  readonly allocator: AddressAllocator
  /** How long the addresses of a service that nobody exports any more stay reserved for it. */
  readonly quarantineMs: number
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
  /** Brings a key back. */
  requeue(key: string, delayMs: number): void
}

type Claim = { readonly exported: ExportedService; readonly standing: Standing }
type Writing = { readonly changed: Changed | undefined; readonly signal: AbortSignal }
type Published = { readonly merged: Outcome; readonly service: ClusterSetService }

const services = resource(ClusterSetServiceKind)
const exportedServices = resource(ExportedServiceKind)

/**
 * Keeps one ClusterSetService what its exports come to, and tells each export. Keys are names of ClusterSetServices,
 * which are those of the ExportedServices too.
 */
export class MergeController {
  readonly #options: MergeOptions
  readonly #instruments: MergeInstruments

  constructor(options: MergeOptions) {
    this.#options = options
    this.#instruments = new MergeInstruments(options.metrics)
  }

  /** `changed`: when the change was seen that this is for, and by whom. Carried on is what members are told of. */
  async reconcile(key: string, changed: Changed | undefined, signal: AbortSignal): Promise<Carried> {
    const { clock } = this.#options
    const startMs = clock.now()
    try {
      return await this.#reconcile(key, { changed, signal })
    } finally {
      this.#instruments.took(clock.now() - startMs)
    }
  }

  async #reconcile(key: string, writing: Writing): Promise<Carried> {
    const { signal } = writing
    const claims = this.#claims(key)
    this.#comeBack(key, claims)
    const counting = claims.flatMap(({ standing }) => (standing.counts ? [standing.contribution] : []))
    const outcome = mergeForAll(counting)
    this.#instruments.merged(key, outcome === undefined ? [] : conflictsIn(outcome))
    if (outcome === undefined) {
      await this.#tell(claims, undefined, signal)
      return this.#retire(key, signal)
    }
    const before = this.#options.clusterSetServices.get({ name: key })
    const service = await this.#publish(key, outcome, writing)
    if (service === undefined) return 'behind'
    await this.#tell(claims, { merged: outcome, service }, signal)
    return service === before ? 'unchanged' : 'written'
  }

  #claims(key: string): readonly Claim[] {
    const nowMs = this.#options.clock.now()
    return this.#options.members().flatMap(member => {
      const exported = this.#options.exportedServices.get({ namespace: member.namespace, name: key })
      const standing = exported && standingOf(member, exported, nowMs)
      return exported === undefined || standing === undefined ? [] : [{ exported, standing }]
    })
  }

  /** For when an export counts otherwise though nothing is written. */
  #comeBack(key: string, claims: readonly Claim[]): void {
    const { clock, requeue } = this.#options
    for (const { standing } of claims) {
      const atMs = standing.counts ? standing.changesAtMs : undefined
      if (atMs !== undefined) requeue(key, Math.max(0, atMs - clock.now()))
    }
  }

  async #publish(
    key: string,
    merged: Outcome,
    { changed, signal }: Writing,
  ): Promise<ClusterSetService | undefined> {
    const { allocator, clusterSetServices, writer, log } = this.#options
    const current = clusterSetServices.get({ name: key })
    const assign: Assign = ({ type, ipFamilies }) =>
      allocator.assign(key, type === 'ClusterSetIP' ? ipFamilies : [], merged.all.addresses)
    const desired = desiredService(identityOf(key), merged, assign, current)
    const dated = { ...desired, metadata: withChanged(desired.metadata, changed) }
    if (current === undefined) {
      const created = await writer.create(services, dated, signal)
      if (created !== undefined)
        log.info('service created', { service: key, ips: desired.spec.ips.join(',') })
      return created
    }
    if (equalJson(current, desired)) return current
    return writer.replace(services, dated, {}, signal)
  }

  async #tell(claims: readonly Claim[], outcome: Published | undefined, signal: AbortSignal): Promise<void> {
    await Promise.all(
      claims.map(({ exported, standing }) => this.#tellOne(exported, standing, outcome, signal)),
    )
  }

  async #tellOne(
    exported: ExportedService,
    standing: Standing,
    outcome: Published | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const time = toTime(this.#options.clock.now())
    const told = outcome && standing.counts ? this.#toldTo(standing.contribution, outcome) : undefined
    const status = {
      observedGeneration: exported.metadata.generation ?? 0,
      conditions: desiredConditions(exported, standing, told, time),
    }
    if (equalJson(exported.status, status)) return
    await this.#options.writer.replace(
      exportedServices,
      { ...exported, status },
      { subresource: 'status' },
      signal,
    )
  }

  #toldTo({ cluster, consumers }: Contribution, { merged, service }: Published): Told {
    return {
      cluster,
      conflicts: conflictsIn(merged, cluster),
      service,
      // Asked of all members, and of use only where somebody chose.
      taken: consumers && takenBy(consumers, this.#importers(service.metadata.name)),
    }
  }

  /** The members that have reported the import. */
  #importers(key: string): ReadonlySet<string> {
    const { importedServices, members } = this.#options
    const importing = members().filter(
      ({ accepted, namespace }) => accepted && importedServices.get({ namespace, name: key }) !== undefined,
    )
    return new Set(importing.map(({ cluster }) => cluster))
  }

  /** Nobody exports it any more: members lose it at once, its addresses stay reserved for the time of the quarantine. */
  async #retire(key: string, signal: AbortSignal): Promise<Carried> {
    const { allocator, clock, clusterSetServices, log, quarantineMs, writer } = this.#options
    const current = clusterSetServices.get({ name: key })
    if (current === undefined) {
      if (allocator.holds(key) && !(await this.#exists(key, signal))) allocator.release(key)
      return 'unchanged'
    }
    const { addresses, releasedAt } = current.status
    if (addresses.length > 0 && releasedAt === undefined) {
      log.info('service released', { service: key })
      await writer.replace(services, releasedService(current, toTime(clock.now())), {}, signal)
      return 'written'
    }
    const leftMs = releasedAt === undefined ? 0 : fromTime(releasedAt) + quarantineMs - clock.now()
    if (leftMs > 0 && addresses.length > 0) {
      this.#options.requeue(key, leftMs)
      return 'unchanged'
    }
    await writer.delete(services, current, signal)
    return 'written'
  }

  /** Asked of the server: an address may only be given away when it is certain that nothing published holds it. */
  async #exists(key: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#options.hub.get(services, { name: key }, signal)
      return true
    } catch (thrown) {
      if (isReason(thrown, 'NotFound')) return false
      throw thrown
    }
  }
}

function identityOf(key: string): { readonly namespace: string; readonly service: string } {
  const dot = key.indexOf('.')
  return { namespace: key.slice(0, dot), service: key.slice(dot + 1) }
}
