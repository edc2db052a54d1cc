/**
 * Wires the responder: services from the cluster, or from disk while it is away → records → workers. The main thread only
 * compiles; every query is answered by a worker.
 */
import type { Cluster } from '../src/cluster/cluster.ts'
import { background, errorText, never, sleep } from '../src/kernel/abort.ts'
import type { Clock } from '../src/kernel/clock.ts'
import { badRequest } from '../src/kernel/errors.ts'
import type { Logger } from '../src/kernel/log.ts'
import type { Metrics } from '../src/kernel/metrics.ts'
import { Leg, Propagation, type Way } from '../src/kernel/propagation.ts'
import { rrType, type ZoneSettings } from './contract.ts'
import { type Instruments, instrumentsOf, observeSource } from './instruments.ts'
import { WorkerPool } from './pool.ts'
import { Publisher } from './publisher.ts'
import { queryItself } from './server/self-query.ts'
import { type AnswerOptions, workerSettings, zoneSettings } from './settings.ts'
import { storedServices } from './source/snapshot-file.ts'
import { SnapshotKeeper } from './source/snapshot-keeper.ts'
import { type WatchedSource, type WatchOptions, watchServices } from './source/watch.ts'
import { Warnings } from './warnings.ts'
import { wireName } from './zone/names.ts'

export type DnsOptions = AnswerOptions & {
  readonly cluster: Cluster
  /** For UDP and TCP; 0 for one that is free. */
  readonly port: number
  /** Where the last known services are kept; absent for nowhere. */
  readonly snapshotFile?: string
  /** Answering threads; 1 when absent. */
  readonly workers?: number
  /** How long `close` goes on answering: until nobody sends queries here any more. 0 when absent. */
  readonly lameDuckMs?: number
  readonly clock: Clock
  readonly log: Logger
  readonly metrics: Metrics
}

export type Dns = {
  /** Sockets are bound and the services are known, from the cluster or from disk; false again once it closes. */
  ready(): boolean
  readonly address: { readonly host: string; readonly port: number }
  /** Resolves when all changes that were seen are answered with. */
  settled(): Promise<void>
  /** Liveness: rejects when its own UDP port does not answer within two seconds. */
  check(signal: AbortSignal): Promise<void>
  /** Never hangs: clients that do not read get five seconds. Safe to call twice. */
  close(): Promise<void>
}

const maxWorkers = 64

/** Resolves when queries are answered; rejects with one sentence when the port cannot be had. Closes when the signal aborts. */
export async function startDns(options: DnsOptions, signal: AbortSignal): Promise<Dns> {
  const settings = zoneSettings(options)
  const instruments = instrumentsOf(options.metrics)
  const log = options.log.child({ cluster: options.cluster.name })
  const pool = await startPool({ ...options, log }, settings, instruments)
  const responder = new RunningResponder({ ...options, log }, { settings, instruments, pool })
  if (signal.aborted) await responder.close()
  signal.throwIfAborted()
  responder.closeOn(signal)
  return responder
}

function startPool(
  options: DnsOptions,
  settings: ZoneSettings,
  instruments: Instruments,
): Promise<WorkerPool> {
  const { host, port, workers = 1, clock, log } = options
  const worker = workerSettings(options, settings)
  if (!Number.isInteger(workers) || workers < 1 || workers > maxWorkers) {
    throw badRequest(`dns: workers must be 1 to ${maxWorkers}, not ${workers}`)
  }
  return WorkerPool.start({ workers, host, port, settings: worker, clock, log, instruments })
}

type Parts = { readonly settings: ZoneSettings; readonly instruments: Instruments; readonly pool: WorkerPool }

class RunningResponder implements Dns {
  readonly #options: DnsOptions
  readonly #parts: Parts
  readonly #stop = new AbortController()
  readonly #keeper: SnapshotKeeper
  readonly #publisher: Publisher
  /** Until all threads answer with it. */
  readonly #answered: Readonly<Record<Way, Leg>>
  #loaded: boolean = false
  #live: WatchedSource | undefined
  #closed: Promise<void> | undefined

