/** What one client, and all of them, may hold of a TCP server. */
export type TcpLimits = {
  readonly connections: number
  readonly connectionsPerAddress: number
  /** CoreDNS keeps idle upstream connections for 10 s: closing later than it does avoids the race. */
  readonly idleMs: number
  /** From the first octet of a frame to its last, however they drip. */
  readonly frameMs: number
  /** No query needs more. */
  readonly queryOctets: number
  /** Answers that a client has not taken; above it nothing more is read from it. */
  readonly pendingOctets: number
  /** How long it may take to read them. */
  readonly drainMs: number
  /** How long `close` waits for answers to be taken. */
  readonly closeMs: number
}

export const tcpLimits: TcpLimits = {
  connections: 4096,
  connectionsPerAddress: 256,
  idleMs: 30_000,
  frameMs: 5_000,
  queryOctets: 8192,
  pendingOctets: 1024 * 1024,
  drainMs: 10_000,
  closeMs: 5_000,
}

/** What admission needs to know of a connection. */
export interface Limited {
  readonly address: string
  /** Nothing half read, nothing unsent. */
  readonly idle: boolean
  destroy(): void
}

/** The open connections, the one that was quiet for longest first. */
export class Admission<C extends Limited> {
  readonly #limits: Pick<TcpLimits, 'connections' | 'connectionsPerAddress'>
  readonly #open = new Set<C>()
  readonly #perAddress = new Map<string, number>()

  constructor(limits: Pick<TcpLimits, 'connections' | 'connectionsPerAddress'>) {
    this.#limits = limits
  }

  get size(): number {
    return this.#open.size
  }

  [Symbol.iterator](): IterableIterator<C> {
    return this.#open.values()
  }

  /** False when there is no room, also not by closing the longest idle connection. */
  admit(connection: C): boolean {
    const ofAddress = this.#perAddress.get(connection.address) ?? 0
    if (ofAddress >= this.#limits.connectionsPerAddress) return false
    if (this.#open.size >= this.#limits.connections && !this.#evict()) return false
    this.#open.add(connection)
    this.#perAddress.set(connection.address, (this.#perAddress.get(connection.address) ?? 0) + 1)
    return true
  }

  /** The connection did something: it goes to the end of the line. */
  touch(connection: C): void {
    if (this.#open.delete(connection)) this.#open.add(connection)
  }

  remove(connection: C): void {
    if (!this.#open.delete(connection)) return
    const left = (this.#perAddress.get(connection.address) ?? 1) - 1
    if (left === 0) this.#perAddress.delete(connection.address)
    else this.#perAddress.set(connection.address, left)
  }

  #evict(): boolean {
    for (const connection of this.#open) {
      if (!connection.idle) continue
      this.remove(connection)
      connection.destroy()
      return true
    }
    return false
  }
}
