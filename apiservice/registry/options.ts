/** Query parameters of writes, with the checks of `k8s.io/apimachinery/pkg/apis/meta/v1/validation`. */
import { badRequest, invalid } from '../../src/kernel/errors.ts'
import {
  type FieldError,
  forbiddenField,
  invalidValue,
  notSupported,
  required,
  shown,
  tooLong,
} from '../../src/kernel/field-error.ts'

export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

export type WriteOptions = {
  readonly dryRun: boolean
  readonly fieldValidation: FieldValidation
  /** Empty when the client does not name one. */
  readonly fieldManager: string
}

export type ApplyOptions = WriteOptions & { readonly force: boolean }

export type OptionsKind = 'CreateOptions' | 'UpdateOptions' | 'PatchOptions' | 'DeleteOptions' | 'ListOptions'

const maxFieldManagerBytes = 128
const fieldValidations: readonly string[] = ['', 'Ignore', 'Strict', 'Warn'] satisfies (
  | FieldValidation
  | ''
)[]

/** Throws 422 when an option has no meaning. */
export function writeOptions(
  kind: 'CreateOptions' | 'UpdateOptions' | 'PatchOptions',
  query: URLSearchParams,
): WriteOptions {
  if (query.size === 0) return defaultOptions
  refuse(kind, [
    ...(kind === 'PatchOptions' && query.has('force')
      ? [forbiddenField('force', 'may not be specified for non-apply patch')]
      : []),
    ...writeErrors(query),
  ])
  return readOptions(query)
}

/** Throws 422 when an option has no meaning, or the manager is not named. */
export function applyOptions(query: URLSearchParams): ApplyOptions {
  refuse('PatchOptions', [
    ...(query.get('fieldManager') ? [] : [required('fieldManager', 'is required for apply patch')]),
    ...writeErrors(query),
  ])
  return { ...readOptions(query), force: booleanOption(query.get('force')) }
}

const defaultOptions: WriteOptions = { dryRun: false, fieldValidation: 'Warn', fieldManager: '' }

function writeErrors(query: URLSearchParams): readonly FieldError[] {
  const fieldValidation = query.get('fieldValidation') ?? ''
  return [
    ...fieldManagerErrors(query.get('fieldManager') ?? ''),
    ...dryRunErrors(query.getAll('dryRun')),
    ...(fieldValidations.includes(fieldValidation)
      ? []
      : [notSupported('fieldValidation', fieldValidation, fieldValidations)]),
  ]
}

function readOptions(query: URLSearchParams): WriteOptions {
  const fieldValidation = query.get('fieldValidation') ?? ''
  return {
    dryRun: query.has('dryRun'),
    fieldValidation: fieldValidation === 'Ignore' || fieldValidation === 'Strict' ? fieldValidation : 'Warn',
    fieldManager: query.get('fieldManager') ?? '',
  }
}

export function refuse(kind: OptionsKind, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', kind }, '', errors)
}

export function dryRunErrors(values: readonly string[]): readonly FieldError[] {
  return values.every(value => value === 'All') ? [] : [notSupported('dryRun', values, ['All'])]
}

function fieldManagerErrors(manager: string): readonly FieldError[] {
  const long =
    Buffer.byteLength(manager) > maxFieldManagerBytes
      ? [tooLong('fieldManager', `may not be more than ${maxFieldManagerBytes} bytes`)]
      : []
  const at = manager.search(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u)
  if (at < 0) return long
  const code = (manager.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const position = Buffer.byteLength(manager.slice(0, at))
  const why = `invalid character U+${code} (at position ${position})`
  return [...long, invalidValue('fieldManager', manager, why)]
}

/** Absent, `0` and `false` in any case are false, all else is true, the empty string too. */
export function booleanOption(value: string | null): boolean {
  return value !== null && value !== '0' && value.toLowerCase() !== 'false'
}

/** An absent parameter is undefined. Throws 400 in the words of Go's strconv. */
export function integerOption(value: string | null): number | undefined {
  if (value === null) return undefined
  const problem = integerProblem('ParseInt', value)
  if (problem !== undefined) throw badRequest(problem)
  return Number(value)
}

const integers = {
  ParseInt: { syntax: /^[+-]?\d+$/, least: -(2n ** 63n), greatest: 2n ** 63n - 1n },
  ParseUint: { syntax: /^\d+$/, least: 0n, greatest: 2n ** 64n - 1n },
}
const maxDigits = 20

/** What strconv says of a text that is no number of 64 bits. */
export function integerProblem(parser: keyof typeof integers, text: string): string | undefined {
  const { syntax, least, greatest } = integers[parser]
  const says = (why: string): string => `strconv.${parser}: parsing ${shown(text)}: ${why}`
  if (!syntax.test(text)) return says('invalid syntax')
  const isShort = text.replace(/^[+-]?0*/, '').length <= maxDigits
  return isShort && BigInt(text) >= least && BigInt(text) <= greatest ? undefined : says('value out of range')
}
