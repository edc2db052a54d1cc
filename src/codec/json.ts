/**
 * JSON as Kubernetes reads it: the last of two equal keys wins, and both are reported; nesting is bounded; numbers have
 * one form each; half a surrogate pair is U+FFFD. The native parser does the work. A scan that only hops over strings
 * then counts the keys of the text: when the value has fewer, some were duplicates, and only then are they looked for.
 */
import { isRecord, type JsonRecord } from '../api/record.ts'
import { badRequest, tooManyValues } from '../kernel/errors.ts'
import { canonicalNumber, endOfString, fromJson, numbersOf, replaced } from '../kernel/json.ts'
import { syntaxFault } from './json-syntax.ts'

export type Parsed = {
  readonly value: unknown
  /** Paths of keys that occur more than once, as `spec.items[0].a`; at most 100. */
  readonly duplicates: readonly string[]
}

export const maxDepth = 10_000
/**
 * What a document may weigh: 26,000 keys of one object come to that, or 80,000 items of one list. An EndpointSlice with a
 * thousand endpoints that say all they can weighs 53,000.
 */
export const maxWeight = 80_000
/** Ten thousand operations of a patch with a key or two each. */
export const maxPatchWeight = 120_000
const maxDuplicates = 100

/** Throws BadRequest in the words of Go's encoding/json, for the caller to put into its sentence. */
export function parseJson(source: string | Buffer, heaviest = maxWeight): Parsed {
  const text = wellFormed(typeof source === 'string' ? source : source.toString('utf8'))
  const keys = keysOfText(text, heaviest)
  const value = parseNatively(text, source)
  const found = census(value)
  return {
    value: found.hasOddNumber ? withCanonicalNumbers(value, text) : value,
    duplicates: keys === found.keys ? [] : duplicateKeys(text),
  }
}

/** A pair of surrogates, half of one, or any other escape. */
const escapes =
  /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(\\u[dD][89a-fA-F][\da-fA-F]{2})|\\./gs

/** The text with the replacement character in place of each half of a pair, as Go reads it. Places stay what they are. */
function wellFormed(text: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text
  return text.replace(escapes, (found, half) => (half === undefined ? found : '\\ufffd'))
}

function parseNatively(text: string, source: string | Buffer): unknown {
  try {
    return fromJson(text)
  } catch {
    throw badRequest(syntaxFault(typeof source === 'string' ? Buffer.from(source) : source))
  }
}

/** The characters that give a JSON text its structure, by code. */
const token = {
  end: 0,
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  openList: 0x5b,
  backslash: 0x5c,
  closeList: 0x5d,
  openObject: 0x7b,
  closeObject: 0x7d,
} as const

/** Goes over a JSON text from string to string and bracket to bracket; over another text it comes to an end. */
class Scanner {
  /** Where the token begins, and where its last character is. */
  at = -1
  last = -1
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The next structural character; a string is one quote. */
  next(): number {
    const { text } = this
    for (let i = this.last + 1; i < text.length; i++) {
      const code = text.charCodeAt(i)
      if (!isStructure[code]) continue
      this.at = i
      this.last = code === token.quote ? endOfString(text, i) : i
      return this.last < 0 ? token.end : code
    }
    return token.end
  }

  /** The string that `next` has found. */
  string(): string {
    return String(JSON.parse(this.text.slice(this.at, this.last + 1)))
  }
}

const isStructure = new Uint8Array(0x10000)
for (const code of Object.values(token)) isStructure[code] = 1
isStructure[token.end] = 0
isStructure[token.backslash] = 0

const depthOf = new Int8Array(0x10000)
depthOf[token.openObject] = depthOf[token.openList] = 1
depthOf[token.closeObject] = depthOf[token.closeList] = -1

/** A key takes longer than an item: it is looked up, and may be one of very many. */
const weightOf = new Int8Array(0x10000)
weightOf[token.colon] = 2
weightOf[token.comma] = weightOf[token.openObject] = weightOf[token.openList] = 1

/** Counts keys by their colons, and refuses deep nesting and very many values: both are long work for whoever comes next. */
function keysOfText(text: string, heaviest: number): number {
  const scanner = new Scanner(text)
  let keys = 0
  let weight = 0
  let depth = 0
  for (let code = scanner.next(); code !== token.end; code = scanner.next()) {
    if (code === token.colon) keys++
    weight += weightOf[code] ?? 0
    if (weight > heaviest) throw tooManyValues()
    depth += depthOf[code] ?? 0
    if (depth > maxDepth) throw badRequest('exceeded max depth')
  }
  return keys
}

type Census = { keys: number; hasOddNumber: boolean }

/** How many keys there are, and whether a number may have another form than its own. */
function census(root: unknown): Census {
  const found: Census = { keys: 0, hasOddNumber: isOdd(root) }
  const open: unknown[] = [root]
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (Array.isArray(value)) for (const item of value) count(item, found, open)
    else if (isRecord(value)) countValues(value, found, open)
  }
  return found
}

function countValues(record: JsonRecord, found: Census, open: unknown[]): void {
  for (const key in record) {
    found.keys++
    count(record[key], found, open)
  }
}

function count(value: unknown, found: Census, open: unknown[]): void {
  if (typeof value === 'object') open.push(value)
  else if (isOdd(value)) found.hasOddNumber = true
}

function isOdd(value: unknown): boolean {
  return typeof value === 'number' && (Math.abs(value) > Number.MAX_SAFE_INTEGER || Object.is(value, -0))
}

function withCanonicalNumbers(value: unknown, text: string): unknown {
  return replaced(value, scalar => {
    if (typeof scalar !== 'number') return scalar
    if (!Number.isFinite(scalar)) throw badRequest(outOfRange(text))
    return canonicalNumber(scalar)
  })
}

const maxShownDigits = 40

function outOfRange(text: string): string {
  const place = numbersOf(text, 1).find(({ start, end }) => !Number.isFinite(Number(text.slice(start, end))))
  const digits = text.slice(place?.start, Math.min(place?.end ?? 0, (place?.start ?? 0) + maxShownDigits))
  return `json: cannot unmarshal number ${digits} into Go value of type float64`
}

/** An object or a list that the scanner is in. Only objects have seen keys. */
type Frame = { readonly path: string; readonly seen: Set<string> | undefined; key: string; index: number }

function duplicateKeys(text: string): readonly string[] {
  const scanner = new Scanner(text)
  const frames: Frame[] = []
  const found = new Set<string>()
  let lastString = ''
  for (let code = scanner.next(); code !== token.end; code = scanner.next()) {
    if (code === token.quote) lastString = scanner.string()
    else step(code, frames, lastString, found)
  }
  return [...found]
}

function step(code: number, frames: Frame[], lastString: string, found: Set<string>): void {
  const top = frames.at(-1)
  switch (code) {
    case token.openObject:
      frames.push({ path: placeIn(top), seen: new Set(), key: '', index: 0 })
      return
    case token.openList:
      frames.push({ path: placeIn(top), seen: undefined, key: '', index: 0 })
      return
    case token.comma:
      if (top !== undefined) top.index++
      return
    case token.colon:
      if (top !== undefined) enterKey(top, lastString, found)
      return
    default:
      frames.pop()
  }
}

function placeIn(parent: Frame | undefined): string {
  if (parent === undefined) return ''
  return parent.seen === undefined ? `${parent.path}[${parent.index}]` : join(parent.path, parent.key)
}

function enterKey(frame: Frame, key: string, found: Set<string>): void {
  if (frame.seen?.has(key) && found.size < maxDuplicates) found.add(join(frame.path, key))
  frame.seen?.add(key)
  frame.key = key
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
