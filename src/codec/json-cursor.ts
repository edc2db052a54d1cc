const [space, tab, newline, carriageReturn] = [0x20, 0x09, 0x0a, 0x0d]
const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const openingBracket = 0x5b
const closingBracket = 0x5d
const openingBrace = 0x7b
const closingBrace = 0x7d
const firstOfTwoBytes = 0x80
const shortPiece = 64

/**
 * A place in a JSON text. It is moved on over what is found there; where something is missing, the text is of no more
 * use.
 */
export class JsonCursor {
  readonly #json: Buffer
  at: number

  constructor(json: Buffer, at = 0) {
    this.#json = json
    this.at = at
  }

  get isAtEnd(): boolean {
    return this.at === this.#json.length
  }

  get isAtRecord(): boolean {
    return this.#json[this.at] === openingBrace
  }

  skipSpace(): void {
    while (isSpace(this.#json[this.at])) this.at++
  }

  /** Over an opening brace. */
  enter(): boolean {
    if (!this.isAtRecord) return false
    this.at++
    this.skipSpace()
    return true
  }

  /** Over a closing brace. */
  leave(): boolean {
    this.skipSpace()
    if (this.#json[this.at] !== closingBrace) return false
    this.at++
    return true
  }

  /** Over the name of the next field and the colon; undefined where there is none, or one with escapes. */
  name(isFirst: boolean, expected?: string): string | undefined {
    if (!isFirst && this.#json[this.at++] !== comma) return undefined
    this.skipSpace()
    const name = this.#isExpected(expected) ? expected : this.plainText()
    this.skipSpace()
    if (name === undefined || this.#json[this.at] !== colon) return undefined
    this.at++
    this.skipSpace()
    return name
  }

  #isExpected(name: string | undefined): boolean {
    if (name === undefined || this.#json[this.at] !== quote) return false
    const start = this.at + 1
    const end = start + name.length
    if (this.#json[end] !== quote) return false
    for (let at = start; at < end; at++) if (this.#json[at] !== name.charCodeAt(at - start)) return false
    this.at = end + 1
    return true
  }

  /** Over a string without escapes, all of it ASCII. */
  plainText(): string | undefined {
    if (this.#json[this.at] !== quote) return undefined
    for (let end = this.at + 1; end < this.#json.length; end++) {
      const byte = this.#json[end] ?? 0
      if (byte < space || byte === backslash || byte >= firstOfTwoBytes) return undefined
      if (byte !== quote) continue
      const text = this.#json.toString('latin1', this.at + 1, end)
      this.at = end + 1
      return text
    }
    return undefined
  }

  /** Over a value that has these very bytes in another text. */
  skipIfSame(other: Buffer, start: number, end: number): boolean {
    const behind = this.at + end - start
    if (!isDelimiter(this.#json[behind]) || !this.#isSame(other, start, end)) return false
    this.at = behind
    return true
  }

  /** Of short pieces, as most are, byte by byte: a call takes longer. */
  #isSame(other: Buffer, start: number, end: number): boolean {
    if (end - start > shortPiece)
      return other.compare(this.#json, this.at, this.at + end - start, start, end) === 0
    for (let at = start; at < end; at++) if (other[at] !== this.#json[this.at + at - start]) return false
    return true
  }

  /** Over a value, of which only brackets and strings are looked at; answers its end, or less than zero. */
  skipValue(): number {
    const end = this.#endOfValue()
    if (end > this.at) this.at = end
    else return -1
    return end
  }

  #endOfValue(): number {
    const json = this.#json
    let depth = 0
    for (let at = this.at; at < json.length; at++) {
      const byte = json[at] ?? 0
      if (depth === 0 && isDelimiter(byte)) return at
      if (byte === quote) at = endOfString(json, at)
      depth += depthOf[byte] ?? 0
      if (depth <= 0 && closes[byte] === 1) return at + 1
    }
    return -1
  }
}

/** The closing quote of the string that begins at a quote; behind the text when there is none. */
export function endOfString(json: Buffer, start: number): number {
  let at = start + 1
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1
  return at
}

const depthOf = new Int8Array(0x100)
depthOf[openingBrace] = depthOf[openingBracket] = 1
depthOf[closingBrace] = depthOf[closingBracket] = -1

/** What a value ends with, at the depth where it begins. */
const closes = new Uint8Array(0x100)
closes[quote] = closes[closingBrace] = closes[closingBracket] = 1

function isSpace(byte: number | undefined): boolean {
  return byte === space || byte === newline || byte === carriageReturn || byte === tab
}

/** What may stand behind a value of a record. */
function isDelimiter(byte: number | undefined): boolean {
  return byte === comma || byte === closingBrace || isSpace(byte)
}
