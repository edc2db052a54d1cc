import { type ExportedService, exportedServiceName } from '../api/kinds/exported-service.ts'
import { type ServiceExport, ServiceExportKind } from '../api/kinds/service-export.ts'
import { type Informer, keyOf, type Ref, resource } from '../cluster/cluster.ts'
import type { EventRecorder } from '../cluster/event-recorder.ts'
import { equalJson } from '../cluster/json.ts'
import type { Writer } from '../cluster/writer.ts'
import { type Clock, toTime } from '../kernel/clock.ts'
import type { Collected } from './collect.ts'
import { desiredConditions, type HubAnswer, type PushFailure } from './conditions.ts'
import { occurrencesOf } from './events.ts'
import type { Kept } from './kept.ts'

export type ExportStatusOptions = {
  readonly serviceExports: Informer<ServiceExport>
  collected(ref: Ref): Collected | undefined
  readonly exportedServices: Informer<ExportedService>
  readonly hubNamespace: string
  readonly kept: Kept
  /** Why the hub has not what was sent last; undefined when nothing went wrong yet. */
  failure(ref: Ref): PushFailure | undefined
  readonly local: Writer
  readonly events: EventRecorder
  readonly clock: Clock
}

const serviceExports = resource(ServiceExportKind)

/** Keeps the conditions of a ServiceExport true, and tells of their changes in Events. Never waits for the hub. */
export class ExportStatus {
  readonly #options: ExportStatusOptions

  constructor(options: ExportStatusOptions) {
    this.#options = options
  }

  async reconcile(ref: Ref, signal: AbortSignal): Promise<void> {
    const { clock, events, local } = this.#options
    const serviceExport = this.#options.serviceExports.get(ref)
    const collected = this.#options.collected(ref)
    if (serviceExport === undefined || collected === undefined) return
    const before = serviceExport.status?.conditions ?? []
    const conditions = desiredConditions({
      conditions: before,
      generation: serviceExport.metadata.generation ?? 0,
      collected,
      hub: this.#hubAnswer(ref, collected),
      time: toTime(clock.now()),
    })
    if (equalJson(before, conditions)) return
    const wanted = { ...serviceExport, status: { ...serviceExport.status, conditions } }
    const written = await local.replace(serviceExports, wanted, { subresource: 'status' }, signal)
    if (written === undefined) return
    for (const occurrence of occurrencesOf(before, conditions))
      await events.record(written, occurrence, signal)
  }

  #hubAnswer(ref: Ref, collected: Collected): HubAnswer {
    const { exportedServices, hubNamespace, kept } = this.#options
    const name = exportedServiceName(ref.namespace ?? '', ref.name)
    const exported = exportedServices.get({ namespace: hubNamespace, name })
    const failure = this.#options.failure(ref)
    if (exported === undefined || failure !== undefined) return { state: 'absent', failure }
    const current = collected.valid && kept.isHeld(keyOf(ref), collected.spec, exported.spec)
    return { state: 'held', exported, current }
  }
}
