/** The wire format of protocol buffers, as far as etcd's messages need it: integers up to 2^53, bytes, messages. */

/** A message that is being written. Its parts are joined once, when it is sent. */
export class Message {
  readonly #parts: Buffer[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  /** Zero is what an absent field means, so that it is not written. */
  int(field: number, value: number): this {
    if (value === 0) return this
    return this.#add(varints(field * 8, value))
  }

  flag(field: number, value: boolean): this {
    return this.int(field, Number(value))
  }

  bytes(field: number, value: Buffer): this {
    this.#add(varints(field * 8 + 2, value.length))
    return this.#add(value)
  }

  message(field: number, inner: Message): this {
    this.#add(varints(field * 8 + 2, inner.#length))
    this.#parts.push(...inner.#parts)
    this.#length += inner.#length
    return this
  }

  /** The message behind `head`. */
  behind(head: Buffer): Buffer {
    return Buffer.concat([head, ...this.#parts], head.length + this.#length)
  }

  #add(part: Buffer): this {
    this.#parts.push(part)
    this.#length += part.length
    return this
  }
}

function varints(...values: readonly number[]): Buffer {
  const bytes: number[] = []
  for (const value of values) {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80)
    bytes.push(rest)
  }
  return Buffer.from(bytes)
}

/** What is malformed was not sent by etcd. */
function malformed(): Error {
  return new Error('a message of etcd is malformed')
}

/** What is done with the fields of a message, by number. Each takes its value from the reader. */
type FieldReaders = Readonly<Record<number, (reader: MessageReader) => void>>

export class MessageReader {
  readonly #message: Buffer
  #at = 0
  #wireType = 0

  constructor(message: Buffer) {
    this.#message = message
  }

  /** Goes through the fields in the order in which they were written; others than these are skipped. */
  read(fields: FieldReaders): void {
    while (this.#at < this.#message.length) {
      const tag = this.#varint()
      this.#wireType = tag % 8
      const field = fields[Math.floor(tag / 8)]
      if (field === undefined) this.#skip()
      else field(this)
    }
  }

  /** Beyond 2^53, as ids of members are, the last digits are lost. */
  int(): number {
    if (this.#wireType !== 0) throw malformed()
    return this.#varint()
  }

  /** Shares the memory of the message. */
  bytes(): Buffer {
    if (this.#wireType !== 2) throw malformed()
    const length = this.#varint()
    return this.#take(length)
  }

  text(): string {
    return this.bytes().toString()
  }

  inner(): MessageReader {
    return new MessageReader(this.bytes())
  }

  #skip(): void {
    if (this.#wireType === 0) this.#varint()
    else if (this.#wireType === 2) this.bytes()
    else if (this.#wireType === 1) this.#take(8)
    else if (this.#wireType === 5) this.#take(4)
    else throw malformed()
  }

  #take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#message.length) throw malformed()
    const taken = this.#message.subarray(this.#at, end)
    this.#at = end
    return taken
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; scale < 2 ** 70; scale *= 0x80) {
      const byte = this.#message[this.#at++]
      if (byte === undefined) break
      value += (byte & 0x7f) * scale
      if (byte < 0x80) return value
    }
    throw malformed()
  }
}
