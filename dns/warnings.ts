/** Says on ServiceImports which part of them has no record, as Events. */
import type { KubeObject } from '../src/api/meta.ts'
import { EventRecorder, type EventRecorderOptions, type Occurrence } from '../src/cluster/event-recorder.ts'
import { background } from '../src/kernel/abort.ts'
import type { Problem, ProblemReason, ServiceKey } from './contract.ts'

/** Told faster than they are written, the rest is in the log and in the metric only. */
const maxPending = 256

const sentences: Readonly<Record<ProblemReason, (subject: string) => string>> = {
  'service-name': subject => `its name ${subject} is no DNS label`,
  'cluster-id': subject =>
    subject === ''
      ? 'an EndpointSlice does not say its source cluster: its endpoints have no names of their own'
      : `the cluster id ${subject} is not one or two DNS labels: its endpoints have no names of their own`,
  address: subject => `${subject} is no address`,
  hostname: subject => `the hostname ${subject} is no DNS label: the endpoint is named by its address`,
  'name-too-long': subject => `the name that ${subject} is part of is longer than 255 octets`,
  'port-name': subject => `the port name ${subject} is no DNS label of at most 62 characters`,
  'port-number': subject =>
    `${subject === '' ? 'a port without a name' : `the port ${subject}`} has no number from 1 to 65535`,
}

/** The Event about a part of a service that has no record. */
export function problemOccurrence({ reason, subject }: Problem): Occurrence {
  return { type: 'Warning', reason: 'NoDNSRecord', message: sentences[reason](quoted(subject)) }
}

function quoted(subject: string): string {
  return subject === '' ? '' : JSON.stringify(subject.slice(0, 253))
}

export type WarningsOptions = Omit<EventRecorderOptions, 'component'> & {
  /** The ServiceImport as it is now; undefined when it is not known. */
  importOf(key: ServiceKey): KubeObject | undefined
}

export class Warnings {
  readonly #options: WarningsOptions
  readonly #signal: AbortSignal
  readonly #recorder: EventRecorder
  readonly #pending: (readonly [ServiceKey, Problem])[] = []
  #running: boolean = false

  constructor(options: WarningsOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#recorder = new EventRecorder({ ...options, component: 'isthmus-dns' })
  }

  tell(key: ServiceKey, problem: Problem): void {
    if (this.#pending.length >= maxPending || this.#signal.aborted) return
    this.#pending.push([key, problem])
    if (this.#running) return
    this.#running = true
    background('dns events', this.#options.log, this.#signal, async signal => {
      try {
        await this.#write(signal)
      } finally {
        this.#running = false
      }
    })
  }

  async #write(signal: AbortSignal): Promise<void> {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      const [key, problem] = next
      const about = this.#options.importOf(key)
      if (about !== undefined) await this.#recorder.record(about, problemOccurrence(problem), signal)
    }
  }
}
