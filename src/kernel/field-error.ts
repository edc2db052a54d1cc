/** The types of `field.Error` in k8s.io/apimachinery, by the `reason` that a Status cause carries. */
export type FieldErrorType =
  | 'FieldValueNotFound'
  | 'FieldValueRequired'
  | 'FieldValueDuplicate'
  | 'FieldValueInvalid'
  | 'FieldValueNotSupported'
  | 'FieldValueForbidden'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid'

/** One thing wrong with one field. `message` is the whole text that a cause carries, without the path. */
export type FieldError = {
  readonly type: FieldErrorType
  /** `spec.ports[0].name`, `metadata.labels`, `spec.map[key]`; `<nil>` or empty for the whole object. */
  readonly field: string
  readonly message: string
}

/** How the value is shown in a message: strings quoted as Go's `%q` does, the rest as JSON. */
export function shown(value: unknown): string {
  if (value === undefined) return 'null'
  const text = JSON.stringify(value)
  return typeof value === 'string' ? text.replace(escapes, goEscape) : text
}

/** An escaped backslash, an escape that Go writes otherwise, or what JSON leaves as it is and Go escapes. */
const escapes = /\\\\|\\u00([01][\da-f])|[\u007f-\u009f\u2028\u2029]/g

function goEscape(found: string, code: string | undefined): string {
  if (found === '\\\\') return found
  if (code === '07') return '\\a'
  if (code === '0b') return '\\v'
  if (code !== undefined) return `\\x${code}`
  const hex = found.charCodeAt(0).toString(16)
  return hex === '7f' ? '\\x7f' : `\\u${hex.padStart(4, '0')}`
}

const fieldError =
  (type: FieldErrorType, title: string) =>
  (field: string, detail: string): FieldError => ({
    type,
    field,
    message: detail === '' ? title : `${title}: ${detail}`,
  })

const withValue =
  (type: FieldErrorType, title: string) =>
  (field: string, value: unknown, detail = ''): FieldError => ({
    type,
    field,
    message: `${title}: ${shown(value)}${detail === '' ? '' : `: ${detail}`}`,
  })

export const required = fieldError('FieldValueRequired', 'Required value')
export const forbiddenField = fieldError('FieldValueForbidden', 'Forbidden')
export const tooLong = fieldError('FieldValueTooLong', 'Too long')
export const invalidValue = withValue('FieldValueInvalid', 'Invalid value')
export const typeInvalid = withValue('FieldValueTypeInvalid', 'Invalid value')
export const duplicateValue = withValue('FieldValueDuplicate', 'Duplicate value')

export function tooMany(field: string, actual: number, max: number): FieldError {
  return {
    type: 'FieldValueTooMany',
    field,
    message: `Too many: ${actual}: must have at most ${max} item${max === 1 ? '' : 's'}`,
  }
}

export function notSupported(field: string, value: unknown, supported: readonly string[]): FieldError {
  return {
    type: 'FieldValueNotSupported',
    field,
    message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(shown).join(', ')}`,
  }
}

/** The changed field of an object whose field may not change. */
export function immutable(field: string, value: unknown): FieldError {
  return invalidValue(field, value, 'field is immutable')
}

export function fieldErrorText(error: FieldError): string {
  return `${error.field}: ${error.message}`
}
