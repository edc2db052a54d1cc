import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Indenter } from '../../../../apiservice/negotiation/indent.ts'

function indented(text: string, cuts: readonly number[] = []): string {
  const bytes = Buffer.from(text)
  const ends = [...new Set(cuts.map(cut => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  const indenter = new Indenter()
  const pieces = [0, ...ends].map((start, i) => indenter.push(bytes.subarray(start, ends[i] ?? bytes.length)))
  return Buffer.concat(pieces).toString()
}

it('lays any JSON out as JSON.stringify does, wherever it is cut', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.array(fc.nat(), { maxLength: 4 }), (value, cuts) => {
      expect(indented(JSON.stringify(value), cuts)).toBe(JSON.stringify(value, null, 2))
    }),
  )
})

it('keeps numbers as they are written, and drops the spaces that were there', () => {
  expect(indented('{ "a" : [ 12345678901234567890 , 1.0 ] ,"b":{ },"c":[ ] }\n')).toBe(
    '{\n  "a": [\n    12345678901234567890,\n    1.0\n  ],\n  "b": {},\n  "c": []\n}',
  )
})
