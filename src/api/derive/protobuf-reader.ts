import { badRequest } from '../../kernel/errors.ts'

/** One field of a message as it lies on the wire. */
export type WireField = { readonly number: number; readonly value: bigint | Buffer }

const wireTypes = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const

/** The fields of a message in their order, unknown ones among them. Throws BadRequest on what is no message. */
export function* wireFields(bytes: Buffer): Generator<WireField> {
  const reader = new Reader(bytes)
  while (!reader.isAtEnd) {
    const tag = reader.length()
    const number = Math.floor(tag / 8)
    if (number === 0) throw malformed()
    yield { number, value: readValue(reader, tag % 8) }
  }
}

function readValue(reader: Reader, type: number): bigint | Buffer {
  switch (type) {
    case wireTypes.varint:
      return reader.varint()
    case wireTypes.bytes:
      return reader.bytes(reader.length())
    case wireTypes.fixed64:
      return reader.bytes(8)
    case wireTypes.fixed32:
      return reader.bytes(4)
    default:
      throw malformed()
  }
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#bytes.length
  }

  /** A varint of 64 bits. */
  varint(): bigint {
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#byte()
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asUintN(64, value)
    }
    throw malformed()
  }

  /** A varint of 32 bits, as tags and lengths are. */
  length(): number {
    let value = 0
    for (let scale = 1; scale <= 2 ** 28; scale *= 128) {
      const byte = this.#byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    throw malformed()
  }

  bytes(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) throw malformed()
    this.#at += length
    return this.#bytes.subarray(this.#at - length, this.#at)
  }

  #byte(): number {
    const byte = this.#bytes[this.#at]
    if (byte === undefined) throw malformed()
    this.#at++
    return byte
  }
}

function malformed(): Error {
  return badRequest('protobuf: the message is malformed')
}
