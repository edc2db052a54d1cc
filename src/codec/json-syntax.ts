/** What Go's encoding/json says of a text that is no JSON: the native parser finds faults, but has words of its own. */

/** The characters that have a meaning, by code. */
const code = {
  quote: 0x22,
  comma: 0x2c,
  minus: 0x2d,
  point: 0x2e,
  zero: 0x30,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  u: 0x75,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const

/** What Go reads behind the last byte. */
const space = 0x20
const whitespace = codesOf(' \t\r\n')
const digits = codesOf('0123456789')
/** What a string goes on with; what it ends with is looked at. */
const plain = new Uint8Array(256).map((_, byte) =>
  byte < space || byte === code.quote || byte === code.backslash ? 0 : 1,
)
const hexDigits = codesOf('0123456789abcdefABCDEF')
const escaped = codesOf('bfnrt\\/"')
const exponents = codesOf('eE')
const signs = codesOf('+-')
const literals: ReadonlyMap<number, string> = new Map(
  ['true', 'false', 'null'].map(word => [word.charCodeAt(0), word] as const),
)

/** A table by byte: a fault may stand behind megabytes without one. */
type Codes = Uint8Array

function codesOf(letters: string): Codes {
  const codes = new Uint8Array(256)
  for (const letter of Buffer.from(letters)) codes[letter] = 1
  return codes
}

const inHexEscape = String.raw`in \u hexadecimal character escape`
const atTheEnd = 'unexpected end of JSON input'

/** The first fault of a text, as `invalid character '}' looking for beginning of value`. */
export function syntaxFault(text: Buffer): string {
  const scanner = new Scanner(text)
  while (scanner.fault === undefined) scanner.step()
  return scanner.fault
}

/** What may come next: with `first` a container may also end, of a key only the opening quote is known. */
type Expected = 'value' | 'first value' | 'key' | 'first key' | 'colon' | 'end of value'

class Scanner {
  fault: string | undefined
  #at = 0
  #expected: Expected = 'value'
  /** The brackets that are to close what is open. */
  readonly #open: number[] = []
  readonly #text: Buffer

  constructor(text: Buffer) {
    this.#text = text
  }

  /** From one token to the next. */
  step(): void {
    this.#skip(whitespace)
    if (this.#at >= this.#text.length) {
      this.fault = atTheEnd
      return
    }
    switch (this.#expected) {
      case 'value':
      case 'first value':
        this.#value()
        break
      case 'key':
      case 'first key':
        this.#key()
        break
      case 'colon':
        this.#take(code.colon, 'value', 'after object key')
        break
      case 'end of value':
        this.#endOfValue()
    }
  }

  #peek(): number {
    return this.#text[this.#at] ?? space
  }

  #skip(codes: Codes): void {
    const text = this.#text
    let at = this.#at
    while (codes[text[at] ?? 256] === 1) at++
    this.#at = at
  }

  #is(codes: Codes): boolean {
    return codes[this.#peek()] === 1
  }

  /** Behind the last byte there is nothing to point at but the end, unless a token cannot be over yet. */
  #refuse(where: string): void {
    this.fault ??= `invalid character ${quoted(this.#peek())} ${where}`
  }

  #take(wanted: number, next: Expected, where: string): void {
    if (this.#peek() !== wanted) this.#refuse(where)
    this.#at++
    this.#expected = next
  }

  #begin(end: number, next: Expected): void {
    this.#open.push(end)
    this.#at++
    this.#expected = next
  }

  #close(): void {
    this.#open.pop()
    this.#at++
    this.#expected = 'end of value'
  }

  #value(): void {
    const letter = this.#peek()
    const literal = literals.get(letter)
    if (letter === code.openObject) this.#begin(code.closeObject, 'first key')
    else if (letter === code.openList) this.#begin(code.closeList, 'first value')
    else if (letter === code.closeList && this.#expected === 'first value') this.#close()
    else if (letter === code.quote) this.#scalar(() => this.#string())
    else if (letter === code.minus || this.#is(digits)) this.#scalar(() => this.#number())
    else if (literal !== undefined) this.#scalar(() => this.#literal(literal))
    else this.#refuse('looking for beginning of value')
  }

  #scalar(read: () => void): void {
    read()
    this.#expected = 'end of value'
  }

  #key(): void {
    const letter = this.#peek()
    if (letter === code.closeObject && this.#expected === 'first key') {
      this.#close()
    } else if (letter === code.quote) {
      this.#string()
      this.#expected = 'colon'
    } else {
      this.#refuse('looking for beginning of object key string')
    }
  }

  #endOfValue(): void {
    const end = this.#open.at(-1)
    if (end === undefined) this.#refuse('after top-level value')
    else if (this.#peek() === end) this.#close()
    else if (end === code.closeList) this.#take(code.comma, 'value', 'after array element')
    else this.#take(code.comma, 'key', 'after object key:value pair')
  }

  #string(): void {
    this.#at++
    for (this.#skip(plain); this.fault === undefined && this.#peek() !== code.quote; this.#skip(plain)) {
      if (this.#at >= this.#text.length) this.fault = atTheEnd
      else if (this.#peek() === code.backslash) this.#escape()
      else this.#refuse('in string literal')
    }
    this.#at++
  }

  #escape(): void {
    this.#at++
    if (this.#peek() === code.u) {
      this.#at++
      for (let i = 0; i < 4; i++) this.#one(hexDigits, inHexEscape)
    } else {
      this.#one(escaped, 'in string escape code')
    }
  }

  #literal(word: string): void {
    for (const letter of word) {
      if (this.#peek() === letter.charCodeAt(0)) this.#at++
      else this.#refuse(`in literal ${word} (expecting '${letter}')`)
    }
  }

  #number(): void {
    if (this.#peek() === code.minus) this.#at++
    // A zero is a whole number by itself: what comes behind it comes behind the value.
    if (this.#peek() === code.zero) this.#at++
    else this.#many('in numeric literal')
    if (this.#peek() === code.point) {
      this.#at++
      this.#many('after decimal point in numeric literal')
    }
    if (!this.#is(exponents)) return
    this.#at++
    if (this.#is(signs)) this.#at++
    this.#many('in exponent of numeric literal')
  }

  #many(where: string): void {
    this.#one(digits, where)
    this.#skip(digits)
  }

  /** After a fault nothing is read any more. */
  #one(allowed: Codes, where: string): void {
    if (!this.#is(allowed)) this.#refuse(where)
    else if (this.fault === undefined) this.#at++
  }
}

const shownControls: ReadonlyMap<number, string> = new Map([
  [0x07, String.raw`\a`],
  [0x08, String.raw`\b`],
  [0x09, String.raw`\t`],
  [0x0a, String.raw`\n`],
  [0x0b, String.raw`\v`],
  [0x0c, String.raw`\f`],
  [0x0d, String.raw`\r`],
  [0x27, String.raw`\'`],
  [code.backslash, String.raw`\\`],
])

/** A byte, not the letter that it may be a part of: so Go shows it. */
function quoted(byte: number): string {
  return `'${shownControls.get(byte) ?? printed(byte)}'`
}

const [lastAscii, firstPrinted, softHyphen] = [0x7f, 0xa1, 0xad]

function printed(byte: number): string {
  const hex = byte.toString(16).padStart(2, '0')
  if (byte < space || byte === lastAscii) return `\\x${hex}`
  const isHidden = (byte > lastAscii && byte < firstPrinted) || byte === softHyphen
  return isHidden ? `\\u00${hex}` : String.fromCharCode(byte)
}
