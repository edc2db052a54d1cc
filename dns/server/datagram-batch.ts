/** Datagrams of one socket several at a time: recvmmsg(2), sendmmsg(2). */
import type { Libc, Pointer } from './libc.ts'
import { PeerTexts } from './peer-texts.ts'

export const capacity = 32
const dontWait = 0x40

const headerOctets = 64
const vectorOctets = 16
const nameOctets = 32
/** A datagram, and a little more so that the slots do not all begin in the same lines of the processor's cache. */
const messageOctets = 65_536 + 192

/** Offsets in a `struct mmsghdr`. */
const header = { nameLength: 8, vectors: 16, vectorCount: 24, length: 56 }

/** As many `struct mmsghdr` as fit a batch, each with its name and its octets. */
class Slots {
  readonly pointer: Pointer
  readonly bytes: Buffer
  /** The same memory in words of four octets. */
  readonly words: Uint32Array
  readonly names: number
  readonly #vectors: number
  readonly #data: number
  readonly #stride: number

  constructor(libc: Libc, octets: number) {
    this.#stride = octets
    this.#vectors = capacity * headerOctets
    this.names = this.#vectors + capacity * vectorOctets
    this.#data = this.names + capacity * nameOctets
    const memory = new ArrayBuffer(this.#data + capacity * octets)
    this.pointer = libc.pointerTo(memory)
    this.bytes = Buffer.from(memory)
    this.words = new Uint32Array(memory)
    for (let slot = 0; slot < capacity; slot++) this.#link(slot)
  }

  /** Where the octets of a slot begin. */
  data(slot: number): number {
    return this.#data + slot * this.#stride
  }

  name(slot: number): number {
    return this.names + slot * nameOctets
  }

  nameLengthWord(slot: number): number {
    return (slot * headerOctets + header.nameLength) >> 2
  }

  /** Of what came in. */
  length(slot: number): number {
    return this.words[(slot * headerOctets + header.length) >> 2] ?? 0
  }

  /** Of what goes out. */
  setLength(slot: number, octets: number): void {
    this.words[(this.#vectors + slot * vectorOctets + 8) >> 2] = octets
  }

  #link(slot: number): void {
    const at = slot * headerOctets
    const vector = this.#vectors + slot * vectorOctets
    const point = (where: number, to: number): void => {
      this.bytes.writeBigUInt64LE(this.pointer + BigInt(to), where)
    }
    point(at, this.name(slot))
    this.words[this.nameLengthWord(slot)] = nameOctets
    point(at + header.vectors, vector)
    this.bytes.writeBigUInt64LE(1n, at + header.vectorCount)
    point(vector, this.data(slot))
    this.setLength(slot, this.#stride)
  }
}

/** One for a socket. Between `receive` and `send` it holds one batch. */
export class DatagramBatch {
  readonly #libc: Libc
  readonly #fd: number
  readonly #in: Slots
  readonly #out: Slots
  readonly #texts: PeerTexts
  #received = 0
  #replies = 0
  /** Of each reply: its octets, and which message it answers. */
  readonly #lengths = new Uint16Array(capacity)
  readonly #askers = new Uint16Array(capacity)

  /** `replyOctets` is the most that an answer may have. */
  constructor(libc: Libc, fd: number, replyOctets: number) {
    this.#libc = libc
    this.#fd = fd
    this.#in = new Slots(libc, messageOctets)
    this.#out = new Slots(libc, (replyOctets + 3) & ~3)
    this.#texts = new PeerTexts(libc)
  }

  /** How many datagrams were waiting, at most 32. */
  receive(): number {
    for (let slot = 0; slot < this.#received; slot++) {
      this.#in.words[this.#in.nameLengthWord(slot)] = nameOctets
    }
    this.#replies = 0
    this.#received = Math.max(0, this.#libc.recvmmsg(this.#fd, this.#in.pointer, capacity, dontWait, 0n))
    return this.#received
  }

  /** Valid until the next `receive`. */
  message(at: number): Buffer {
    const start = this.#in.data(at)
    return this.#in.bytes.subarray(start, start + this.#in.length(at))
  }

  port(at: number): number {
    return this.#in.bytes.readUInt16BE(this.#in.name(at) + 2)
  }

  address(at: number): string {
    return this.#texts.textAt(this.#in.bytes, this.#in.name(at))
  }

  /** Puts the first `octets` of `bytes` beside the others that go out with `send`. */
  reply(at: number, bytes: Buffer, octets: number): void {
    const slot = this.#replies++
    bytes.copy(this.#out.bytes, this.#out.data(slot), 0, octets)
    this.#out.setLength(slot, octets)
    const from = this.#in.name(at) >> 2
    const to = this.#out.name(slot) >> 2
    for (let word = 0; word < nameOctets / 4; word++) {
      this.#out.words[to + word] = this.#in.words[from + word] ?? 0
    }
    this.#out.words[this.#out.nameLengthWord(slot)] = this.#in.words[this.#in.nameLengthWord(at)] ?? 0
    this.#lengths[slot] = octets
    this.#askers[slot] = at
  }

  /** Hands what the kernel does not take at once to `left`: a copy, and which message it answers. */
  send(left: (reply: Buffer, at: number) => void): void {
    if (this.#replies === 0) return
    const sent = Math.max(0, this.#libc.sendmmsg(this.#fd, this.#out.pointer, this.#replies, dontWait))
    for (let slot = sent; slot < this.#replies; slot++) {
      const start = this.#out.data(slot)
      const octets = this.#lengths[slot] ?? 0
      left(Buffer.from(this.#out.bytes.subarray(start, start + octets)), this.#askers[slot] ?? 0)
    }
  }
}
