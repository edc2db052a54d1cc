/** Wires the stage `export`: conditions of ServiceExports here, ExportedServices and ExportedEndpointSlices on the hub. */
import { newlyChanged } from './api/changed.ts'
import { exportedServiceName, isLeftOut } from './api/kinds/exported-service.ts'
import type { ObjectMeta } from './api/meta.ts'
import { sourceServiceOf } from './api/source-service.ts'
import { optionsIn } from './api/well-known.ts'
import { type Change, keyOf, type Ref } from './cluster/cluster.ts'
import { EventRecorder } from './cluster/event-recorder.ts'
import { equalJson } from './cluster/json.ts'
import type { PushFailure } from './export/conditions.ts'
import { Kept } from './export/kept.ts'
import { NoRoom } from './export/no-room.ts'
import { ServicePush } from './export/service-push.ts'
import { SliceFailures } from './export/slice-failures.ts'
import { SlicePush } from './export/slice-push.ts'
import { ExportStatus } from './export/status.ts'
import { background } from './kernel/abort.ts'
import { type Changed, Leg, type Way } from './kernel/propagation.ts'
import { every, type WorkQueue } from './kernel/work-queue.ts'
import type { MemberContext } from './member-context.ts'

const roomCheckMs = 30_000
/** A hub that has not answered for so long is said to be away. */
const unreachedMs = 3_000

export class ExportFlow {
  readonly #context: MemberContext
  readonly #failures = new Map<string, PushFailure>()
  readonly #sliceFailures = new SliceFailures(key => this.#tell(key))
  /** What the hub has no room for. */
  readonly #waiting: Readonly<Record<Way, NoRoom>>
  readonly #kept = new Kept(key => this.#tell(key))
  /** Why nothing can be sent at all. */
  #unreached: PushFailure | undefined
  /** Until the hub has stored it. */
  readonly #published: Readonly<Record<Way, Leg>>
  readonly #sinceMs: number
  readonly #status: WorkQueue
  readonly #services: WorkQueue
  readonly #slices: WorkQueue
  readonly #listeners: ((key: string) => void)[] = []

