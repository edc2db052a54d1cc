import { describe, expect, it } from 'vitest'
import { shown } from '../../../../src/kernel/field-error.ts'

describe('shown', () => {
  it.each([
    ['web', '"web"'],
    ['say "hi"', String.raw`"say \"hi\""`],
    ['a\u0007b', String.raw`"a\ab"`],
    ['\u000b\n\t', String.raw`"\v\n\t"`],
    ['\u0000\u001f\u007f', String.raw`"\x00\x1f\x7f"`],
    ['\u2028\u0085', String.raw`"\u2028\u0085"`],
    ['a\\u0007', String.raw`"a\\u0007"`],
    ['žluť 🚀', '"žluť 🚀"'],
  ])('quotes %j as Go does', (value, expected) => {
    expect(shown(value)).toBe(expected)
  })

  it('shows what is no string as JSON, and what is absent as null', () => {
    expect([shown(7), shown({ a: [true] }), shown(undefined)]).toEqual(['7', '{"a":[true]}', 'null'])
  })
})
