import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../../../src/codec/json.ts'
import { maxYamlBytes, parseYaml, toYaml } from '../../../../src/codec/yaml.ts'
import { isReason } from '../../../../src/kernel/errors.ts'

function refusal(text: string): string {
  try {
    parseYaml(text)
  } catch (error) {
    if (isReason(error, 'BadRequest', 'RequestEntityTooLarge')) return error.message
    throw error
  }
  return 'read'
}

describe('YAML', () => {
  it.each([
    ['a: yes', { a: true }],
    ['a: off', { a: false }],
    ['a: "yes"', { a: 'yes' }],
    ['a: 010', { a: 8 }],
    ['a: 0x1F', { a: 31 }],
    ['a: 1_000', { a: 1000 }],
    ['a: 1e3', { a: 1000 }],
    ['a: ~', { a: null }],
    ['a: 2024-01-01', { a: '2024-01-01' }],
    ['a: 2024-01-01T00:00:00Z', { a: '2024-01-01T00:00:00Z' }],
    ['a: 1:30', { a: '1:30' }],
    ['1: x', { 1: 'x' }],
    ['---\na: 1\n', { a: 1 }],
    ['a: &x [1]\nb: *x', { a: [1], b: [1] }],
    ['a: &x {b: 1}\nc: {<<: *x, d: 2}', { a: { b: 1 }, c: { b: 1, d: 2 } }],
    ['{"a": [1, "b"]}', { a: [1, 'b'] }],
    ['a: 1\n---\nb: 2\n', { a: 1 }],
    ['', null],
    // What is behind the first document is not looked at.
    ['a: 1\n---\n[', { a: 1 }],
    ['a: 1\n...\n---\n- : [', { a: 1 }],
  ])('%j is read as YAML 1.1', (text, value) => {
    expect(parseYaml(text)).toEqual({ value, duplicates: [] })
  })

  it('tells the keys that come twice', () => {
    expect(parseYaml('a: 1\na: 2\nb:\n- c: 1\n  c: 2\n')).toEqual({
      value: { a: 2, b: [{ c: 2 }] },
      duplicates: ['a', 'b[0].c'],
    })
  })

  it('keeps __proto__ as a key of its own', () => {
    expect(Object.keys(parseYaml('__proto__: {x: 1}').value as object)).toEqual(['__proto__'])
  })

  it.each([
    ['a: .nan', 'yaml: json: unsupported value: NaN'],
    ['a: -.inf', 'yaml: json: unsupported value: -Inf'],
    ['a: [1\nb: 2', /^yaml: line 2: Flow sequence/],
    ['\ta: 1', /^yaml: line 1: Tabs are not allowed/],
    ['['.repeat(20_000), 'yaml: line 1: exceeded max depth'],
    [`${'['.repeat(1_100)}${']'.repeat(1_100)}`, 'yaml: line 1: exceeded max depth'],
    ['- '.repeat(1_100), 'yaml: line 1: exceeded max depth'],
    ['{a: '.repeat(1_100), 'yaml: line 1: exceeded max depth'],
    [
      Array.from({ length: 1_100 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
      /^yaml: line 100\d: exceeded max depth/,
    ],
    // Nothing is done with what is behind.
    [`${'['.repeat(1_100)}${']'.repeat(1_100)}\n\t- x`, 'yaml: line 1: exceeded max depth'],
    ['- a\n'.repeat(82_000), 'yaml: the document has too many values'],
    [`[${','.repeat(402_000)}`, 'yaml: the document has too many values'],
    ['#\n'.repeat(220_000), 'yaml: the document has too many values'],
    ['&a '.repeat(1000), /^yaml: line 1: A node can have at most one anchor/],
    ['#'.repeat(maxYamlBytes + 1), 'Request entity too large: limit is 1048576'],
  ])('is refused with a reason', (text, reason) => {
    expect(refusal(text)).toMatch(reason)
  })

  it('does not let aliases multiply a document', () => {
    const lines = ['a: &a [x,x,x,x,x,x,x,x,x]']
    for (const [name, of] of ['ba', 'cb', 'dc', 'ed', 'fe'].map(pair => [pair[0], pair[1]])) {
      lines.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${of}`).join(',')}]`)
    }
    expect(refusal(lines.join('\n'))).toBe('yaml: document contains excessive aliasing')
  })

  it('comes back as it was written', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const plain = parseJson(JSON.stringify(value)).value
        expect(parseYaml(toYaml(plain)).value).toEqual(plain)
      }),
    )
  })

  it('quotes the word that merges maps', () => {
    expect(toYaml({ '<<': 'a', b: '<<' })).toBe('"<<": a\nb: "<<"\n')
    // Numbers to go-yaml, with and without underscores.
    for (const text of [
      '+_0',
      '1_000',
      '0o17',
      '0x_f',
      '-0b1',
      '1e3',
      '+.5',
      '.5',
      '._5',
      'on',
      'y',
      '~',
      '',
    ])
      expect(parseYaml(toYaml({ [text]: text })).value).toEqual({ [text]: text })
    expect(parseYaml(toYaml({ '<<': { a: 1 } })).value).toEqual({ '<<': { a: 1 } })
  })

  it('is written with sorted keys, lists at the margin, and quotes where 1.1 needs them', () => {
    expect(toYaml({ b: 'yes', a: [{ y: 1, x: ['1'] }], t: '2024-01-01T00:00:00Z', e: {}, l: 'a\nb\n' })).toBe(
      [
        'a:',
        '- x:',
        '  - "1"',
        '  "y": 1',
        'b: "yes"',
        'e: {}',
        'l: |',
        '  a',
        '  b',
        't: "2024-01-01T00:00:00Z"',
        '',
      ].join('\n'),
    )
  })
})
