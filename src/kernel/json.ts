/**
 * JSON with the integers of Go: those that fit int64 keep every digit. One that a double could not be trusted with is a
 * bigint, every other number is a number; so each value has one form, and what is equal is equal part by part. The
 * native parser does the work. A text gets a second look only when it has as many digits in a row as such an integer.
 */
import { randomBytes } from 'node:crypto'

declare global {
  // The library of the compiler does not know it yet.
  interface JSON {
    rawJSON(text: string): unknown
  }
}

/** `JSON.stringify` asks for it and writes what it answers, so that nobody who writes has to know of bigints. */
Object.defineProperty(BigInt.prototype, 'toJSON', {
  configurable: true,
  value(this: bigint): unknown {
    return JSON.rawJSON(String(this))
  },
})

/** Throws SyntaxError, in the words of the native parser. */
export function fromJson(text: string): unknown {
  return hasManyDigits(text) ? withIntegers(text) : JSON.parse(text)
}

/** The one form of a number. Zero has no sign, as in Go's integers. */
export function canonicalNumber(value: number): number | bigint {
  if (value === 0) return 0
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return value
  const digits = String(value)
  return digits.includes('e') ? value : canonicalInteger(BigInt(digits))
}

export function canonicalInteger(value: bigint): number | bigint {
  const number = Number(value)
  return Number.isSafeInteger(number) || BigInt.asIntN(64, value) !== value ? number : value
}

/** The least count of digits of an integer that a double may not hold, and the greatest of one that fits int64. */
const manyDigits = 16
const maxDigits = 19

/** Whether so many digits stand in a row. Of any 16 characters in a row one is looked at. */
function hasManyDigits(text: string): boolean {
  for (let at = manyDigits - 1; at < text.length; at += manyDigits) {
    if (!isDigit(text.charCodeAt(at))) continue
    let start = at
    let end = at + 1
    while (isDigit(text.charCodeAt(start - 1))) start--
    while (end - start < manyDigits && isDigit(text.charCodeAt(end))) end++
    if (end - start >= manyDigits) return true
  }
  return false
}

const [zero, nine, quote, backslash, minus] = [0x30, 0x39, 0x22, 0x5c, 0x2d]

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

/** Nobody guesses so many, and they are short: some hundred thousand may be read. */
const markBytes = 9

/** Reads long integers as strings that nobody could have sent, and then puts the integers in their places. */
function withIntegers(text: string): unknown {
  const mark = randomBytes(markBytes).toString('base64url')
  const { marked, integers } = markIntegers(text, mark)
  if (integers.length === 0) return JSON.parse(text)
  const value = parsedOr(marked, text)
  let found = 0
  const whole = replaced(value, scalar => {
    if (typeof scalar !== 'string' || !scalar.startsWith(mark)) return scalar
    found += 1
    return integers[Number(scalar.slice(mark.length))]
  })
  // An integer that stands where only a key may stand is a fault, and one of two values of a key is not there.
  if (found < integers.length) JSON.parse(text)
  return whole
}

function parsedOr(marked: string, text: string): unknown {
  try {
    return JSON.parse(marked)
  } catch {
    // What is wrong with the one is wrong with the other, which has the places that its sender knows.
    return JSON.parse(text)
  }
}

function markIntegers(
  text: string,
  mark: string,
): { readonly marked: string; readonly integers: readonly bigint[] } {
  const integers: bigint[] = []
  let marked = ''
  let taken = 0
  for (const { start, end } of numbersOf(text, manyDigits)) {
    const integer = longInteger(text.slice(start, end))
    if (integer === undefined) continue
    marked += `${text.slice(taken, start)}"${mark}${integers.length}"`
    taken = end
    integers.push(integer)
  }
  return { marked: marked + text.slice(taken), integers }
}

/** Undefined when a number says the same. */
function longInteger(digits: string): bigint | undefined {
  if (digits.length > maxDigits + 1 || !/^-?[1-9]\d*$/.test(digits)) return undefined
  const integer = canonicalInteger(BigInt(digits))
  return typeof integer === 'bigint' ? integer : undefined
}

/** The places of the numbers of a JSON text that have at least so many characters. */
export function numbersOf(text: string, least: number): readonly Place[] {
  const places: Place[] = []
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      at = endOfString(text, at)
      if (at < 0) break
    } else if (code === minus || isDigit(code)) {
      const end = endOfNumber(text, at)
      if (end - at >= least) places.push({ start: at, end })
      at = end - 1
    }
  }
  return places
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isOfNumber[text.charCodeAt(end)] === 1) end++
  return end
}

type Place = { readonly start: number; readonly end: number }

const isOfNumber = new Uint8Array(0x80)
for (const letter of '+-.0123456789Ee') isOfNumber[letter.charCodeAt(0)] = 1

const shortString = 48

/** Where the string ends that begins at a quote; negative when it does not. */
export function endOfString(text: string, start: number): number {
  // Most strings are so short that a call to search them takes longer.
  const near = start + shortString
  for (let at = start + 1; at < near; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === backslash) break
  }
  let end = text.indexOf('"', start + 1)
  while (text.charCodeAt(end - 1) === backslash && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end
}

function isEscaped(text: string, at: number): boolean {
  let before = at - 1
  while (text.charCodeAt(before) === backslash) before--
  return (at - before) % 2 === 0
}

type Container = Record<string, unknown> | unknown[]

/** The value with each scalar in it replaced, in place. */
export function replaced(root: unknown, replace: (scalar: unknown) => unknown): unknown {
  const whole = [root]
  const open: Container[] = [whole]
  const replacement = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return replace(value)
    // What is neither a scalar nor a list is an object.
    open.push(value as Container)
    return value
  }
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    if (Array.isArray(container)) replaceItems(container, replacement)
    else replaceValues(container, replacement)
  }
  return whole[0]
}

function replaceItems(items: unknown[], replacement: (value: unknown) => unknown): void {
  for (let i = 0; i < items.length; i++) {
    const next = replacement(items[i])
    if (!Object.is(next, items[i])) items[i] = next
  }
}

function replaceValues(record: Record<string, unknown>, replacement: (value: unknown) => unknown): void {
  for (const key in record) {
    const next = replacement(record[key])
    if (!Object.is(next, record[key])) record[key] = next
  }
}
