/**
 * Turns changed services into changes of the zone. A service is compiled alone; what changes while the workers take in a
 * change is gathered for the next one, so a slow worker bounds the queue instead of growing it.
 */
import { background, errorText, sleep } from '../src/kernel/abort.ts'
import type { Clock } from '../src/kernel/clock.ts'
import type { Logger } from '../src/kernel/log.ts'
import type { CompiledService, ServiceKey, ServiceSource, ZoneChange, ZoneSettings } from './contract.ts'
import type { Instruments } from './instruments.ts'
import { type OnProblem, Problems } from './problems.ts'
import { type Compiled, compileService } from './zone/compile.ts'
import { nextSerial } from './zone/serial.ts'

export type PublisherOptions = {
  readonly settings: ZoneSettings
  readonly clock: Clock
  /** A steady clock with fractions of milliseconds. */
  readonly elapsedMs: () => number
  readonly log: Logger
  readonly instruments: Instruments
  /** Hands a change to all workers; resolves when they answer with it. */
  readonly apply: (change: ZoneChange) => Promise<void>
  /** All workers answer with what these services are now. */
  readonly onPublished: (keys: readonly ServiceKey[]) => void
  /** Hears of each part of a service that has no record, once each time it appears. */
  readonly onProblem: OnProblem
  /** All that was known when a source was set is out. */
  readonly loaded: () => void
}

/** Slices of one service often change together. */
const coalesceMs = 2
/** One change holds so many services at most, and takes so long to compile: the main thread has other work. */
const maxServices = 128
const maxCompileMs = 5

export class Publisher {
  readonly #options: PublisherOptions
  readonly #signal: AbortSignal
  readonly #problems: Problems
  readonly #dirty = new Set<ServiceKey>()
  readonly #served = new Set<ServiceKey>()
  readonly #idle: (() => void)[] = []
  #source: ServiceSource | undefined
  #serial = 0
  #loadedDue: boolean = false
  #running: boolean = false

  constructor(options: PublisherOptions, signal: AbortSignal) {
    this.#options = options
    this.#signal = signal
    this.#problems = new Problems(options.log, options.instruments, options.onProblem)
  }

  get serial(): number {
    return this.#serial
  }

  /** Serves what this source knows, and nothing else, with serials above `serial`. Its changes are told by `touch`. */
  use(source: ServiceSource, serial = this.#serial): void {
    this.#source = source
    this.#serial = serial
    this.republish()
  }

  /** Sends everything again, to workers that may have lost it. */
  republish(): void {
    if (this.#source === undefined) return
    for (const key of this.#served) this.#dirty.add(key)
    for (const key of this.#source.keys()) this.#dirty.add(key)
    this.#loadedDue = true
    this.#wake(0)
  }

  touch(key: ServiceKey): void {
    this.#dirty.add(key)
    this.#wake(coalesceMs)
  }

  /** Resolves when nothing is left to be sent. */
  settled(): Promise<void> {
    return this.#running ? new Promise(resolve => this.#idle.push(resolve)) : Promise.resolve()
  }

  #wake(delayMs: number): void {
    if (this.#running || this.#signal.aborted) return
    this.#running = true
    background('dns publisher', this.#options.log, this.#signal, async signal => {
      try {
        if (delayMs > 0) await sleep(this.#options.clock, delayMs, signal)
        await this.#publish(signal)
      } finally {
        this.#running = false
        for (const resolve of this.#idle.splice(0)) resolve()
      }
    })
  }

  async #publish(signal: AbortSignal): Promise<void> {
    while (this.#dirty.size > 0 || this.#loadedDue) {
      if (this.#dirty.size > 0) {
        const { change, keys } = this.#nextChange()
        await this.#options.apply(change)
        this.#options.onPublished(keys)
      }
      signal.throwIfAborted()
      if (this.#dirty.size > 0 || !this.#loadedDue) continue
      this.#loadedDue = false
      this.#options.loaded()
    }
  }

  #nextChange(): { readonly change: ZoneChange; readonly keys: readonly ServiceKey[] } {
    const { clock, instruments } = this.#options
    const started = clock.now()
    const put: CompiledService[] = []
    const removed: ServiceKey[] = []
    const keys: ServiceKey[] = []
    for (const key of this.#dirty) {
      this.#dirty.delete(key)
      const compiled = this.#compiled(key)
      if (compiled === 'failed') continue
      keys.push(key)
      if (compiled === undefined) removed.push(key)
      else put.push(compiled.service, ...compiled.reverse)
      if (put.length + removed.length >= maxServices || clock.now() - started >= maxCompileMs) break
    }
    this.#serial = nextSerial(this.#serial, started)
    instruments.services(this.#served.size)
    instruments.serial(this.#serial)
    return { change: { serial: this.#serial, put, removed }, keys }
  }

  /** Undefined when there is no such service any more; after a fault of ours what was served goes on. */
  #compiled(key: ServiceKey): Compiled | undefined | 'failed' {
    const { settings, log, instruments, elapsedMs } = this.#options
    try {
      const facts = this.#source?.facts(key)
      if (facts === undefined) {
        this.#served.delete(key)
        this.#problems.set(key, [])
        return undefined
      }
      const started = elapsedMs()
      const compiled = compileService(facts, settings)
      instruments.buildSeconds((elapsedMs() - started) / 1000)
      this.#served.add(key)
      this.#problems.set(key, compiled.problems)
      return compiled
    } catch (thrown) {
      log.error('service cannot be compiled', { service: key, error: errorText(thrown) })
      return 'failed'
    }
  }
}
