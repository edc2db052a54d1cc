/** Counts in flat arrays, so that a query costs a few additions; the totals leave the thread once a second. */
import { errorText } from '../../src/kernel/abort.ts'
import {
  type Decision,
  durationBuckets,
  type Observer,
  type Origin,
  type Query,
  type Reply,
  type Report,
  rcode,
  type Transport,
} from '../contract.ts'
import { rcodeLabels, typeLabels } from './labels.ts'

const transports: readonly Transport[] = ['udp', 'tcp']

const labels = ['other', ...typeLabels.values()]
/** By type number. */
const labelIndex = new Uint8Array(256)
for (const [index, type] of [...typeLabels.keys()].entries()) labelIndex[type] = index + 1

const rcodes = rcode.badVers + 1

/** One transport's counts. */
class Counts {
  /** By type's label and response code. */
  readonly requests = new Float64Array(labels.length * rcodes)
  readonly durations = new Float64Array(durationBuckets.length + 1)
  /** Answers whose time is not counted yet. */
  answered = 0
  sumSeconds = 0
  dropped = 0
  truncated = 0

  /** What was answered since the last time took so long together. */
  took(seconds: number): void {
    const { answered } = this
    if (answered === 0) return
    this.answered = 0
    this.sumSeconds += seconds
    let bucket = 0
    while (bucket < durationBuckets.length && seconds / answered > (durationBuckets[bucket] ?? 0)) bucket++
    this.durations[bucket] = (this.durations[bucket] ?? 0) + answered
  }

  clear(): void {
    this.requests.fill(0)
    this.durations.fill(0)
    this.sumSeconds = 0
    this.dropped = 0
    this.truncated = 0
  }
}

export class Tally implements Observer {
  readonly #elapsedMs: () => number
  readonly #onFirst: () => void
  readonly #udp = new Counts()
  readonly #tcp = new Counts()
  #began = 0
  #faults = 0
  #fault: string | undefined
  #empty: boolean = true

  /** `elapsedMs` is a steady clock with fractions; `onFirst` hears of the first message after a report. */
  constructor(elapsedMs: () => number, onFirst: () => void) {
    this.#elapsedMs = elapsedMs
    this.#onFirst = onFirst
  }

  begin(): void {
    this.#began = this.#elapsedMs()
  }

  /** Reading the clock costs a tenth of an answer, so those to one segment share what they took. */
  end(): void {
    const seconds = (this.#elapsedMs() - this.#began) / 1000
    this.#udp.took(seconds)
    this.#tcp.took(seconds)
  }

  answered(query: Query, decision: Decision, reply: Reply, { transport }: Origin): void {
    const counts = transport === 'udp' ? this.#udp : this.#tcp
    const label = query.questionEnd === 0 || query.type > 255 ? 0 : (labelIndex[query.type] ?? 0)
    increment(counts.requests, label * rcodes + decision.rcode)
    if (reply.truncated) counts.truncated++
    counts.answered++
    this.#touch()
  }

  dropped(transport: Transport): void {
    if (transport === 'udp') this.#udp.dropped++
    else this.#tcp.dropped++
    this.#touch()
  }

  fault(thrown: unknown): void {
    this.#faults++
    this.#fault = errorText(thrown)
    this.#touch()
  }

  /** What was counted since the last time. */
  take(): Report {
    const report: Report = {
      requests: [...requestsOf('udp', this.#udp), ...requestsOf('tcp', this.#tcp)],
      durations: transports.map(transport => {
        const counts = transport === 'udp' ? this.#udp : this.#tcp
        return { transport, counts: [...counts.durations], sumSeconds: counts.sumSeconds }
      }),
      dropped: { udp: this.#udp.dropped, tcp: this.#tcp.dropped },
      truncated: { udp: this.#udp.truncated, tcp: this.#tcp.truncated },
      faults: this.#faults,
      fault: this.#fault,
    }
    this.#udp.clear()
    this.#tcp.clear()
    this.#faults = 0
    this.#fault = undefined
    this.#empty = true
    return report
  }

  #touch(): void {
    if (!this.#empty) return
    this.#empty = false
    this.#onFirst()
  }
}

function increment(counts: Float64Array, index: number): void {
  counts[index] = (counts[index] ?? 0) + 1
}

function* requestsOf(transport: Transport, counts: Counts): Generator<Report['requests'][number]> {
  for (const [index, type] of labels.entries()) {
    for (const [code, name] of rcodeLabels) {
      const count = counts.requests[index * rcodes + code] ?? 0
      if (count > 0) yield { transport, type, rcode: name, count }
    }
  }
}
