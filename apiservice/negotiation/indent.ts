const quote = 0x22
const backslash = 0x5c
const newline = 0x0a

/** Whether a byte closes an object or an array. */
const closing = (byte: number): boolean => byte === 0x7d || byte === 0x5d
const opening = (byte: number): boolean => byte === 0x7b || byte === 0x5b
const isSpace = (byte: number): boolean => byte === 0x20 || byte === newline || byte === 0x0d || byte === 0x09

/**
 * Lays JSON out in lines with two spaces of indent, as Go's `json.Indent`, without reading its values: numbers of any
 * size stay as they are. A document may be given in pieces, cut anywhere.
 */
export class Indenter {
  #depth = 0
  #inString: boolean = false
  #escaped: boolean = false
  /** An opening bracket is held back: `{}` stays on one line. */
  #opened: boolean = false

  push(piece: Buffer): Buffer {
    const out: number[] = []
    for (const byte of piece) {
      if (this.#inString) this.#stringByte(byte, out)
      else if (!isSpace(byte)) this.#byte(byte, out)
    }
    return Buffer.from(out)
  }

  #stringByte(byte: number, out: number[]): void {
    out.push(byte)
    if (this.#escaped) this.#escaped = false
    else if (byte === backslash) this.#escaped = true
    else if (byte === quote) this.#inString = false
  }

  #byte(byte: number, out: number[]): void {
    if (closing(byte)) {
      this.#depth--
      if (!this.#opened) this.#breakLine(out)
      this.#opened = false
      out.push(byte)
      return
    }
    if (this.#opened) this.#breakLine(out)
    this.#opened = opening(byte)
    if (this.#opened) this.#depth++
    this.#inString = byte === quote
    out.push(byte)
    if (byte === 0x2c) this.#breakLine(out)
    if (byte === 0x3a) out.push(0x20)
  }

  #breakLine(out: number[]): void {
    out.push(newline)
    for (let i = 0; i < this.#depth; i++) out.push(0x20, 0x20)
  }
}
