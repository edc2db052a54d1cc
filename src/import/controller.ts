/**
 * Stage `import`, in a member. Owns ServiceImports.
 * Promises: an import is changed in place, never deleted and made again; spec and addresses change in one write; what others
 * edit is mended, what others add to the metadata stays.
 * Refuses: to take anything away that the hub has not said to be gone, to touch imports that somebody else made of services
 * that nobody exports (they are told so in their status, when nobody else writes one), and to make anything in a namespace that is going.
 */
import type { ClusterSetService } from '../api/kinds/cluster-set-service.ts'
import { acceptsObjects, type Namespace } from '../api/kinds/namespace.ts'
import { type ServiceImport, ServiceImportKind } from '../api/kinds/service-import.ts'
import { type Informer, keyOf, type Ref, resource } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'
import { isNamespaceTerminating, type Writer } from '../cluster/writer.ts'
import type { ImportableIndex } from '../contract.ts'
import type { Family } from '../ip/address.ts'
import { type Clock, toTime } from '../kernel/clock.ts'
import type { Logger } from '../kernel/log.ts'
import type { Carried } from '../kernel/propagation.ts'
import { desiredImport, desiredStatus, isOurs, unexportedStatus } from './desired.ts'

export type ImportOptions = {
  readonly importables: ImportableIndex
  /** What this cluster exports, while the hub has told nothing of the service and cannot be reached. */
  unmerged(service: Ref, current: ServiceImport | undefined): ClusterSetService | undefined
  /** Whether an import was made without the hub. */
  isUnmerged(current: ServiceImport): boolean
  readonly serviceImports: Informer<ServiceImport>
  readonly namespaces: Informer<Namespace>
  readonly local: Writer
  /** The families that pods of this cluster can reach. */
  readonly families: readonly Family[]
  /** The addresses by which this cluster routes the import, where it does not use the ClusterSetIP. */
  readonly localAddresses?: ((service: Ref) => readonly string[]) | undefined
  /** Why the import cannot be routed, where the cluster routes any: its derived Service cannot be made. */
  nameTaken(service: Ref): string | undefined
  /** Why these addresses may lead somewhere else in this cluster; undefined when they do not. */
  clashOf(ips: readonly string[]): string | undefined
  /** What users are to be told of an import, if anything. */
  note(service: Ref): string | undefined
  readonly clock: Clock
  readonly log: Logger
}

const serviceImports = resource(ServiceImportKind)

/** Keeps one ServiceImport of this cluster what the hub says that it is. */
export class ImportController {
  readonly #options: ImportOptions
  /** By import, as long as it is there. */
  readonly #clashes = new Map<string, string>()

  constructor(options: ImportOptions) {
    this.#options = options
  }

  async reconcile(ref: Ref, signal: AbortSignal): Promise<Carried> {
    const { serviceImports: informer } = this.#options
    const current = informer.get(ref)
    const known = this.#known(ref, current)
    if (known === 'unknown') return 'unchanged'
    const service = this.#addressed(ref, known)
    if (service === undefined) return this.#unexported(ref, current, signal)
    if (!acceptsObjects(this.#options.namespaces.get({ name: ref.namespace ?? '' }))) return 'unchanged'
    if (current?.metadata.deletionTimestamp !== undefined) return 'unchanged'
    const written = await this.#write(
      desiredImport(service, this.#options.families, current),
      current,
      signal,
    )
    if (written === undefined) return 'behind'
    const taken = service.spec.type === 'ClusterSetIP' ? this.#options.nameTaken(ref) : undefined
    const seen = {
      families: this.#options.families,
      taken,
      clash: this.#clashOf(written),
      note: this.#options.note(ref),
    }
    const told = await this.#tell(written, desiredStatus(service, seen, written, this.#now()), signal)
    return written === current ? told : 'written'
  }

  async #unexported(ref: Ref, current: ServiceImport | undefined, signal: AbortSignal): Promise<Carried> {
    const { local, log } = this.#options
    this.#clashes.delete(keyOf(ref))
    if (current === undefined) return 'unchanged'
    if (!isOurs(current)) return this.#tell(current, unexportedStatus(current, this.#now()), signal)
    log.info('import removed', { import: keyOf(ref) })
    await local.delete(serviceImports, current, signal)
    return 'written'
  }

  /** Logged once as long as it is the same. */
  #clashOf({ metadata, spec }: ServiceImport): string | undefined {
    const { clashOf, localAddresses, log } = this.#options
    const clash = localAddresses === undefined ? clashOf(spec?.ips ?? []) : undefined
    const key = keyOf(metadata)
    if (clash === undefined) this.#clashes.delete(key)
    else if (this.#clashes.get(key) !== clash) {
      this.#clashes.set(key, clash)
      log.warn('a ClusterSetIP clashes', { import: key, clash })
    }
    return clash
  }

  /** As the hub has told; what it has not told yet is unknown, not gone. */
  #known(ref: Ref, current: ServiceImport | undefined): ClusterSetService | 'unknown' | undefined {
    const { importables, isUnmerged, unmerged } = this.#options
    const isTold = importables.hasSynced()
    const known = (isTold ? importables.service(ref) : undefined) ?? unmerged(ref, current)
    if (known !== undefined || isTold) return known
    return current !== undefined && isUnmerged(current) ? undefined : 'unknown'
  }

  async #tell(
    current: ServiceImport,
    status: ServiceImport['status'],
    signal: AbortSignal,
  ): Promise<Carried> {
    if (status === undefined || equalJson(current.status, status)) return 'unchanged'
    const { local } = this.#options
    const wanted = { ...current, status }
    const written = await local.replace(serviceImports, wanted, { subresource: 'status' }, signal)
    return written === undefined ? 'behind' : 'written'
  }

  /** With the addresses that it has in this cluster; those of the hub, and what the hub says of them, count for others. */
  #addressed(ref: Ref, service: ClusterSetService | undefined): ClusterSetService | undefined {
    const ips = this.#options.localAddresses?.(ref)
    if (service === undefined || ips === undefined || service.spec.type === 'Headless') return service
    const { problem: _problem, ...status } = service.status
    return { ...service, spec: { ...service.spec, ips }, status }
  }

  async #write(
    desired: ServiceImport,
    current: ServiceImport | undefined,
    signal: AbortSignal,
  ): Promise<ServiceImport | undefined> {
    const { local, log } = this.#options
    if (current !== undefined) {
      return equalJson(current, desired) ? current : local.replace(serviceImports, desired, {}, signal)
    }
    try {
      const created = await local.create(serviceImports, desired, signal)
      if (created !== undefined) log.info('import created', { import: keyOf(desired.metadata) })
      return created
    } catch (thrown) {
      // The informer of namespaces is behind; it brings the key back when the namespace is made again.
      if (isNamespaceTerminating(thrown)) return undefined
      throw thrown
    }
  }

  #now(): string {
    return toTime(this.#options.clock.now())
  }
}
