/** DNS over a stream: each message behind its length in two octets (RFC 1035 §4.2.2). */
const lengthOctets = 2
const firstBatchOctets = 4096

/** The next whole message in `bytes` from `at` on; `more` when it is not all there, `bad` when its length cannot be. */
export function nextFrame(bytes: Buffer, at: number, maxOctets: number): Buffer | 'more' | 'bad' {
  if (at + lengthOctets > bytes.length) return 'more'
  const octets = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0)
  if (octets < 12 || octets > maxOctets) return 'bad'
  const start = at + lengthOctets
  return start + octets > bytes.length ? 'more' : bytes.subarray(start, start + octets)
}

/** Gathers answers, so that those to one segment leave in one write (RFC 7766 §8). */
export class FrameBatch {
  #bytes = Buffer.allocUnsafeSlow(firstBatchOctets)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(message: Buffer, octets: number): void {
    const end = this.#length + lengthOctets + octets
    if (end > this.#bytes.length) this.#grow(end)
    const bytes = this.#bytes
    const start = this.#length + lengthOctets
    bytes[start - 2] = octets >> 8
    bytes[start - 1] = octets & 0xff
    message.copy(bytes, start, 0, octets)
    this.#length = end
  }

  /** What was gathered, in octets of their own; the batch is empty afterwards. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length))
    this.#length = 0
    return taken
  }

  #grow(needed: number): void {
    const bytes = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
    this.#bytes.copy(bytes, 0, 0, this.#length)
    this.#bytes = bytes
  }
}
