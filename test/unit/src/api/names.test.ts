import { describe, expect, it } from 'vitest'
import {
  configKeyErrors,
  dns1035LabelErrors,
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  labelKeyErrors,
  labelValueErrors,
  pathSegmentErrors,
  portNameErrors,
} from '../../../../src/api/names.ts'

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
const dns1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"
const namePart =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"

describe('names', () => {
  it.each(['a', 'a-b', '1a', 'a.b-c.d', `${'a'.repeat(63)}.b`])('takes %s for a subdomain', name => {
    expect(dns1123SubdomainErrors(name)).toEqual([])
  })

  it.each(['', 'A', 'a_b', '-a', 'a-', 'a..b', '.a', 'a.', 'ä'])('refuses %j for a subdomain', name => {
    expect(dns1123SubdomainErrors(name)).toEqual([subdomain])
  })

  it('counts the bytes of a subdomain', () => {
    expect(dns1123SubdomainErrors('a'.repeat(253))).toEqual([])
    expect(dns1123SubdomainErrors('a'.repeat(254))).toEqual(['must be no more than 253 characters'])
  })

  it('says that a label has dots, or what it may have', () => {
    expect(dns1123LabelErrors('web-1')).toEqual([])
    expect(dns1123LabelErrors('a.b')).toEqual(['must not contain dots'])
    expect(dns1123LabelErrors('A')).toEqual([label])
    expect(dns1123LabelErrors('a'.repeat(64))).toEqual(['must be no more than 63 characters'])
  })

  it('wants a letter first in a DNS-1035 label', () => {
    expect(dns1035LabelErrors('web')).toEqual([])
    expect(dns1035LabelErrors('1web')).toEqual([dns1035])
  })

  it.each([
    ['.', ["may not be '.'"]],
    ['..', ["may not be '..'"]],
    ['a/b', ["may not contain '/'"]],
    ['a%b', ["may not contain '%'"]],
    ['system:a', []],
  ])('checks the path segment %s', (name, errors) => {
    expect(pathSegmentErrors(name, false)).toEqual(errors)
  })
})

describe('labels', () => {
  it.each(['a', 'A.b_c-1', 'example.com/a', 'a.b.c/D'])('takes the key %s', key => {
    expect(labelKeyErrors(key)).toEqual([])
  })

  it.each([
    ['bad key', [namePart]],
    ['-a', [namePart]],
    ['', ['name part must be non-empty', namePart]],
    ['/a', ['prefix part must be non-empty']],
    ['A.b/c', [`prefix part ${subdomain}`]],
    ['a'.repeat(64), ['name part must be no more than 63 bytes']],
    [`${'a'.repeat(254)}/b`, ['prefix part must be no more than 253 bytes']],
  ])('refuses the key %j', (key, errors) => {
    expect(labelKeyErrors(key)).toEqual(errors)
  })

  it('says how a key with two slashes should be', () => {
    expect(labelKeyErrors('a/b/c')[0]).toMatch(
      /^a valid label key must consist of .* with an optional DNS subdomain prefix and '\/' \(e\.g\. 'example\.com\/MyName'\)$/,
    )
  })

  it('lets a value be empty, and at most 63 bytes', () => {
    expect(labelValueErrors('')).toEqual([])
    expect(labelValueErrors('a_B.1')).toEqual([])
    expect(labelValueErrors('a'.repeat(64))).toEqual(['must be no more than 63 bytes'])
    expect(labelValueErrors('ä'.repeat(40))).toEqual(['must be no more than 63 bytes'])
    expect(labelValueErrors('a b')[0]).toMatch(/^a valid label must be an empty string or consist of/)
  })

  it('is done with long texts at once', () => {
    const long = 'a-'.repeat(1_000_000)
    expect(labelKeyErrors(long)).toHaveLength(1)
    expect(dns1123SubdomainErrors(`${long}!`)).toHaveLength(1)
  })
})

describe('keys and ports', () => {
  it.each([
    ['settings.yaml', []],
    ['.', ["must not be '.'"]],
    ['..', ["must not be '..'"]],
    ['..a', ["must not start with '..'"]],
  ])('checks the config key %s', (key, errors) => {
    expect(configKeyErrors(key)).toEqual(errors)
  })

  it.each([
    ['http', []],
    ['80', ['must contain at least one letter (a-z)']],
    ['a--b', ['must not contain consecutive hyphens']],
    ['-a', ['must not begin or end with a hyphen']],
    ['sixteen-letters-x', ['must be no more than 15 characters']],
    [
      'A',
      [
        'must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)',
        'must contain at least one letter (a-z)',
      ],
    ],
  ])('checks the port name %s', (name, errors) => {
    expect(portNameErrors(name)).toEqual(errors)
  })
})

it('what was found good is so again, and what was not is not, however many there were', () => {
  for (let n = 0; n < 1_100; n++) expect(labelKeyErrors(`example.com/k-${n}`)).toEqual([])
  expect(labelKeyErrors('example.com/k-')).toHaveLength(1)
  expect(labelKeyErrors('example.com/k-')).toHaveLength(1)
  expect(labelKeyErrors('example.com/k-0')).toEqual([])
})
