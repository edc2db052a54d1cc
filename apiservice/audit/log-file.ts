/** Where events go: a file that is rotated, or the standard output. */
import { once } from 'node:events'
import { basename, dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { createStream } from 'rotating-file-stream'
import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import type { Metrics } from '../../src/kernel/metrics.ts'

export type AuditLogOptions = {
  /** `-` for the standard output. */
  readonly path: string
  /** A file that is larger becomes `<path>.1`, that one `<path>.2`, and so on. */
  readonly maxMegabytes: number
  /** How many of these are kept. */
  readonly maxBackups: number
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

/** What may wait for a slow disk. */
const maxWaitingBytes = 64 * 1024 * 1024
const reopenMs = 5_000

export class AuditLog {
  readonly #options: AuditLogOptions
  readonly #written
  readonly #lost
  #stream: Writable
  #failedMs: number | undefined

  readonly #onError = (thrown: unknown): void => {
    const { path, clock, log } = this.#options
    if (this.#failedMs === undefined)
      log.error('the audit log cannot be written', { path, error: errorText(thrown) })
    this.#failedMs = clock.now()
  }

  private constructor(options: AuditLogOptions) {
    this.#options = options
    this.#written = options.metrics.counter({
      name: 'isthmus_audit_events_total',
      help: 'Events that the audit log has taken.',
    })
    this.#lost = options.metrics.counter({
      name: 'isthmus_audit_events_lost_total',
      help: 'Events that the audit log could not take: its file cannot be written, or is too slow.',
    })
    this.#stream = this.#opened()
  }

  /** Rejects when the file cannot be opened. */
  static async open(options: AuditLogOptions): Promise<AuditLog> {
    const log = new AuditLog(options)
    if (options.path !== '-') await once(log.#stream, 'open')
    return log
  }

  /** One line. Never waits: what cannot be taken in time is dropped and counted. */
  write(line: string): undefined {
    if (this.#failedMs !== undefined && this.#options.clock.now() - this.#failedMs >= reopenMs) {
      this.#failedMs = undefined
      this.#stream = this.#opened()
    }
    if (this.#failedMs !== undefined || this.#stream.writableLength > maxWaitingBytes) {
      this.#lost.add()
      return undefined
    }
    this.#stream.write(line, failed => {
      if (failed) this.#lost.add()
      else this.#written.add()
    })
    return undefined
  }

  /** Resolves when everything is written, or cannot be. */
  async close(): Promise<void> {
    if (this.#stream === process.stdout || this.#failedMs !== undefined) return
    const closed = once(this.#stream, 'close')
    this.#stream.end()
    await closed.catch(() => undefined)
  }

  #opened(): Writable {
    const { path, maxMegabytes, maxBackups } = this.#options
    if (path === '-') return this.#watched(process.stdout)
    const name = basename(path)
    const nameOf = (index: Date | number | null): string =>
      index === null ? name : `${name}.${String(index)}`
    const options = {
      path: dirname(path),
      size: `${maxMegabytes}M`,
      rotate: maxBackups,
      mode: 0o600,
    } as const
    return this.#watched(createStream(nameOf, options))
  }

  /** Whoever read the standard output may have gone: that ends the log, not the server. */
  #watched(stream: Writable): Writable {
    // The standard output comes here again each time.
    return stream.off('error', this.#onError).on('error', this.#onError)
  }
}
