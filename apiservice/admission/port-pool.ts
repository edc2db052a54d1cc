/** A range of ports, handed out by a cursor that moves on; ports are decimal texts, as `AddressPool` has addresses. */
export class PortPool {
  readonly #first: number
  readonly #count: number
  readonly #taken = new Set<string>()
  #next = 0

  constructor(first: number, last: number) {
    this.#first = first
    this.#count = last - first + 1
  }

  get range(): string {
    return `${this.#first}-${this.#first + this.#count - 1}`
  }

  contains(port: number): boolean {
    return Number.isInteger(port) && port >= this.#first && port < this.#first + this.#count
  }

  allocate(): string | undefined {
    for (let step = 0; step < this.#count; step++) {
      const offset = (this.#next + step) % this.#count
      const port = String(this.#first + offset)
      if (this.#taken.has(port)) continue
      this.#taken.add(port)
      this.#next = offset + 1
      return port
    }
    return undefined
  }

  reserve(port: string): boolean {
    if (this.#taken.has(port) || !this.contains(Number(port))) return false
    this.#taken.add(port)
    return true
  }

  release(port: string): boolean {
    return this.#taken.delete(port)
  }
}
