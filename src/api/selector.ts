/**
 * Label and field selectors in the grammar of k8s.io/apimachinery, with its words for what is wrong in them. Parsing
 * throws BadRequest; matching never throws.
 */
import { badRequest, type StatusError } from '../kernel/errors.ts'
import { fieldErrorText, invalidValue } from '../kernel/field-error.ts'
import { labelKeyErrors, labelValueErrors } from './names.ts'

export type Labels = Readonly<Record<string, string>>

type LabelRequirement = {
  readonly key: string
  readonly operator: 'in' | 'notIn' | 'exists' | 'absent' | 'greater' | 'less'
  readonly values: ReadonlySet<string>
}

/** All of them must hold; none selects everything. */
export type LabelSelector = readonly LabelRequirement[]

type FieldRequirement = { readonly field: string; readonly value: string; readonly equal: boolean }

/** All of them must hold; none selects everything. */
export type FieldSelector = readonly FieldRequirement[]

export function matchesLabels(selector: LabelSelector, labels: Labels): boolean {
  return selector.every(requirement => holds(requirement, labels))
}

/** `fieldOf` answers the empty string for a field that an object lacks. */
export function matchesFields(selector: FieldSelector, fieldOf: (field: string) => string): boolean {
  return selector.every(({ field, value, equal }) => (fieldOf(field) === value) === equal)
}

function holds({ key, operator, values }: LabelRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'exists':
      return value !== undefined
    case 'absent':
      return value === undefined
    case 'in':
      return value !== undefined && values.has(value)
    case 'notIn':
      return value === undefined || !values.has(value)
    case 'greater':
    case 'less':
      return value !== undefined && compares(operator, value, values)
  }
}

/** Label values have no sign. */
const integer = /^\d{1,19}$/

function compares(operator: 'greater' | 'less', value: string, values: ReadonlySet<string>): boolean {
  const [bound] = values
  if (bound === undefined || !integer.test(value)) return false
  const difference = BigInt(value) - BigInt(bound)
  return operator === 'greater' ? difference > 0n : difference < 0n
}

// ---- labels -----------------------------------------------------------------------------------------------------

/** `word` is an identifier, `end` the end of the text; all others are their own text. */
type Token = { readonly kind: string; readonly text: string }

const end: Token = { kind: 'end', text: '' }
const symbols: ReadonlySet<string> = new Set(['(', ')', ',', '!', '=', '==', '!=', '>', '<'])
const tokens = /[=!<>(),]+|[^\s=!<>(),]+/g

function tokenize(text: string): Token[] {
  const found: Token[] = []
  for (const [run] of text.matchAll(tokens)) {
    if (/^[=!<>(),]/.test(run)) found.push(...symbolsOf(run))
    else found.push({ kind: run === 'in' || run === 'notin' ? run : 'word', text: run })
  }
  return found
}

/** The longest symbols first: `==` is one, `!!` are two. */
function symbolsOf(run: string): Token[] {
  const found: Token[] = []
  for (let at = 0; at < run.length; ) {
    const two = run.slice(at, at + 2)
    const text = symbols.has(two) ? two : run.slice(at, at + 1)
    found.push({ kind: text, text })
    at += text.length
  }
  return found
}

class Reader {
  readonly #tokens: readonly Token[]
  #at = 0

  constructor(text: string) {
    this.#tokens = tokenize(text)
  }

  peek(): Token {
    return this.#tokens[this.#at] ?? end
  }

  next(): Token {
    const token = this.peek()
    this.#at += 1
    return token
  }
}

/** `in` and `notin` are words where a key or a value stands. */
function isWord(token: Token): boolean {
  return token.kind === 'word' || token.kind === 'in' || token.kind === 'notin'
}

