import { withChanged } from '../api/changed.ts'
import type { EndpointSlice } from '../api/kinds/endpoint-slice.ts'
import {
  type ExportedEndpointSlice,
  ExportedEndpointSliceKind,
  exportedSliceName,
} from '../api/kinds/exported-endpoint-slice.ts'
import type { ExportedService } from '../api/kinds/exported-service.ts'
import { sourceServiceOf } from '../api/source-service.ts'
import { type Informer, type Ref, resource } from '../cluster/cluster.ts'
import type { Writer } from '../cluster/writer.ts'
import { errorText } from '../kernel/abort.ts'
import type { Carried, Changed } from '../kernel/propagation.ts'
import type { PushFailure } from './conditions.ts'
import { Kept } from './kept.ts'
import { isRefusal } from './refusal.ts'
import { exportedSliceSpec } from './slice.ts'

export type SlicePushOptions = {
  /** The Service as it is exported; undefined when it is not, or cannot be. Read from informers that have synced. */
  exported(service: Ref): Pick<ExportedService['spec'], 'consumers'> | undefined
  readonly endpointSlices: Informer<EndpointSlice>
  /** Told the outcome of each push: what went wrong, or undefined. */
  outcome(slice: Ref, service: Ref | undefined, failure: PushFailure | undefined): void
  /** The member's own objects on the hub; synced. */
  readonly exportedSlices: Informer<ExportedEndpointSlice>
  readonly hub: Writer
  /** The member's namespace on the hub. */
  readonly hubNamespace: string
}

const exportedSlices = resource(ExportedEndpointSliceKind)
const made = { apiVersion: exportedSlices.apiVersion, kind: exportedSlices.kind }

/** Keeps the hub's ExportedEndpointSlice what one EndpointSlice of this cluster is: one change, one write. */
export class SlicePush {
  readonly #options: SlicePushOptions
  readonly #kept = new Kept(() => undefined)

  constructor(options: SlicePushOptions) {
    this.#options = options
  }

  /** `changed`: when the change was seen that this is for. */
  async reconcile(ref: Ref, changed: Changed | undefined, signal: AbortSignal): Promise<Carried> {
    const slice = this.#options.endpointSlices.get(ref)
    const service = slice && sourceServiceOf(slice)
    try {
      const carried = await this.#push(ref, changed, signal)
      // What met something newer comes again, and until then the hub has what it had.
      if (carried !== 'behind') this.#options.outcome(ref, service, undefined)
      return carried
    } catch (thrown) {
      const message = `hub: endpoints of EndpointSlice ${ref.name} are missing: ${errorText(thrown)}`
      this.#options.outcome(ref, service, { refused: isRefusal(thrown), message })
      throw thrown
    }
  }

  async #push(ref: Ref, changed: Changed | undefined, signal: AbortSignal): Promise<Carried> {
    const { hub, hubNamespace } = this.#options
    const name = exportedSliceName(ref.namespace ?? '', ref.name)
    const current = this.#options.exportedSlices.get({ namespace: hubNamespace, name })
    const spec = this.#desired(ref)
    if (spec === undefined) {
      this.#kept.forget(name)
      if (current === undefined) return 'unchanged'
      await hub.delete(exportedSlices, current, signal)
      return 'written'
    }
    if (current !== undefined && this.#kept.isHeld(name, spec, current.spec)) return 'unchanged'
    const metadata = withChanged(current?.metadata ?? { namespace: hubNamespace, name }, changed)
    const written =
      current === undefined
        ? await hub.create(exportedSlices, { ...made, metadata, spec }, signal)
        : await hub.replace(exportedSlices, { ...current, metadata, spec }, {}, signal)
    if (written === undefined) return 'behind'
    this.#kept.note(name, spec, written.spec)
    return 'written'
  }

  #desired(ref: Ref): ExportedEndpointSlice['spec'] | undefined {
    const slice = this.#options.endpointSlices.get(ref)
    if (slice === undefined || slice.metadata.deletionTimestamp !== undefined) return undefined
    const spec = exportedSliceSpec(slice)
    if (spec === undefined) return undefined
    const exported = this.#options.exported({ namespace: spec.namespace, name: spec.service })
    if (exported === undefined) return undefined
    const { consumers } = exported
    return consumers === undefined ? spec : { ...spec, consumers }
  }
}
