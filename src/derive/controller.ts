/**
 * Stage `derive`, in a member whose cluster routes packets. Owns the Services that carry its managed-by label.
 * Promises: an import with an address has a Service that stock kube-proxy routes; what others edit is mended; it goes with
 * its import, by the garbage collector of the cluster as well.
 * Refuses: to touch a Service that somebody else made under the same name, and to make any in a namespace that is going.
 */
import { derivedServiceName } from '../api/derived-service.ts'
import { acceptsObjects, type Namespace } from '../api/kinds/namespace.ts'
import { type Service, ServiceKind } from '../api/kinds/service.ts'
import type { ServiceImport } from '../api/kinds/service-import.ts'
import { type Informer, keyOf, type Ref, resource } from '../cluster/cluster.ts'
import { equalJson } from '../cluster/json.ts'
import { isNamespaceTerminating, type Writer } from '../cluster/writer.ts'
import type { Logger } from '../kernel/log.ts'
import { desiredService, desiredStatus, isOurs, needsAnother, type Routing, sameService } from './desired.ts'

export type DeriveOptions = {
  readonly routing: Routing
  readonly serviceImports: Informer<ServiceImport>
  readonly services: Informer<Service>
  readonly namespaces: Informer<Namespace>
  readonly local: Writer
  readonly log: Logger
}

const services = resource(ServiceKind)

/** Keeps the derived Service of one import. */
export class DeriveController {
  readonly #options: DeriveOptions

  constructor(options: DeriveOptions) {
    this.#options = options
  }

  /** `ref` is of the import. */
  async reconcile(ref: Ref, signal: AbortSignal): Promise<void> {
    const { local, log, routing } = this.#options
    const name = derivedServiceName(ref)
    const current = this.#options.services.get({ ...ref, name })
    if (current !== undefined && !isOurs(current)) {
      log.warn('a Service of somebody else has the name of a derived one', {
        import: keyOf(ref),
        service: name,
      })
      return
    }
    if (current?.metadata.deletionTimestamp !== undefined) return
    const imported = this.#options.serviceImports.get(ref)
    const desired = imported && desiredService(imported, routing, current)
    if (imported !== undefined && desired !== undefined && !needsAnother(current, desired)) {
      await this.#keep(imported, { current, desired }, signal)
    } else if (current !== undefined) {
      // When another is needed, this deletion brings the key back.
      await local.delete(services, current, signal)
    }
  }

  async #keep(
    imported: ServiceImport,
    { current, desired }: { readonly current: Service | undefined; readonly desired: Service },
    signal: AbortSignal,
  ): Promise<void> {
    const written = await this.#write(desired, current, signal)
    if (written === undefined || this.#options.routing === 'local') return
    const status = desiredStatus(imported, written)
    if (equalJson(written.status, status)) return
    await this.#options.local.replace(services, { ...written, status }, { subresource: 'status' }, signal)
  }

  async #write(
    desired: Service,
    current: Service | undefined,
    signal: AbortSignal,
  ): Promise<Service | undefined> {
    const { local, log, namespaces } = this.#options
    if (current !== undefined) {
      return sameService(current, desired) ? current : local.replace(services, desired, {}, signal)
    }
    if (!acceptsObjects(namespaces.get({ name: desired.metadata.namespace ?? '' }))) return undefined
    try {
      const created = await local.create(services, desired, signal)
      if (created !== undefined) log.info('derived Service created', { service: keyOf(desired.metadata) })
      return created
    } catch (thrown) {
      // The informer of namespaces is behind; it brings the key back when the namespace is made again.
      if (isNamespaceTerminating(thrown)) return undefined
      throw thrown
    }
  }
}
