import { errorText } from '../../src/kernel/abort.ts'
import type { Clock } from '../../src/kernel/clock.ts'
import type { Logger } from '../../src/kernel/log.ts'
import { every } from '../../src/kernel/work-queue.ts'
import type { ServiceFacts, ServiceSource } from '../contract.ts'
import { readServices, type Stored, touchServices, writeServices } from './snapshot-file.ts'

const saveEveryMs = 10_000

export type KeeperOptions = {
  /** Absent: nothing is kept. */
  readonly file: string | undefined
  /** Whose services are kept. */
  readonly cluster: string
  readonly clock: Clock
  readonly log: Logger
}

/** Keeps the services on disk: written when they changed, at most every ten seconds, and marked as current in between. */
export class SnapshotKeeper {
  readonly #options: KeeperOptions
  #changed: boolean = true
  /** One write after the other: the last one has the newest. */
  #saving: Promise<void> = Promise.resolve()
  /** Until when what is served was known to be current, when that is past. */
  #currentAtMs: number | undefined

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  /** How old the services are that are served for want of newer ones; 0 when they are current, or there are none. */
  get ageSeconds(): number {
    if (this.#currentAtMs === undefined) return 0
    return Math.max(0, this.#options.clock.now() - this.#currentAtMs) / 1000
  }

  /** What was kept; a file that cannot be used is logged and counts as none. */
  async read(): Promise<Stored | undefined> {
    const { file, cluster, log } = this.#options
    if (file === undefined) return undefined
    try {
      const stored = await readServices(file)
      // Two responders with one home, or one that has moved: answers of another cluster are worse than none.
      if (stored !== undefined && (stored.cluster ?? cluster) !== cluster)
        throw new Error(`they are those of cluster ${stored.cluster}`)
      this.#currentAtMs = stored?.currentAtMs
      return stored
    } catch (thrown) {
      log.warn('kept services cannot be used', { file, error: errorText(thrown) })
      return undefined
    }
  }

  /** The services have changed since they were written. */
  changed(): void {
    this.#changed = true
  }

  /** From now on the source is current: writes it until the signal aborts. */
  async keep(source: ServiceSource, serial: () => number, signal: AbortSignal): Promise<void> {
    this.#currentAtMs = undefined
    const { file, clock, log } = this.#options
    if (file === undefined) return
    const options = { name: 'keep dns services', intervalMs: saveEveryMs, clock, log }
    await every(options, () => this.save(source, serial()), signal)
  }

  save(source: ServiceSource, serial: number): Promise<void> {
    const saved = this.#saving.then(() => this.#save(source, serial))
    this.#saving = saved.catch(() => undefined)
    return saved
  }

  async #save(source: ServiceSource, serial: number): Promise<void> {
    const { file, cluster, clock } = this.#options
    if (file === undefined) return
    if (!this.#changed && (await touchServices(file, clock.now()))) return
    this.#changed = false
    try {
      await writeServices(file, { serial, cluster }, allFacts(source))
      await touchServices(file, clock.now())
    } catch (thrown) {
      this.#changed = true
      throw thrown
    }
  }
}

function* allFacts(source: ServiceSource): Generator<ServiceFacts> {
  for (const key of source.keys()) {
    const facts = source.facts(key)
    if (facts !== undefined) yield facts
  }
}
