/**
 * Sends events to a server, as k8s.io/apiserver `plugin/pkg/audit` does: an `EventList` of many at a time, or of each while
 * its request waits. What cannot be delivered is dropped and counted; nothing fails for it.
 */
import { background, errorText, sleep, unlessAborted, within } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'

export type WebhookSettings = {
  /** `blocking`: requests wait until their events are delivered or given up, or they have waited for long enough. */
  readonly mode: 'batch' | 'blocking'
  readonly maxBatchEvents: number
  /** How long an event waits for others. */
  readonly maxWaitMs: number
  /** Events that wait to be sent, or in `blocking` to be taken; beyond, they are dropped. */
  readonly bufferEvents: number
  /** Before the second try; later ones come more and more slowly. */
  readonly firstBackoffMs: number
}

export type WebhookOptions = WebhookSettings & {
  /** POSTs JSON; answers the status. Rejects when no answer comes. */
  post(body: string, signal: AbortSignal): Promise<number>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** As `webhook.DefaultRetryBackoffWithInitialDelay` of k8s.io/apiserver has it. */
const tries = 5
const backoffFactor = 1.5
const jitter = 0.2
/** Events may hold whole objects. */
const maxBufferBytes = 64 * 1024 * 1024
/** kube-apiserver truncates above that. */
const maxBatchBytes = 10 * 1024 * 1024
const closeWithinMs = 5_000
/** A request has two events, and a minute. */
const waitAtMostMs = 20_000

type Refusal = { readonly why: string; readonly mayRetry: boolean }

export class AuditWebhook {
  readonly #options: WebhookOptions
  readonly #delivered
  readonly #errors
  readonly #waiting: string[] = []
  readonly #closing = new AbortController()
  readonly #stop = new AbortController()
  readonly #done = Promise.withResolvers<void>()
  /** Events that are being sent, or wait for another try. */
  #underWay = 0
  /** Events that were dropped since the server stops. */
  #lost = 0
  #bytes = 0
  #changed: PromiseWithResolvers<void> | undefined
  #isFailing: boolean = false

  constructor(options: WebhookOptions) {
    const { metrics, log, mode } = options
    this.#options = options
    this.#delivered = metrics.counter({
      name: 'isthmus_audit_webhook_events_total',
      help: 'Events that the audit webhook has taken.',
    })
    this.#errors = metrics.counter({
      name: 'apiserver_audit_error_total',
      help: 'Events that were dropped: by plugin buffered since too many waited, by webhook since they could not be delivered.',
      labels: ['plugin'],
    })
    if (mode === 'batch')
      background('audit webhook', log, this.#stop.signal, () => this.#run().finally(this.#done.resolve))
  }

  /** One event. Its request waits for what is answered, which `signal` ends. */
  write(line: string, signal: AbortSignal): Promise<void> | undefined {
    const isBlocking = this.#options.mode === 'blocking'
    if (this.#stop.signal.aborted) {
      this.#drop('webhook', 1, 'the server has stopped')
      return undefined
    }
    const count = isBlocking ? this.#underWay : this.#waiting.length
    if (count >= this.#options.bufferEvents || this.#bytes >= maxBufferBytes) {
      this.#drop('buffered', 1, 'too many events wait to be sent')
      return undefined
    }
    this.#bytes += line.length
    if (isBlocking) return this.#whileWaited(this.#deliverOne(line), signal)
    this.#waiting.push(line)
    this.#wake()
    return undefined
  }

  /** What waits is sent, for some seconds at most. */
  async close(): Promise<void> {
    this.#closing.abort(new Error('the server stops'))
    this.#wake()
    const cancel = this.#options.clock.after(closeWithinMs, () => this.#done.resolve())
    if (this.#options.mode === 'blocking' && this.#underWay === 0) this.#done.resolve()
    await this.#done.promise
    cancel()
    this.#stop.abort(new Error('the server has stopped'))
    const left = this.#waiting.length + this.#underWay
    if (left > 0) this.#drop('webhook', left, 'the server has stopped')
    if (this.#lost > 0)
      this.#options.log.error('the server stops before the audit webhook has taken all events', {
        count: this.#lost,
      })
  }

  async #deliverOne(line: string): Promise<void> {
    await this.#deliver([line])
    this.#bytes -= line.length
    if (this.#closing.signal.aborted && this.#underWay === 0) this.#done.resolve()
  }

  /** Sending goes on when nobody waits for it any more. */
  #whileWaited(delivered: Promise<void>, signal: AbortSignal): Promise<void> {
    const late = (): Error => new Error('it takes too long')
    return within(this.#options.clock, waitAtMostMs, late, over =>
      unlessAborted(delivered, AbortSignal.any([signal, over])),
    ).catch(() => undefined)
  }

  async #run(): Promise<void> {
    for (;;) {
      await this.#collect()
      const batch = this.#take()
      if (batch.length > 0) await this.#deliver(batch)
      else if (this.#closing.signal.aborted) return
      if (this.#stop.signal.aborted) return
    }
  }

  /** Resolves when there are enough, or the first one has waited for long enough. */
  async #collect(): Promise<void> {
    const { clock, maxBatchEvents, maxWaitMs } = this.#options
    const { signal } = this.#closing
    while (this.#waiting.length === 0 && !signal.aborted) await this.#change()
    let isOver = false
    const cancel = clock.after(maxWaitMs, () => {
      isOver = true
      this.#wake()
    })
    while (this.#waiting.length < maxBatchEvents && !isOver && !signal.aborted) await this.#change()
    cancel()
  }

  #take(): readonly string[] {
    const most = Math.min(this.#waiting.length, this.#options.maxBatchEvents)
    let count = 0
    let bytes = 0
    while (count < most && (count === 0 || bytes + (this.#waiting[count]?.length ?? 0) <= maxBatchBytes)) {
      bytes += this.#waiting[count++]?.length ?? 0
    }
    this.#bytes -= bytes
    return this.#waiting.splice(0, count)
  }

  /** Never rejects. */
  async #deliver(events: readonly string[]): Promise<void> {
    this.#underWay += events.length
    await this.#try(events)
    this.#underWay -= events.length
  }

  async #try(events: readonly string[]): Promise<void> {
    const { clock, firstBackoffMs } = this.#options
    const body = `{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[${events.join(',')}]}`
    let delayMs = firstBackoffMs
    for (let attempt = 1; ; attempt++) {
      const refusal = await this.#post(body)
      // They have been counted as lost.
      if (this.#stop.signal.aborted) return
      if (refusal === undefined) {
        this.#delivered.add({}, events.length)
        this.#recovered()
        return
      }
      if (!refusal.mayRetry || attempt === tries || this.#closing.signal.aborted) {
        this.#drop('webhook', events.length, refusal.why)
        return
      }
      // When the server stops, there is one more try.
      await sleep(clock, delayMs * (1 + jitter * Math.random()), this.#closing.signal).catch(() => undefined)
      delayMs *= backoffFactor
    }
  }

  async #post(body: string): Promise<Refusal | undefined> {
    try {
      const status = await this.#options.post(body, this.#stop.signal)
      if (status >= 200 && status < 300) return undefined
      return { why: `it answers ${status}`, mayRetry: status === 429 || status >= 500 }
    } catch (thrown) {
      return { why: errorText(thrown), mayRetry: true }
    }
  }

  #drop(plugin: 'buffered' | 'webhook', count: number, why: string): void {
    this.#errors.add({ plugin }, count)
    // How many a stop has cost is said once, at its end.
    if (this.#closing.signal.aborted) this.#lost += count
    else if (!this.#isFailing)
      this.#options.log.error('the audit webhook has not taken events', { count, error: why })
    this.#isFailing = true
  }

  #recovered(): void {
    if (this.#isFailing) this.#options.log.info('the audit webhook takes events again')
    this.#isFailing = false
  }

  #change(): Promise<void> {
    this.#changed ??= Promise.withResolvers()
    return this.#changed.promise
  }

  #wake(): void {
    this.#changed?.resolve()
    this.#changed = undefined
  }
}
