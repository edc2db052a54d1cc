import type { Libc, Pointer } from './libc.ts'
import { inet6Family, inetFamily } from './native-socket.ts'

const most = 4096
const addressOctets = 16
const textOctets = 64

/** How the addresses of clients are written, as `node:dgram` writes them but for the zone of a link-local one. */
export class PeerTexts {
  readonly #libc: Libc
  readonly #bytes: Buffer
  readonly #pointer: Pointer
  readonly #known = new Map<number | string, string>()

  constructor(libc: Libc) {
    const memory = new ArrayBuffer(addressOctets + textOctets)
    this.#libc = libc
    this.#bytes = Buffer.from(memory)
    this.#pointer = libc.pointerTo(memory)
  }

  /** The text of the `struct sockaddr` at this offset. */
  textAt(bytes: Buffer, at: number): string {
    const family = bytes.readUInt16LE(at)
    const [start, end] = family === inet6Family ? [at + 8, at + 24] : [at + 4, at + 8]
    const key = family === inet6Family ? bytes.toString('latin1', start, end) : bytes.readUInt32LE(start)
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#known.size >= most) this.#known.clear()
    bytes.copy(this.#bytes, 0, start, end)
    const text = this.#text(family === inet6Family ? inet6Family : inetFamily)
    this.#known.set(key, text)
    return text
  }

  #text(family: number): string {
    this.#libc.inet_ntop(family, this.#pointer, this.#pointer + BigInt(addressOctets), textOctets)
    const end = this.#bytes.indexOf(0, addressOctets)
    return this.#bytes.toString('latin1', addressOctets, end)
  }
}
