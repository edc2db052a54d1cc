/** What a scalar of YAML is to sigs.k8s.io/yaml: the rules of go-yaml 2, which are those of YAML 1.1 but for a few. */
import { badRequest } from '../kernel/errors.ts'
import { canonicalInteger, canonicalNumber } from '../kernel/json.ts'

export type Scalar = {
  readonly type: 'null' | 'bool' | 'int' | 'float' | 'str'
  readonly value: null | boolean | number | bigint | string
}

const namespace = 'tag:yaml.org,2002:'

const words = new Map<string, Scalar>()
for (const [scalar, texts] of [
  [{ type: 'bool', value: true }, 'y Y yes Yes YES true True TRUE on On ON'],
  [{ type: 'bool', value: false }, 'n N no No NO false False FALSE off Off OFF'],
  [{ type: 'null', value: null }, '~ null Null NULL'],
  [{ type: 'float', value: Number.NaN }, '.nan .NaN .NAN'],
  [{ type: 'float', value: Number.POSITIVE_INFINITY }, '.inf .Inf .INF +.inf +.Inf +.INF'],
  [{ type: 'float', value: Number.NEGATIVE_INFINITY }, '-.inf -.Inf -.INF'],
] as const) {
  for (const text of texts.split(' ')) words.set(text, scalar)
}
words.set('', { type: 'null', value: null })

/** A scalar without quotes. */
export function untagged(text: string): Scalar {
  return implicit(text, false)
}

/** A scalar with a tag in long form, with or without quotes. Throws BadRequest when the tag does not fit. */
export function tagged(text: string, tag: string): Scalar {
  const name = tag.startsWith(namespace) ? tag.slice(namespace.length) : ''
  switch (name) {
    case 'binary':
      return { type: 'str', value: fromBase64(text) }
    case 'timestamp':
      if (isTimestamp(text)) return { type: 'str', value: text }
      throw unfit(text, name, implicit(text, true))
    case 'null':
    case 'bool':
    case 'int':
    case 'float':
      return fitted(text, name)
    default:
      return { type: 'str', value: text }
  }
}

function fitted(text: string, name: Scalar['type']): Scalar {
  const scalar = implicit(text, true)
  if (scalar.type === name) return scalar
  if (scalar.type === 'int' && name === 'float') return { type: 'float', value: Number(scalar.value) }
  throw unfit(text, name, scalar)
}

function unfit(text: string, name: string, { type }: Scalar): Error {
  return badRequest(`yaml: cannot decode !!${type} \`${text.slice(0, 100)}\` as a !!${name}`)
}

function implicit(text: string, isTagged: boolean): Scalar {
  const word = words.get(text)
  if (word !== undefined) return word
  // A time stays the text that it is.
  if (!/^[-+.\d]/.test(text) || (!isTagged && isTimestamp(text))) return { type: 'str', value: text }
  return numberOf(text) ?? { type: 'str', value: text }
}

function numberOf(text: string): Scalar | undefined {
  if (text.startsWith('.')) return floatOf(text)
  const plain = text.replaceAll('_', '')
  return integerOf(plain) ?? floatOf(plain)
}

const integer = /^([-+]?)(?:0([xX][\da-fA-F]+|[bB][01]+|[oO]?[0-7]+)|(0|[1-9]\d*))$/
const maxDigits = 70

/** Undefined for what fits neither int64 nor uint64. */
function integerOf(text: string): Scalar | undefined {
  const found = text.length > maxDigits ? null : integer.exec(text)
  if (found === null) return undefined
  const [, sign = '', prefixed, decimal = ''] = found
  const size = BigInt(prefixed === undefined ? decimal : `0${prefixed.replace(/^[oO]?(?=[0-7]+$)/, 'o')}`)
  const value = sign === '-' ? -size : size
  const fits = BigInt.asIntN(64, value) === value || (sign === '' && BigInt.asUintN(64, value) === value)
  return fits ? { type: 'int', value: canonicalInteger(value) } : undefined
}

function floatOf(text: string): Scalar | undefined {
  if (!/^[-+]?(\.\d+|\d+(\.\d*)?)([eE][-+]?\d+)?$/.test(text)) return undefined
  const value = Number(text)
  return Number.isFinite(value) ? { type: 'float', value } : undefined
}

/** As Go's time.Parse reads it, but for the length of months. */
function isTimestamp(text: string): boolean {
  return /^\d{4}-(0?[1-9]|1[0-2])-(0?[1-9]|[12]\d|3[01])([Tt]\d\d?:\d\d?:\d\d?(\.\d+)?(Z|[-+]\d\d:\d\d)| \d\d?:\d\d?:\d\d?(\.\d+)?)?$/.test(
    text,
  )
}

function fromBase64(text: string): string {
  const bare = text.replace(/[\r\n]/g, '')
  const isBase64 = /^[A-Za-z0-9+/]*={0,2}$/.test(bare) && bare.length % 4 === 0
  if (!isBase64) throw badRequest('yaml: !!binary value contains invalid base64 data')
  return Buffer.from(bare, 'base64').toString('utf8')
}

/** A value that JSON can say. Throws BadRequest for others. */
export function jsonOf({ value }: Scalar): unknown {
  if (typeof value !== 'number') return value
  if (Number.isFinite(value)) return canonicalNumber(value)
  throw badRequest(
    `yaml: json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`,
  )
}

const maxInt64 = 2 ** 63

/** The key of an object. Throws BadRequest for what can be none. */
export function keyOf({ type, value }: Scalar): string {
  if (type === 'float') return shortFloat(Number(value))
  if (value === null) throw badRequest('yaml: unsupported map key of type: null')
  if (typeof value === 'number' && value >= maxInt64)
    throw badRequest('yaml: unsupported map key of type: uint64')
  return String(value)
}

/** The shortest text that is the same float of 32 bits, with an exponent below 1e-4 and from 1e6 on, as Go's `%g` has it. */
function shortFloat(value: number): string {
  const single = Math.fround(value)
  const word = wordOf(single)
  if (word !== undefined) return word
  const precision = precisions.find(count => Math.fround(Number(single.toPrecision(count))) === single)
  const [digits = '', power = ''] = single.toExponential((precision ?? precisions.length) - 1).split('e')
  const exponent = Number(power)
  if (exponent >= -4 && exponent < 6) return String(Number(`${digits}e${exponent}`))
  return `${digits}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}

/** A float of 32 bits never needs more digits. */
const precisions = [1, 2, 3, 4, 5, 6, 7, 8, 9]

function wordOf(single: number): string | undefined {
  if (Number.isNaN(single)) return '.nan'
  if (!Number.isFinite(single)) return single > 0 ? '.inf' : '-.inf'
  return Object.is(single, -0) ? '-0' : undefined
}
