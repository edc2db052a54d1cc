import type { Revision } from '../../store-contract.ts'

/**
 * Learns etcd's newest revision for everybody who wants to read: one request for all that come while another is under
 * way. Each gets the answer of a request that began after it came.
 */
export class Barrier {
  readonly #ask: () => Promise<Revision>
  #running: Promise<unknown> | undefined
  #next: Promise<Revision> | undefined

  constructor(ask: () => Promise<Revision>) {
    this.#ask = ask
  }

  newest(): Promise<Revision> {
    this.#next ??= this.#after(this.#running)
    return this.#next
  }

  async #after(running: Promise<unknown> | undefined): Promise<Revision> {
    // Those who come in the same turn share it, too.
    await running
    const asked = this.#ask()
    this.#running = asked.then(ignore, ignore)
    this.#next = undefined
    return asked
  }
}

function ignore(): void {
  // Told to those who asked.
}
