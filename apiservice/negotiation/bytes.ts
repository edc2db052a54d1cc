/** Grows a piece of output; strings go in as UTF-8. */
export class ByteWriter {
  #buffer: Buffer
  #length = 0

  /** How many bytes are expected, or where to write. */
  constructor(first: number | Buffer) {
    this.#buffer = typeof first === 'number' ? Buffer.allocUnsafe(first) : first
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

  /** A whole number that is not negative, in decimal. */
  number(value: number): void {
    const length = digitsOf(value)
    this.#reserve(length)
    this.#length += length
    for (let at = this.#length, rest = value; at > this.#length - length; ) {
      const above = Math.floor(rest / 10)
      this.#buffer[--at] = zero + rest - above * 10
      rest = above
    }
  }

  bytes(bytes: Buffer): void {
    this.#reserve(bytes.length)
    // For a few hundred bytes this takes a third of the time of `copy`.
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** The first bytes, up to `end`. */
  bytesUpTo(bytes: Buffer, end: number): void {
    this.#reserve(end)
    bytes.copy(this.#buffer, this.#length, 0, end)
    this.#length += end
  }

  /** What was written. */
  written(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }

  /** Writes over what was written. */
  again(): void {
    this.#length = 0
  }

  #reserve(bytes: number): void {
    if (this.#length + bytes <= this.#buffer.length) return
    const grown = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#length + bytes))
    this.#buffer.copy(grown, 0, 0, this.#length)
    this.#buffer = grown
  }
}

const zero = 0x30

/** How many digits a whole number has that is not negative. */
export function digitsOf(value: number): number {
  let digits = 1
  for (let above = 10; above <= value; above *= 10) digits++
  return digits
}
