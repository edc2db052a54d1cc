// A document that is read and written again is what it was, in JSON, in YAML and in the store.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/codec/json.ts'
import { decodeBody, encodeBody } from '../../src/codec/object-bytes.ts'
import { parseYaml, toYaml } from '../../src/codec/yaml.ts'
import { canonicalNumber, fromJson } from '../../src/kernel/json.ts'

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

/** Names that objects of JavaScript have a meaning for, and those that look like numbers. */
const oddKeys = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '0',
  '1',
  '-1',
  '<<',
  '~',
  '',
]

const keys = fc.oneof(
  fc.constantFrom(...oddKeys),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
)

/** Every value that a document can have: a number in its one form, text without halves of surrogate pairs. */
const { value } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(canonicalNumber),
    int64.map(integer => canonicalNumber(Number(integer))),
    int64.map(integer => (Number.isSafeInteger(Number(integer)) ? Number(integer) : integer)),
    keys,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(keys, tie('value')), { maxLength: 4 }).map(entries => Object.fromEntries(entries)),
  ),
}))

describe('a document', () => {
  it('is in JSON what it was', () => {
    fc.assert(
      fc.property(value, document => {
        const text = JSON.stringify(document)
        expect(parseJson(text)).toEqual({ value: document, duplicates: [] })
        expect(fromJson(text)).toEqual(document)
        expect(JSON.stringify(parseJson(text).value)).toBe(text)
      }),
    )
  })

  it('is in JSON what it was whatever the layout and the escapes', () => {
    fc.assert(
      fc.property(value, document => {
        const text = JSON.stringify(document, undefined, 2).replace(/[^\0-~]/gu, escaped)
        expect(parseJson(text).value).toEqual(document)
      }),
    )
  })

  it('is in YAML what it was', () => {
    fc.assert(
      fc.property(value, document => {
        expect(parseYaml(toYaml(document)).value).toEqual(document)
      }),
    )
  })

  it('is in the store what it was', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), value, (labels, spec) => {
        const object = { apiVersion: 'g/v1', kind: 'Foo', metadata: { name: 'a', labels }, spec }
        expect(decodeBody('g/v1', 'Foo', { revision: 0, body: encodeBody(object) })).toEqual(object)
      }),
    )
  })

  // Go's reader has no halves of surrogate pairs, so none can be what it was: each becomes U+FFFD when it is read.
  it('has the replacement character for each half of a surrogate pair', () => {
    fc.assert(
      fc.property(
        fc
          .array(fc.integer({ min: 0xd7f0, max: 0xe010 }), { maxLength: 6 })
          .map(units => String.fromCharCode(...units)),
        text => {
          expect(parseJson(JSON.stringify({ [text]: text })).value).toEqual({
            [text.toWellFormed()]: text.toWellFormed(),
          })
        },
      ),
    )
  })

  it('may be as deep as can be read', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const text = `${open.repeat(9_999)}9007199254740993${close.repeat(9_999)}`
      let { value: inner } = parseJson(text)
      while (typeof inner === 'object' && inner !== null) inner = Object.values(inner)[0]
      expect(inner).toBe(9007199254740993n)
    }
  })
})

function escaped(letter: string): string {
  return [...Array(letter.length).keys()]
    .map(at => `\\u${letter.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('')
}