  constructor(options: DnsOptions, parts: Parts) {
    const { cluster, clock, log, snapshotFile } = options
    const { settings, instruments, pool } = parts
    this.#options = options
    this.#parts = parts
    const propagation = new Propagation(options.metrics, clock)
    this.#answered = {
      export: new Leg({ propagation, way: 'export', stage: 'answer' }),
      endpoints: new Leg({ propagation, way: 'endpoints', stage: 'answer', total: 'to_dns' }),
    }
    this.#keeper = new SnapshotKeeper({ file: snapshotFile, cluster: cluster.name, clock, log })
    const importOf: WatchedSource['importOf'] = key => this.#live?.importOf(key)
    const warnings = new Warnings({ cluster, clock, log, importOf }, this.#stop.signal)
    const publisher = new Publisher(
      {
        settings,
        clock,
        elapsedMs: () => performance.now(),
        log,
        instruments,
        apply: change => pool.apply(change),
        onPublished: keys => this.#onPublished(keys),
        onProblem: (key, problem) => warnings.tell(key, problem),
        loaded: () => this.#onLoaded(),
      },
      this.#stop.signal,
    )
    this.#publisher = publisher
    pool.onRestart = () => publisher.republish()
    observeSource(options.metrics, {
      snapshotAgeSeconds: () => this.#keeper.ageSeconds,
      isLive: () => this.#live !== undefined,
    })
    background('dns services', log, this.#stop.signal, signal => this.#follow(signal))
  }

  #onPublished(keys: readonly string[]): void {
    for (const leg of Object.values(this.#answered)) for (const key of keys) leg.arrived(key)
  }

  get address(): { readonly host: string; readonly port: number } {
    return { host: this.#options.host, port: this.#parts.pool.port }
  }

  ready(): boolean {
    return this.#loaded && this.#closed === undefined
  }

  async settled(): Promise<void> {
    await this.#publisher.settled()
  }

  check(signal: AbortSignal): Promise<void> {
    const message = Buffer.concat([
      Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
      wireName(this.#parts.settings.origin),
      Buffer.from([0, rrType.soa, 0, 1]),
    ])
    return queryItself({ ...this.address, message }, this.#options.clock, signal)
  }

  closeOn(signal: AbortSignal): void {
    const close = (): void => background('dns close', this.#options.log, never, () => this.close())
    signal.addEventListener('abort', close, { once: true, signal: this.#stop.signal })
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    const { clock, log, lameDuckMs = 0 } = this.#options
    if (lameDuckMs > 0) await sleep(clock, lameDuckMs, never)
    this.#stop.abort()
    await this.#parts.pool.close()
    if (this.#live === undefined) return
    try {
      await this.#keeper.save(this.#live, this.#publisher.serial)
    } catch (thrown) {
      log.warn('services cannot be kept', { error: errorText(thrown) })
    }
  }

  /** From disk until the cluster has told everything, then from the cluster for ever. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { cluster, clock, log } = this.#options
    const onNews: WatchOptions['onNews'] = (key, way, changed) => this.#answered[way].note(key, changed)
    const source = watchServices({ cluster, clock, log, onNews }, signal)
    source.onChange(key => {
      if (this.#live === undefined) return
      this.#keeper.changed()
      this.#publisher.touch(key)
    })
    const stored = await this.#keeper.read()
    if (stored !== undefined) {
      log.info('serving kept services until the cluster answers', { services: stored.services.length })
      this.#publisher.use(storedServices(stored.services), stored.serial)
    }
    await source.synced
    this.#live = source
    this.#publisher.use(source)
    await this.#keeper.keep(source, () => this.#publisher.serial, signal)
  }

  #onLoaded(): void {
    this.#parts.pool.tell({ kind: 'loaded' })
    if (this.#loaded) return
    this.#loaded = true
    this.#options.log.info('answering', { ...this.address, zone: this.#parts.settings.origin })
  }
}
