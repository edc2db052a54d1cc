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

/** The open connections, the one that was quiet for longest first: of all clients, and of each. */
export class Admission<C extends Limited> {
  readonly #limits: Pick<TcpLimits, 'connections' | 'connectionsPerAddress'>
  readonly #open = new Set<C>()
  readonly #ofAddress = new Map<string, Set<C>>()

  constructor(limits: Pick<TcpLimits, 'connections' | 'connectionsPerAddress'>) {
    this.#limits = limits
  }

  get size(): number {
    return this.#open.size
  }

  [Symbol.iterator](): IterableIterator<C> {
    return this.#open.values()
  }

  /**
   * Makes room by closing the longest idle connection: of the same client when it has all that one may have, else of
   * anybody (RFC 7766 6.2.3). False when none of them is idle.
   */
  admit(connection: C): boolean {
    const { connections, connectionsPerAddress } = this.#limits
    const own = this.#ofAddress.get(connection.address)
    if (own !== undefined && own.size >= connectionsPerAddress && !this.#evict(own)) return false
    if (this.#open.size >= connections && !this.#evict(this.#open)) return false
    this.#add(connection)
    return true
  }

  /** The connection did something: it goes to the end of the line. */
  touch(connection: C): void {
    if (!this.#open.delete(connection)) return
    this.#ofAddress.get(connection.address)?.delete(connection)
    this.#add(connection)
  }

  remove(connection: C): void {
    if (!this.#open.delete(connection)) return
    const own = this.#ofAddress.get(connection.address)
    own?.delete(connection)
    if (own?.size === 0) this.#ofAddress.delete(connection.address)
  }

  #add(connection: C): void {
    this.#open.add(connection)
    const own = this.#ofAddress.get(connection.address)
    if (own === undefined) this.#ofAddress.set(connection.address, new Set([connection]))
    else own.add(connection)
  }

  #evict(among: ReadonlySet<C>): boolean {
    for (const connection of among) {
      if (!connection.idle) continue
      this.remove(connection)
      connection.destroy()
      return true
    }
    return false
  }
}
