/** Services as one cluster's API server tells them, kept current by two informers. */
import { newlyChanged } from '../../src/api/changed.ts'
import { type EndpointSlice, EndpointSliceKind } from '../../src/api/kinds/endpoint-slice.ts'
import { type ServiceImport, ServiceImportKind } from '../../src/api/kinds/service-import.ts'
import { type Change, type Cluster, type Informer, keyOf, resource } from '../../src/cluster/cluster.ts'
import { startInformer } from '../../src/cluster/informer.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Changed, Way } from '../../src/kernel/propagation.ts'
import type { ServiceFacts, ServiceKey, ServiceSource } from '../contract.ts'
import { serviceFacts, serviceNameLabel } from './facts.ts'

export type WatchOptions = {
  readonly cluster: Cluster
  readonly clock: Clock
  readonly log: Logger
  /** Told of each change that is news, before the listeners are: by what it came, and when it began. */
  onNews?(key: ServiceKey, way: Way, changed: Changed | undefined): void
}

/** What is watched can be spoken about. */
export interface WatchedSource extends ServiceSource {
  importOf(key: ServiceKey): ServiceImport | undefined
}

/** Follows the cluster until the signal aborts. */
export function watchServices(options: WatchOptions, signal: AbortSignal): WatchedSource {
  const { cluster, clock, log } = options
  const imports = startInformer(cluster, resource(ServiceImportKind), { clock, log }, signal)
  // A cluster's own slices do not carry the label.
  const selection = { labelSelector: serviceNameLabel, clock, log }
  const slices = startInformer(cluster, resource(EndpointSliceKind), selection, signal)
  return new WatchedServices(imports, slices, options)
}

class WatchedServices implements WatchedSource {
  readonly synced: Promise<void>
  readonly #imports: Informer<ServiceImport>
  readonly #slices: Informer<EndpointSlice>
  /** Names of the slices of each service. They may be there before their import, and after it. */
  readonly #slicesOf = new Map<ServiceKey, Set<string>>()
  readonly #listeners: ((key: ServiceKey) => void)[] = []
  readonly #onNews: WatchOptions['onNews']

  constructor(
    imports: Informer<ServiceImport>,
    slices: Informer<EndpointSlice>,
    { onNews }: Pick<WatchOptions, 'onNews'>,
  ) {
    this.#onNews = onNews
    this.#imports = imports
    this.#slices = slices
    this.synced = Promise.all([imports.synced, slices.synced]).then(() => undefined)
    // Whoever does not wait for it is not harmed by an early end.
    this.synced.catch(() => undefined)
    imports.onChange(change => this.#importChanged(change))
    slices.onChange(change => this.#sliceChanged(change))
  }

  keys(): Iterable<ServiceKey> {
    return this.#imports.list().map(serviceImport => keyOf(serviceImport.metadata))
  }

  importOf(key: ServiceKey): ServiceImport | undefined {
    const [namespace = '', name = ''] = key.split('/')
    return this.#imports.get({ namespace, name })
  }

  facts(key: ServiceKey): ServiceFacts | undefined {
    const serviceImport = this.importOf(key)
    if (serviceImport === undefined) return undefined
    const { namespace = '' } = serviceImport.metadata
    const names = [...(this.#slicesOf.get(key) ?? [])]
    const slices = names.map(slice => this.#slices.get({ namespace, name: slice }))
    return serviceFacts(
      serviceImport,
      slices.filter(slice => slice !== undefined),
    )
  }

  onChange(listener: (key: ServiceKey) => void): void {
    this.#listeners.push(listener)
  }

  #importChanged({ before, after }: Change<ServiceImport>): void {
    const object = after ?? before
    if (object === undefined) return
    const key = keyOf(object.metadata)
    if (this.#imports.hasSynced()) this.#onNews?.(key, 'export', undefined)
    this.#tell(key)
  }

  /** A slice may be given to another service by its label. */
  #sliceChanged({ before, after }: Change<EndpointSlice>): void {
    const old = before && serviceOf(before)
    const key = after && serviceOf(after)
    const of = key ?? old
    if (of !== undefined && this.#slices.hasSynced())
      this.#onNews?.(of, 'endpoints', newlyChanged(before, after))
    if (before !== undefined && old !== undefined && old !== key) {
      this.#forget(old, before.metadata.name)
      this.#tell(old)
    }
    if (after === undefined || key === undefined) return
    const names = this.#slicesOf.get(key) ?? new Set()
    this.#slicesOf.set(key, names.add(after.metadata.name))
    this.#tell(key)
  }

  #forget(key: ServiceKey, slice: string): void {
    const names = this.#slicesOf.get(key)
    names?.delete(slice)
    if (names?.size === 0) this.#slicesOf.delete(key)
  }

  #tell(key: ServiceKey): void {
    for (const listener of this.#listeners) listener(key)
  }
}

function serviceOf({ metadata }: EndpointSlice): ServiceKey | undefined {
  const name = metadata.labels?.[serviceNameLabel]
  return name === undefined ? undefined : `${metadata.namespace}/${name}`
}
