/** The answering threads. One that dies is started again and told everything. */
import { background, errorText, sleep } from '../src/kernel/abort.ts'
import type { Clock } from '../src/kernel/clock.ts'
import type { Logger } from '../src/kernel/log.ts'
import type { ZoneChange } from './contract.ts'
import type { Instruments } from './instruments.ts'
import type { ToWorker, WorkerSettings } from './messages.ts'
import { probe } from './server/probe.ts'
import { AnsweringThread, type ThreadEvents } from './thread.ts'

export type PoolOptions = {
  readonly workers: number
  readonly host: string
  readonly port: number
  readonly settings: Omit<WorkerSettings, 'endpoint'>
  readonly clock: Clock
  readonly log: Logger
  readonly instruments: Instruments
}

const firstBackoffMs = 100
const maxBackoffMs = 5_000
/** Longer than a worker's own patience with clients that do not read. */
const stopMs = 6_000

export class WorkerPool {
  readonly #options: PoolOptions
  readonly #threads = new Set<AnsweringThread>()
  readonly #closing = new AbortController()
  #port: number
  /** Called when a thread was started again and knows nothing. */
  onRestart: () => void = () => undefined

  private constructor(options: PoolOptions) {
    this.#options = options
    this.#port = options.port
  }

  /** Rejects with one sentence when the port cannot be had. */
  static async start(options: PoolOptions): Promise<WorkerPool> {
    const { workers, host, port } = options
    // A shared port does not tell that somebody else shares it.
    if (workers > 1 && port !== 0) await probe({ host, port })
    const pool = new WorkerPool(options)
    try {
      for (let started = 0; started < workers; started++) await pool.#start(() => undefined)
    } catch (thrown) {
      await pool.close()
      throw thrown
    }
    return pool
  }

  get port(): number {
    return this.#port
  }

  /** Resolves when all threads answer with it. */
  async apply(change: ZoneChange): Promise<void> {
    await Promise.all([...this.#threads].map(thread => thread.apply(change)))
  }

  tell(message: ToWorker): void {
    for (const thread of this.#threads) thread.tell(message)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all([...this.#threads].map(thread => thread.stop(this.#options.clock, stopMs)))
  }

  /** `onStarted` runs before the thread can be told anything else. */
  async #start(onStarted: () => void): Promise<void> {
    const { host, workers, settings } = this.#options
    const endpoint = { host, port: this.#port, shared: workers > 1 }
    const { thread, port } = await AnsweringThread.start({ ...settings, endpoint }, this.#events())
    this.#port = port
    this.#threads.add(thread)
    onStarted()
    background('dns thread', this.#options.log, this.#closing.signal, async signal => {
      await thread.ended
      this.#threads.delete(thread)
      if (!signal.aborted) await this.#restart(signal)
    })
  }

  #events(): ThreadEvents {
    const { instruments, log } = this.#options
    return {
      onReport(report) {
        instruments.report(report)
        if (report.fault !== undefined)
          log.error('answering failed', { error: report.fault, count: report.faults })
      },
      onAnswers({ answers, left }) {
        for (const answer of answers) log.info('answered', answer)
        if (left > 0) log.warn('answers not logged', { count: left })
      },
      onNames: count => instruments.names(count),
      onError: thrown => log.error('answering thread failed', { error: errorText(thrown) }),
    }
  }

  async #restart(signal: AbortSignal): Promise<void> {
    const { clock, log, instruments } = this.#options
    instruments.restarts.add()
    for (let failures = 0; ; failures++) {
      const delayMs = Math.min(firstBackoffMs * 2 ** failures, maxBackoffMs)
      log.warn('answering thread ended, starting it again', { delayMs })
      await sleep(clock, delayMs, signal)
      try {
        await this.#start(this.onRestart)
        return
      } catch (thrown) {
        log.error('answering thread does not start', { error: errorText(thrown) })
      }
    }
  }
}
