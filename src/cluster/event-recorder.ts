import { type Event, EventKind } from '../api/kinds/event.ts'
import type { ObjectMeta } from '../api/meta.ts'
import { errorText } from '../kernel/abort.ts'
import { type Clock, toTime } from '../kernel/clock.ts'
import { isReason } from '../kernel/errors.ts'
import type { Logger } from '../kernel/log.ts'
import type { Pace } from '../kernel/pace.ts'
import { shortHash } from '../kernel/short-hash.ts'
import { type Cluster, resource } from './cluster.ts'
import { isNamespaceTerminating } from './writer.ts'

/** Something that happened to an object. `reason` is CamelCase, at most 128 characters. */
export type Occurrence = {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

export type EventRecorderOptions = {
  readonly cluster: Cluster
  /** Who reports, as `kubectl describe` shows it under From. */
  readonly component: string
  /** Every Event waits for its turn when there is a pace. */
  readonly pace?: Pace
  readonly clock: Clock
  readonly log: Logger
}

type Involved = { readonly apiVersion: string; readonly kind: string; readonly metadata: ObjectMeta }

const events = resource(EventKind)
/** What kube-apiserver takes. */
const maxMessage = 1024

/**
 * Writes Events. The same thing happening to the same object again counts up the Event that is there, also after a
 * restart: the name is made of what happened. A failure is logged and nothing else: Events are best effort.
 */
export class EventRecorder {
  readonly #options: EventRecorderOptions

  constructor(options: EventRecorderOptions) {
    this.#options = options
  }

  async record(about: Involved, occurrence: Occurrence, signal: AbortSignal): Promise<void> {
    const { cluster, log, pace } = this.#options
    await pace?.turn(signal)
    const event = this.#eventOf(about, occurrence)
    try {
      await cluster.create(events, event, signal)
    } catch (thrown) {
      signal.throwIfAborted()
      if (isReason(thrown, 'AlreadyExists')) await this.#countUp(event, signal)
      // Nobody will read Events of a namespace that is going.
      else if (!isNamespaceTerminating(thrown))
        log.warn('event not recorded', { reason: occurrence.reason, error: errorText(thrown) })
    }
  }

  async #countUp(event: Event, signal: AbortSignal): Promise<void> {
    const { cluster, log, pace } = this.#options
    try {
      await pace?.turn(signal)
      const { namespace = '', name } = event.metadata
      const there = await cluster.get(events, { namespace, name }, signal)
      const { lastTimestamp = '' } = event
      const counted = { ...there, count: (there.count ?? 1) + 1, lastTimestamp }
      await cluster.replace(events, counted, {}, signal)
    } catch (thrown) {
      signal.throwIfAborted()
      log.warn('event not counted', { name: event.metadata.name, error: errorText(thrown) })
    }
  }

  #eventOf(about: Involved, { type, reason, message }: Occurrence): Event {
    const { clock, component } = this.#options
    // Events of objects without a namespace are kept in `default` and say that the object has none.
    const { name, namespace = '', uid = '', resourceVersion = '' } = about.metadata
    const time = toTime(clock.now())
    return {
      apiVersion: events.apiVersion,
      kind: events.kind,
      metadata: {
        name: `${name.slice(0, 230)}.${shortHash(uid, type, reason, message)}`,
        namespace: namespace || 'default',
      },
      involvedObject: {
        apiVersion: about.apiVersion,
        kind: about.kind,
        namespace,
        name,
        uid,
        resourceVersion,
      },
      type,
      reason,
      message: message.length <= maxMessage ? message : `${message.slice(0, maxMessage - 1)}…`,
      source: { component },
      reportingComponent: component,
      reportingInstance: component,
      firstTimestamp: time,
      lastTimestamp: time,
      count: 1,
    }
  }
}
