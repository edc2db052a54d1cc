/** A gzip stream (RFC 1952) put together from parts that were compressed before, each for itself. */
import { constants, crc32, deflateRawSync } from 'node:zlib'

/** Bytes that may stand anywhere in a stream. */
export type GzipPart = {
  /** Blocks of deflate that refer to nothing before them, and the head of a stored one: its length is to follow. */
  readonly blocks: Buffer
  readonly length: number
  readonly crc: number
  /** What the checksum of all before is multiplied by. */
  readonly shift: number
}

const options = { level: constants.Z_BEST_SPEED, finishFlush: constants.Z_SYNC_FLUSH }

export function gzipPart(bytes: Buffer): GzipPart {
  const blocks = deflateRawSync(bytes, options)
  const end = blocks.length - emptyLength.length
  if (!blocks.subarray(end).equals(emptyLength)) throw new Error('compressed bytes do not end with a flush')
  // Of its own size: what zlib answers lies in a larger piece of memory.
  const own = Buffer.allocUnsafeSlow(end)
  blocks.copy(own)
  return { blocks: own, length: bytes.length, crc: crc32(bytes), shift: shiftOf(bytes.length) }
}

/** What follows the head of a stored block without bytes, with which zlib ends what it flushes. */
const emptyLength = Buffer.from([0, 0, 0xff, 0xff])

/** No name, no time. */
const header = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 255])
/** The last block, of nothing. */
const lastBlock = Buffer.from([3, 0])

/**
 * Between two parts there is no block without bytes: readers written in Go hand on what they have at each of these, and an
 * aggregator then sends it in three small writes.
 */
export class GzipStream {
  #pieces: Buffer[] = [header]
  #taken = header.length
  #crc = 0
  #length = 0
  /** Whether the head of a stored block is there already. */
  #isOpen: boolean = false

  /** How much has been added since it was last taken. */
  get size(): number {
    return this.#taken
  }

  /** Of all that has been added, without compression. */
  get length(): number {
    return this.#length
  }

  part({ blocks, length, crc, shift }: GzipPart): void {
    this.#close()
    this.#push(blocks)
    this.#isOpen = true
    this.#crc = (product(shift, this.#crc) ^ crc) >>> 0
    this.#length += length
  }

  /** A few bytes, as they are. */
  bytes(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += maxStored) {
      const stored = bytes.subarray(at, at + maxStored)
      const head = Buffer.alloc(5)
      head.writeUInt16LE(stored.length, 1)
      head.writeUInt16LE(maxStored - stored.length, 3)
      this.#push(this.#isOpen ? head.subarray(1) : head)
      this.#push(stored)
      this.#isOpen = false
    }
    this.#crc = crc32(bytes, this.#crc)
    this.#length += bytes.length
  }

  end(): void {
    const trailer = Buffer.alloc(8)
    trailer.writeUInt32LE(this.#crc, 0)
    trailer.writeUInt32LE(this.#length % 2 ** 32, 4)
    this.#close()
    this.#push(lastBlock)
    this.#push(trailer)
  }

  take(): Buffer {
    const all = Buffer.concat(this.#pieces, this.#taken)
    this.#pieces = []
    this.#taken = 0
    return all
  }

  #close(): void {
    if (this.#isOpen) this.#push(emptyLength)
    this.#isOpen = false
  }

  #push(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#taken += piece.length
  }
}

const maxStored = 0xffff

/** Of CRC-32, its bits in reverse. */
const polynomial = 0xedb88320
const one = 0x80000000

/** Of two polynomials modulo that of CRC-32, as in zlib's `crc32_combine`. */
function product(a: number, b: number): number {
  let sum = 0
  let shifted = b
  for (let bits = a; bits !== 0; bits <<= 1) {
    if (bits < 0 || bits >= one) sum ^= shifted
    shifted = (shifted & 1) === 0 ? shifted >>> 1 : (shifted >>> 1) ^ polynomial
  }
  return sum >>> 0
}

/** x^(8·length): what so many bytes behind it do to a checksum. */
function shiftOf(length: number): number {
  let shift = one
  let power = one >>> 8
  for (let rest = length; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) shift = product(power, shift)
    power = product(power, power)
  }
  return shift
}
