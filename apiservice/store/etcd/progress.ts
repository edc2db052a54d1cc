import type { Clock } from '../../../src/kernel/clock.ts'
import { unavailable } from '../../../src/kernel/errors.ts'
import type { Revision } from '../../store-contract.ts'

type Waiter = { readonly revision: Revision; readonly resolve: () => void }

/** How far memory has come in the changes of etcd, and who waits for more. */
export class Progress {
  readonly #clock: Clock
  /** The lowest revision first. */
  readonly #waiters: Waiter[] = []
  #revision: Revision = 0
  #epoch = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get revision(): Revision {
    return this.#revision
  }

  /** Rises whenever memory is read anew; revisions of two epochs do not compare. */
  get epoch(): number {
    return this.#epoch
  }

  advance(revision: Revision): void {
    if (revision <= this.#revision) return
    this.#revision = revision
    let reached = 0
    while ((this.#waiters[reached]?.revision ?? Number.POSITIVE_INFINITY) <= revision) reached++
    for (const { resolve } of this.#waiters.splice(0, reached)) resolve()
  }

  /** For once it may go back: memory was read anew. */
  restart(revision: Revision): void {
    this.#epoch++
    this.#revision = 0
    this.advance(revision)
  }

  /** Resolves when everything up to a revision is in memory. Throws 503 when that takes too long. */
  reached(revision: Revision, withinMs: number): Promise<void> {
    if (revision <= this.#revision) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const cancel = this.#clock.after(withinMs, () => {
        const at = this.#waiters.indexOf(waiter)
        if (at !== -1) this.#waiters.splice(at, 1)
        reject(unavailable(`the store has not seen revision ${revision} of etcd in time`))
      })
      const waiter: Waiter = {
        revision,
        resolve: () => {
          cancel()
          resolve()
        },
      }
      this.#insert(waiter)
    })
  }

  /** Most are behind all others. */
  #insert(waiter: Waiter): void {
    let at = this.#waiters.length
    while ((this.#waiters[at - 1]?.revision ?? 0) > waiter.revision) at--
    this.#waiters.splice(at, 0, waiter)
  }
}
