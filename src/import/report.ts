import { exportedServiceName } from '../api/kinds/exported-service.ts'
import type { ImportedService } from '../api/kinds/imported-service.ts'
import { ImportedServiceKind } from '../api/kinds/imported-service.ts'
import type { ServiceImport } from '../api/kinds/service-import.ts'
import { type Informer, type Ref, resource } from '../cluster/cluster.ts'
import type { Writer } from '../cluster/writer.ts'
import type { ImportableIndex } from '../contract.ts'
import { isOurs } from './desired.ts'

export type ImportReportOptions = {
  readonly importables: ImportableIndex
  readonly serviceImports: Informer<ServiceImport>
  /** The member's own objects on the hub; synced. */
  readonly importedServices: Informer<ImportedService>
  readonly hub: Writer
  /** The member's namespace on the hub. */
  readonly hubNamespace: string
}

const importedServices = resource(ImportedServiceKind)

/** Tells the hub of the imports that are there and of which it wants to know. */
export class ImportReport {
  readonly #options: ImportReportOptions

  constructor(options: ImportReportOptions) {
    this.#options = options
  }

  async reconcile(ref: Ref, signal: AbortSignal): Promise<void> {
    const { hub, hubNamespace } = this.#options
    const { namespace = '', name: service } = ref
    const name = exportedServiceName(namespace, service)
    const there = this.#options.importedServices.get({ namespace: hubNamespace, name })
    const wanted = this.#isWanted(ref)
    if (wanted && there === undefined) {
      const { apiVersion, kind } = importedServices
      const metadata = { namespace: hubNamespace, name }
      await hub.create(importedServices, { apiVersion, kind, metadata, spec: { namespace, service } }, signal)
    } else if (!wanted && there !== undefined) {
      await hub.delete(importedServices, there, signal)
    }
  }

  #isWanted(ref: Ref): boolean {
    const { importables, serviceImports } = this.#options
    if (importables.service(ref)?.spec.reported !== true) return false
    const there = serviceImports.get(ref)
    return there !== undefined && isOurs(there) && there.metadata.deletionTimestamp === undefined
  }
}
