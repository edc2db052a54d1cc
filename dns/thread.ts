/** One answering thread, seen from the main thread. */
import { flushCompileCache, getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock } from '../src/kernel/clock.ts'
import { internal, StatusError } from '../src/kernel/errors.ts'
import type { LoggedAnswers, Report, ZoneChange } from './contract.ts'
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts'

const entry = new URL('./worker.ts', import.meta.url)

/**
 * The old generation holds the zone, some 300 bytes a name; the young one only what a turn throws away, and every worker
 * pays for it.
 */
const resourceLimits = { maxOldGenerationSizeMb: 1024, maxYoungGenerationSizeMb: 4 }

/** Node says once in each thread that `node:ffi` is experimental. */
const execArgv = ['--disable-warning=ExperimentalWarning']

export type ThreadEvents = {
  onReport(report: Report): void
  onAnswers(logged: LoggedAnswers): void
  onNames(count: number): void
  /** Something was thrown that nobody caught; the thread ends. */
  onError(thrown: unknown): void
}

export class AnsweringThread {
  readonly #worker: Worker
  /** Resolves when the thread has ended, for whatever reason. */
  readonly ended: Promise<void>
  /** Who waits for changes that were sent, in their order. */
  readonly #waiting: (() => void)[] = []

  private constructor(worker: Worker, events: ThreadEvents) {
    this.#worker = worker
    this.ended = new Promise(resolve => worker.once('exit', () => resolve()))
    worker.on('error', thrown => events.onError(thrown))
    worker.on('message', (message: FromWorker) => this.#receive(message, events))
    worker.once('exit', () => {
      for (const done of this.#waiting.splice(0)) done()
    })
  }

  /** Resolves when its sockets are bound. Rejects with one sentence when they cannot be. */
  static async start(
    settings: WorkerSettings,
    events: ThreadEvents,
  ): Promise<{ readonly thread: AnsweringThread; readonly port: number }> {
    const env = await compileCache()
    const worker = new Worker(entry, { name: 'dns', workerData: settings, resourceLimits, execArgv, env })
    const listening = new Promise<number>((resolve, reject) => {
      worker.on('message', (message: FromWorker) => {
        if (message.kind === 'listening') resolve(message.port)
        if (message.kind === 'refused') reject(new StatusError(500, 'InternalError', message.message))
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(internal('the answering thread ended before it listened')))
    })
    const thread = new AnsweringThread(worker, events)
    return { thread, port: await listening }
  }

  /** Resolves when the thread answers with it, or has ended. */
  apply(change: ZoneChange): Promise<void> {
    this.tell({ kind: 'change', change })
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  tell(message: ToWorker): void {
    this.#worker.postMessage(message)
  }

  /** Lets it finish what it has begun, at most `withinMs`. */
  async stop(clock: Clock, withinMs: number): Promise<void> {
    this.tell({ kind: 'close' })
    const cancel = clock.after(withinMs, () => void this.#worker.terminate())
    await this.ended
    cancel()
  }

  #receive(message: FromWorker, events: ThreadEvents): void {
    switch (message.kind) {
      case 'applied':
        events.onNames(message.names)
        this.#waiting.shift()?.()
        return
      case 'report':
        events.onReport(message.report)
        return
      case 'answers':
        events.onAnswers(message)
        return
      case 'listening':
      case 'refused':
    }
  }
}

/**
 * Stripping types takes a thread more memory than answering does (12 MB, kept for ever). With Node's compile cache on, the
 * main thread does it once and the workers find the result. Nothing else of the environment concerns them.
 */
async function compileCache(): Promise<Record<string, string>> {
  const directory = getCompileCacheDir()
  if (directory === undefined) return {}
  await import('./worker.ts')
  flushCompileCache()
  return { NODE_COMPILE_CACHE: dirname(directory) }
}