/** `a=1,b in (x,y),!c,d,e!=2,n>5`. The empty text selects everything. */
export function parseLabelSelector(text: string): LabelSelector {
  const reader = new Reader(text)
  const selector: LabelRequirement[] = []
  while (reader.peek() !== end) {
    const first = reader.peek()
    if (!isWord(first) && first.kind !== '!') {
      throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`)
    }
    selector.push(requirementOf(reader))
    const after = reader.next()
    if (after === end) break
    if (after.kind !== ',') throw badRequest(`found '${after.text}', expected: ',' or 'end of string'`)
    const following = reader.peek()
    if (!isWord(following) && following.kind !== '!') {
      throw badRequest(`found '${following.text}', expected: identifier after ','`)
    }
  }
  return selector
}

function unreadable(why: string): StatusError {
  return badRequest(`unable to parse requirement: ${why}`)
}

function requirementOf(reader: Reader): LabelRequirement {
  const negated = reader.peek().kind === '!'
  if (negated) reader.next()
  const key = reader.next()
  if (!isWord(key)) throw unreadable(`found '${key.text}', expected: identifier`)
  const wrongKey = labelKeyErrors(key.text)
  if (wrongKey.length > 0) {
    throw unreadable(fieldErrorText(invalidValue('key', key.text, wrongKey.join('; '))))
  }
  const after = reader.peek()
  if (negated || after === end || after.kind === ',') {
    return { key: key.text, operator: negated ? 'absent' : 'exists', values: new Set() }
  }
  return valuesOf(key.text, reader)
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1)

const operators: ReadonlyMap<string, LabelRequirement['operator']> = new Map([
  ['in', 'in'],
  ['notin', 'notIn'],
  ['=', 'in'],
  ['==', 'in'],
  ['!=', 'notIn'],
  ['>', 'greater'],
  ['<', 'less'],
])

function valuesOf(key: string, reader: Reader): LabelRequirement {
  const symbol = reader.next()
  const operator = operators.get(symbol.kind)
  if (operator === undefined) {
    throw unreadable(`found '${symbol.text}', expected: in, notin, =, ==, !=, gt, lt`)
  }
  const isSet = symbol.kind === 'in' || symbol.kind === 'notin'
  const values = new Set(isSet ? setOf(reader) : [singleOf(reader)])
  const sorted = [...values].sort(byText)
  const errors = sorted.flatMap((value, i) =>
    labelValueErrors(value).map(why => fieldErrorText(invalidValue(`values[${i}][${key}]`, value, why))),
  )
  const [bound = ''] = values
  if ((operator === 'greater' || operator === 'less') && !integer.test(bound)) {
    errors.push(
      fieldErrorText(
        invalidValue('values[0]', bound, "for 'Gt', 'Lt' operators, the value must be an integer"),
      ),
    )
  }
  if (errors.length > 0) throw unreadable(errors.length === 1 ? (errors[0] ?? '') : `[${errors.join(', ')}]`)
  return { key, operator, values }
}

/** What stands behind `=`: nothing is the empty value. */
function singleOf(reader: Reader): string {
  const token = reader.peek()
  if (token === end || token.kind === ',') return ''
  reader.next()
  if (!isWord(token)) throw unreadable(`found '${token.text}', expected: identifier`)
  return token.text
}

/** `(a,b)`. A missing value is the empty one: `()`, `(a,)`, `(,a)`. */
function setOf(reader: Reader): readonly string[] {
  const open = reader.next()
  if (open.kind !== '(') throw unreadable(`found '${open.text}' expected: '('`)
  const values: string[] = []
  for (;;) {
    const token = reader.peek()
    if (token.kind === ',' || token.kind === ')') values.push('')
    else if (isWord(token)) values.push(reader.next().text)
    else throw unreadable(`found '${token.text}', expected: ',', ')' or identifier`)
    const after = reader.next()
    if (after.kind === ')') return values
    if (after.kind !== ',') throw unreadable(`found '${after.text}', expected: ',' or ')'`)
  }
}

// ---- fields -----------------------------------------------------------------------------------------------------

/** `metadata.name=web,status.phase!=Active`, with `\\`, `\,` and `\=` in values. The empty text selects everything. */
export function parseFieldSelector(text: string): FieldSelector {
  return termsOf(text)
    .filter(term => term !== '')
    .map(term => {
      const [, field, operator, value] = /^(.*?)(!=|==|=)(.*)$/s.exec(term) ?? []
      if (field === undefined || operator === undefined || value === undefined) {
        throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`)
      }
      return { field, equal: operator !== '!=', value: unescaped(value) }
    })
}

/** Splits at commas that no backslash precedes. */
function termsOf(text: string): readonly string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  return [...terms, text.slice(start)]
}

function unescaped(value: string): string {
  let result = ''
  for (let at = 0; at < value.length; at += 1) {
    const character = value[at] ?? ''
    if (character === '\\') {
      at += 1
      const escaped = value[at] ?? ''
      if (!['\\', ',', '='].includes(escaped)) {
        throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`)
      }
      result += escaped
    } else if (character === ',' || character === '=') {
      throw badRequest(`invalid field selector: unescaped character in value: ${character}`)
    } else result += character
  }
  return result
}
