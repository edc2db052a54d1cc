import { describe, expect, it } from 'vitest'
import {
  matchesFields,
  matchesLabels,
  parseFieldSelector,
  parseLabelSelector,
} from '../../../../src/api/selector.ts'

const objects: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  a: { app: 'web', tier: 'x' },
  b: { app: 'db' },
  c: { app: 'web' },
  d: {},
  e: { app: 'cache', n: '5' },
}

function selected(text: string): string {
  const selector = parseLabelSelector(text)
  return Object.entries(objects)
    .filter(([, labels]) => matchesLabels(selector, labels))
    .map(([name]) => name)
    .join('')
}

describe('label selectors', () => {
  it.each([
    ['', 'abcde'],
    ['  ', 'abcde'],
    ['app=web', 'ac'],
    ['app==web', 'ac'],
    ['app = web', 'ac'],
    ['app!=web', 'bde'],
    ['app in (web,db),tier', 'a'],
    ['app in (web, db)', 'abc'],
    ['app notin (web)', 'bde'],
    ['app', 'abce'],
    ['!app', 'd'],
    ['! app', 'd'],
    ['n>4', 'e'],
    ['n>5', ''],
    ['n<6', 'e'],
    ['n < 4', ''],
    ['app>1', ''],
    ['app=', ''],
    ['tier!=', 'abcde'],
    ['app in ()', ''],
    ['app notin (,web)', 'bde'],
    ['in=web', ''],
    ['notin', ''],
    ['app=web,tier=x', 'a'],
    ['app=web,app=db', ''],
  ])('%j selects %j', (text, names) => {
    expect(selected(text)).toBe(names)
  })

  it('tells an own label from what every object inherits', () => {
    expect(matchesLabels(parseLabelSelector('constructor'), {})).toBe(false)
    expect(matchesLabels(parseLabelSelector('!toString'), {})).toBe(true)
  })

  it('compares integers that a double cannot hold', () => {
    const selector = parseLabelSelector('n>9007199254740992')
    expect(matchesLabels(selector, { n: '9007199254740993' })).toBe(true)
    expect(matchesLabels(selector, { n: '9007199254740992' })).toBe(false)
  })

  it.each([
    ['app in web', "unable to parse requirement: found 'web' expected: '('"],
    [
      'app=-!',
      `unable to parse requirement: values[0][app]: Invalid value: "-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`,
    ],
    ['app=a b', "found 'b', expected: ',' or 'end of string'"],
    ['app,', "found '', expected: identifier after ','"],
    ['app,=', "found '=', expected: identifier after ','"],
    ['(app)', "found '(', expected: !, identifier, or 'end of string'"],
    ['!', "unable to parse requirement: found '', expected: identifier"],
    ['app ~ web', "unable to parse requirement: found '~', expected: in, notin, =, ==, !=, gt, lt"],
    ['app==!web', "unable to parse requirement: found '!', expected: identifier"],
    ['app in (a', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['app in (a=b)', "unable to parse requirement: found '=', expected: ',' or ')'"],
    ['app in (=)', "unable to parse requirement: found '=', expected: ',', ')' or identifier"],
    ['!app=web', "found '=', expected: ',' or 'end of string'"],
    [
      'n>x',
      `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])('refuses %j', (text, message) => {
    expect(() => parseLabelSelector(text)).toThrow(expect.objectContaining({ code: 400, message }))
  })

  it('refuses a key that is no label key', () => {
    expect(() => parseLabelSelector('-a=b')).toThrow(
      /unable to parse requirement: key: Invalid value: "-a": name part/,
    )
  })
})

describe('field selectors', () => {
  const web: Readonly<Record<string, string>> = { 'metadata.name': 'web', 'spec.x': 'a,b=c\\' }

  it.each([
    ['', true],
    ['metadata.name=web', true],
    ['metadata.name==web', true],
    ['metadata.name!=web', false],
    ['metadata.name=web,spec.y=', true],
    ['metadata.name=web,metadata.name=db', false],
    ['spec.x=a\\,b\\=c\\\\', true],
    ['spec.x!=a', true],
    [',metadata.name=web,', true],
  ])('%j', (text, expected) => {
    expect(matchesFields(parseFieldSelector(text), field => web[field] ?? '')).toBe(expected)
  })

  it.each([
    ['nonsense', "invalid selector: 'nonsense'; can't understand 'nonsense'"],
    ['a=b,c', "invalid selector: 'a=b,c'; can't understand 'c'"],
    ['a=b\\x', 'invalid field selector: invalid escape sequence: \\x'],
    ['a=b\\', 'invalid field selector: invalid escape sequence: \\'],
    ['a=b=c', 'invalid field selector: unescaped character in value: ='],
  ])('refuses %j', (text, message) => {
    expect(() => parseFieldSelector(text)).toThrow(expect.objectContaining({ code: 400, message }))
  })
})
