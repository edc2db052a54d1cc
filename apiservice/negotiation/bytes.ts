/** Grows a piece of output; strings go in as UTF-8. */
export class ByteWriter {
  #buffer: Buffer
  #length = 0

  constructor(firstBytes: number) {
    this.#buffer = Buffer.allocUnsafe(firstBytes)
  }

  get length(): number {
    return this.#length
  }

  text(text: string): void {
    // A UTF-16 unit becomes at most three bytes.
    this.#reserve(text.length * 3)
    this.#length += this.#buffer.write(text, this.#length, 'utf8')
  }

  /** A few characters, all of them ASCII: they are here before a call would have begun. */
  ascii(text: string): void {
    this.#reserve(text.length)
    for (let i = 0; i < text.length; i++) this.#buffer[this.#length++] = text.charCodeAt(i)
  }

  bytes(bytes: Buffer, end: number = bytes.length): void {
    this.#reserve(end)
    bytes.copy(this.#buffer, this.#length, 0, end)
    this.#length += end
  }

  /** What was written since the last time. The writer begins a new piece. */
  take(nextBytes: number): Buffer {
    const piece = this.#buffer.subarray(0, this.#length)
    this.#buffer = Buffer.allocUnsafe(nextBytes)
    this.#length = 0
    return piece
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }
}
