/**
 * The forms that names, labels and keys may have, with the sentences that k8s.io/apimachinery says when they do not.
 * Each function answers what is wrong; nothing when the value is good. Lengths are bytes, and are checked before any
 * pattern so that no pattern runs over a long text.
 */

const dns1123LabelMaxLength = 63
const dns1123SubdomainMaxLength = 253

type Form = {
  readonly pattern: RegExp
  readonly shown: string
  readonly rule: string
  readonly examples: readonly string[]
}

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'
const subdomain = `${label}(\\.${label})*`
const dns1035 = '[a-z]([-a-z0-9]*[a-z0-9])?'
const qualifiedPart = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]'

function form(shown: string, rule: string, examples: readonly string[]): Form {
  return { pattern: new RegExp(`^(?:${shown})$`), shown, rule, examples }
}

const labelForm = form(
  label,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ['my-name', '123-abc'],
)
const subdomainForm = form(
  subdomain,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
)
const dns1035Form = form(
  dns1035,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  ['my-name', 'abc-123'],
)
const keyRule =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const keyForm = form(qualifiedPart, keyRule, ['MyName', 'my.name', '123-abc'])
const valueForm = form(
  `(${qualifiedPart})?`,
  `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
  ['MyValue', 'my_value', '12345'],
)
const configKeyForm = form(
  '[-._a-zA-Z0-9]+',
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  ['key.name', 'KEY_NAME', 'key-name'],
)

function sentence(of: Form): string {
  const examples = of.examples.map(e => `'${e}', `).join(' or ')
  return `${of.rule} (e.g. ${examples}regex used for validation is '${of.shown}')`
}

function check(value: string, of: Form, tooLong: string, maxBytes: number): readonly string[] {
  if (Buffer.byteLength(value) > maxBytes) return [tooLong]
  return of.pattern.test(value) ? [] : [sentence(of)]
}

const noMoreThan = (max: number, unit: string) => `must be no more than ${max} ${unit}`

export function dns1123LabelErrors(value: string): readonly string[] {
  const errors = check(
    value,
    labelForm,
    noMoreThan(dns1123LabelMaxLength, 'characters'),
    dns1123LabelMaxLength,
  )
  const dotted = errors.length > 0 && value.length <= 63 && subdomainForm.pattern.test(value)
  return dotted ? ['must not contain dots'] : errors
}

export function dns1123SubdomainErrors(value: string): readonly string[] {
  const max = dns1123SubdomainMaxLength
  return check(value, subdomainForm, noMoreThan(max, 'characters'), max)
}

export function dns1035LabelErrors(value: string): readonly string[] {
  return check(value, dns1035Form, noMoreThan(dns1123LabelMaxLength, 'characters'), dns1123LabelMaxLength)
}

/** What a URL path segment may be: names of RBAC objects. */
export function pathSegmentErrors(value: string, prefix: boolean): readonly string[] {
  if (!prefix && value === '.') return ["may not be '.'"]
  if (!prefix && value === '..') return ["may not be '..'"]
  return ['/', '%'].filter(c => value.includes(c)).map(c => `may not contain '${c}'`)
}

/** Objects have few keys, and the same again and again. */
const goodLabelKeys = new Set<string>()
const maxGoodLabelKeys = 1_024

/** A key of labels and annotations, a finalizer: an optional DNS prefix, `/`, and a name. */
export function labelKeyErrors(value: string): readonly string[] {
  if (goodLabelKeys.has(value)) return noErrors
  const errors = faultsOfLabelKey(value)
  if (errors.length > 0) return errors
  if (goodLabelKeys.size >= maxGoodLabelKeys) goodLabelKeys.clear()
  goodLabelKeys.add(value)
  return noErrors
}

const noErrors: readonly string[] = []

function faultsOfLabelKey(value: string): readonly string[] {
  const parts = value.split('/', 3)
  if (parts.length > 2) {
    return [
      `a valid label key ${sentence(keyForm)} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ]
  }
  const name = parts.at(-1) ?? ''
  return [...prefixErrors(parts.length === 2 ? parts[0] : undefined), ...namePartErrors(name)]
}

function prefixErrors(prefix: string | undefined): readonly string[] {
  if (prefix === undefined) return []
  if (prefix === '') return ['prefix part must be non-empty']
  const max = dns1123SubdomainMaxLength
  return check(prefix, subdomainForm, noMoreThan(max, 'bytes'), max).map(e => `prefix part ${e}`)
}

function namePartErrors(name: string): readonly string[] {
  if (name === '') return ['name part must be non-empty', `name part ${sentence(keyForm)}`]
  return check(name, keyForm, noMoreThan(63, 'bytes'), 63).map(e => `name part ${e}`)
}

export function labelValueErrors(value: string): readonly string[] {
  return check(value, valueForm, noMoreThan(63, 'bytes'), 63)
}

/** A key of a ConfigMap's data. */
export function configKeyErrors(value: string): readonly string[] {
  const max = dns1123SubdomainMaxLength
  const errors = check(value, configKeyForm, noMoreThan(max, 'characters'), max)
  if (value === '.') return [...errors, "must not be '.'"]
  if (value === '..') return [...errors, "must not be '..'"]
  return value.startsWith('..') ? [...errors, "must not start with '..'"] : errors
}

/** A named port: RFC 6335 without upper case. */
export function portNameErrors(value: string): readonly string[] {
  const rules: readonly (readonly [boolean, string])[] = [
    [value.length > 15, noMoreThan(15, 'characters')],
    [!/^[-a-z0-9]+$/.test(value), 'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)'],
    [!/[a-z]/.test(value), 'must contain at least one letter (a-z)'],
    [value.includes('--'), 'must not contain consecutive hyphens'],
    [value.startsWith('-') || value.endsWith('-'), 'must not begin or end with a hyphen'],
  ]
  return rules.filter(([broken]) => broken).map(([, text]) => text)
}