  constructor(context: MemberContext) {
    this.#context = context
    const { propagation } = context
    this.#sinceMs = context.clock.now()
    this.#published = {
      export: new Leg({ propagation, way: 'export', stage: 'publish' }),
      endpoints: new Leg({ propagation, way: 'endpoints', stage: 'publish' }),
    }
    const { log } = context
    this.#waiting = {
      export: new NoRoom({ name: 'exports', log, retry: key => this.#services.add(key) }),
      endpoints: new NoRoom({ name: 'endpoint slices', log, retry: key => this.#slices.add(key) }),
    }
    this.#status = this.#statusQueue()
    this.#services = this.#serviceQueue()
    this.#slices = this.#sliceQueue()
  }

  /** For when this cluster's objects have been read. */
  startLocal(): void {
    const { clock, informers, standing } = this.#context
    const { exportedServices, serviceExports, services } = informers
    standing.onChange(() => this.#addAllStatuses())
    for (const informer of [serviceExports, services]) {
      informer.onChange(({ before, after }) => this.#status.add(keyOf((after ?? before)?.metadata ?? noName)))
    }
    clock.after(unreachedMs, () => {
      if (exportedServices.hasSynced()) return
      this.#unreached = { refused: false, message: 'the hub cannot be reached' }
      this.#addAllStatuses()
    })
  }

  /** For when the hub has told what it holds of this member: what it holds too much is found by its own objects. */
  startHub(): void {
    const { informers, sources } = this.#context
    this.#unreached = undefined
    this.#addAllStatuses()
    const { clock, log, signal } = this.#context
    // The hub may give more room than before without a word.
    const task = { name: 'try what had no room', firstMs: roomCheckMs, intervalMs: roomCheckMs, clock, log }
    const look = async (): Promise<void> => {
      for (const waiting of Object.values(this.#waiting)) waiting.tryNext()
    }
    background(task.name, log, signal, () => every(task, look, signal))
    informers.exportedServices.onChange(({ before, after }) => {
      this.#told('export', before, after)
      if (after === undefined) this.#waiting.export.tryNext()
      const spec = (after ?? before)?.spec
      if (spec === undefined) return
      const key = keyOf({ namespace: spec.namespace, name: spec.service })
      this.#services.add(key)
      this.#tell(key)
    })
    informers.exportedSlices.onChange(({ before, after }) => {
      this.#told('endpoints', before, after)
      if (after === undefined) this.#waiting.endpoints.tryNext()
      const spec = (after ?? before)?.spec
      if (spec !== undefined) this.#slices.add(keyOf({ namespace: spec.namespace, name: spec.slice }))
    })
    informers.endpointSlices.onChange(({ before, after }) => {
      const isSource = [before, after].some(
        slice => slice !== undefined && sourceServiceOf(slice) !== undefined,
      )
      if (isSource) this.#addSlice(keyOf((after ?? before)?.metadata ?? noName))
    })
    for (const informer of [informers.serviceExports, informers.services]) {
      informer.onChange(change => {
        const service = (change.after ?? change.before)?.metadata ?? noName
        if (!isStatusOnly(change)) {
          this.#published.export.note(keyOf(service), this.#seenNow())
          this.#services.add(keyOf(service))
          for (const slice of sources.ownSlicesOf(service)) this.#addSlice(keyOf(slice))
        }
      })
    }
  }

  /** What became of an export on the hub, as far as it is known. */
  sent(service: Ref): 'unreached' | 'refused' | 'unknown' {
    const failure = this.#failure(keyOf(service))
    if (failure !== undefined) return failure.refused ? 'refused' : 'unreached'
    const { hubNamespace, informers } = this.#context
    const name = exportedServiceName(service.namespace ?? '', service.name)
    const exported = informers.exportedServices.get({ namespace: hubNamespace, name })
    return exported !== undefined && isLeftOut(exported) ? 'refused' : 'unknown'
  }

  /** Told of each export for which `sent` may answer something else. */
  onSent(listener: (key: string) => void): void {
    this.#listeners.push(listener)
  }

  #addSlice(key: string): void {
    this.#published.endpoints.note(key, this.#seenNow())
    this.#slices.add(key)
  }

  #seenNow(): Changed {
    return { atMs: this.#context.clock.now() }
  }

  /** The hub tells those who watch it what was published here: how long that took is seen by this clock alone. */
  #told(way: Way, before: Dated | undefined, after: Dated | undefined): void {
    const changed = newlyChanged(before, after)
    if (changed !== undefined && changed.atMs >= this.#sinceMs)
      this.#context.propagation.took(way, 'told', changed.atMs)
  }

  #addAllStatuses(): void {
    for (const { metadata } of this.#context.informers.serviceExports.list()) this.#tell(keyOf(metadata))
  }

  #tell(key: string): void {
    this.#status.add(key)
    for (const listener of this.#listeners) listener(key)
  }

  #statusQueue(): WorkQueue {
    const { clock, collected, hubNamespace, informers, local, localWriter, log, queue } = this.#context
    const pace = this.#context.localPace
    const status = new ExportStatus({
      serviceExports: informers.serviceExports,
      collected,
      exportedServices: informers.exportedServices,
      hubNamespace,
      kept: this.#kept,
      failure: ref => this.#failure(keyOf(ref)) ?? this.#sliceFailures.of(keyOf(ref)),
      local: localWriter,
      events: new EventRecorder({ cluster: local, component: 'isthmus-agent', pace, clock, log }),
      clock,
    })
    return queue('export status', localWriter, (ref, signal) => status.reconcile(ref, signal))
  }

  #serviceQueue(): WorkQueue {
    const { collected, hubNamespace, hubWriter, informers, queue } = this.#context
    const push = new ServicePush({
      collected,
      exportedServices: informers.exportedServices,
      hub: hubWriter,
      hubNamespace,
      kept: this.#kept,
      outcome: (ref, failure) => this.#outcome(keyOf(ref), failure),
    })
    return queue('export services', hubWriter, (ref, signal) =>
      this.#published.export.carry(keyOf(ref), changed =>
        this.#waiting.export.enter(keyOf(ref), () => push.reconcile(ref, changed, signal)),
      ),
    )
  }

  #sliceQueue(): WorkQueue {
    const { collected, hubNamespace, hubWriter, informers, queue } = this.#context
    const push = new SlicePush({
      exported: (service: Ref) => {
        const found = collected(service)
        return found?.valid === true ? found.spec : undefined
      },
      endpointSlices: informers.endpointSlices,
      outcome: (slice, service, failure) => this.#sliceFailures.set(slice, service, failure),
      exportedSlices: informers.exportedSlices,
      hub: hubWriter,
      hubNamespace,
    })
    return queue('export slices', hubWriter, (ref, signal) =>
      this.#published.endpoints.carry(keyOf(ref), changed =>
        this.#waiting.endpoints.enter(keyOf(ref), () => push.reconcile(ref, changed, signal)),
      ),
    )
  }

  /** That the hub refuses this cluster is why every push fails, also those that nobody tries. */
  #failure(key: string): PushFailure | undefined {
    const { refusal } = this.#context.standing
    if (refusal !== undefined) return { refused: true, message: refusal }
    return this.#unreached ?? this.#failures.get(key)
  }

  #outcome(key: string, failure: PushFailure | undefined): void {
    if (failure !== undefined) this.#failures.set(key, failure)
    else if (!this.#failures.delete(key)) return
    this.#tell(key)
  }
}

const noName: Ref = { name: '' }

type Dated = { readonly metadata: Pick<ObjectMeta, 'annotations'> }

type Asking = {
  readonly metadata: Pick<ObjectMeta, 'annotations' | 'deletionTimestamp' | 'ownerReferences'>
  readonly spec?: unknown
}

/** Whether what an object asks for is as before. */
export function isStatusOnly({ before, after }: Change<Asking>): boolean {
  return before !== undefined && after !== undefined && equalJson(asked(before), asked(after))
}

function asked({ metadata, spec }: Asking): unknown {
  const { annotations, deletionTimestamp, ownerReferences: owners } = metadata
  return { spec, deletionTimestamp, owners, options: optionsIn(annotations) }
}
