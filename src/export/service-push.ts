/**
 * Stage `export`, in a member. Owns this member's ExportedServices and ExportedEndpointSlices on the hub, and the conditions of
 * ServiceExports.
 * Promises: what is known here is said at once; nothing is written that is there already, nothing is deleted on the hub before
 * both sides have been read.
 * Refuses: Services without endpoints of their own, labels that no import can carry, slices that were imported.
 */

import { withChanged } from '../api/changed.ts'
import {
  type ExportedService,
  ExportedServiceKind,
  exportedServiceName,
} from '../api/kinds/exported-service.ts'
import { type Informer, keyOf, type Ref, resource } from '../cluster/cluster.ts'
import type { Writer } from '../cluster/writer.ts'
import { errorText } from '../kernel/abort.ts'
import type { Carried, Changed } from '../kernel/propagation.ts'
import type { Collected } from './collect.ts'
import type { PushFailure } from './conditions.ts'
import type { Kept } from './kept.ts'
import { isRefusal } from './refusal.ts'

export type ServicePushOptions = {
  /** What an export comes to now. Read from informers that have synced. */
  collected(ref: Ref): Collected | undefined
  /** The member's own objects on the hub; synced. */
  readonly exportedServices: Informer<ExportedService>
  readonly hub: Writer
  /** The member's namespace on the hub. */
  readonly hubNamespace: string
  readonly kept: Kept
  /** Told the outcome of each push: what went wrong, or undefined. */
  outcome(ref: Ref, failure: PushFailure | undefined): void
}

const exportedServices = resource(ExportedServiceKind)
const made = { apiVersion: exportedServices.apiVersion, kind: exportedServices.kind }

/** Keeps the hub's ExportedService what the export comes to in this cluster. */
export class ServicePush {
  readonly #options: ServicePushOptions

  constructor(options: ServicePushOptions) {
    this.#options = options
  }

  /** `changed`: when the change was seen that this is for. */
  async reconcile(ref: Ref, changed: Changed | undefined, signal: AbortSignal): Promise<Carried> {
    try {
      const carried = await this.#push(ref, changed, signal)
      // What met something newer comes again, and until then the hub has what it had.
      if (carried !== 'behind') this.#options.outcome(ref, undefined)
      return carried
    } catch (thrown) {
      this.#options.outcome(ref, { refused: isRefusal(thrown), message: `hub: ${errorText(thrown)}` })
      throw thrown
    }
  }

  async #push(ref: Ref, changed: Changed | undefined, signal: AbortSignal): Promise<Carried> {
    const { hub, hubNamespace, kept } = this.#options
    const key = keyOf(ref)
    const name = exportedServiceName(ref.namespace ?? '', ref.name)
    const current = this.#options.exportedServices.get({ namespace: hubNamespace, name })
    const collected = this.#options.collected(ref)
    if (collected?.valid !== true) {
      kept.forget(key)
      if (current === undefined) return 'unchanged'
      await hub.delete(exportedServices, current, signal)
      return 'written'
    }
    const { spec } = collected
    if (current !== undefined && kept.isHeld(key, spec, current.spec)) return 'unchanged'
    const metadata = withChanged(current?.metadata ?? { namespace: hubNamespace, name }, changed)
    const written =
      current === undefined
        ? await hub.create(exportedServices, { ...made, metadata, spec }, signal)
        : await hub.replace(exportedServices, { ...current, metadata, spec }, {}, signal)
    if (written === undefined) return 'behind'
    kept.note(key, spec, written.spec)
    return 'written'
  }
}
