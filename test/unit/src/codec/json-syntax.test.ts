import { describe, expect, it } from 'vitest'
import { syntaxFault } from '../../../../src/codec/json-syntax.ts'

const fault = (text: string) => syntaxFault(Buffer.from(text))

describe('a text that is no JSON', () => {
  // What kube-apiserver 1.37 answers to these bodies.
  it.each([
    ['', 'unexpected end of JSON input'],
    ['{', 'unexpected end of JSON input'],
    ['{"', 'unexpected end of JSON input'],
    ['{"a', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['{"a":1', 'unexpected end of JSON input'],
    ['{"a":1,', 'unexpected end of JSON input'],
    ['{"a":1,}', "invalid character '}' looking for beginning of object key string"],
    ['{a:1}', "invalid character 'a' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b":2}', "invalid character '\"' after object key:value pair"],
    ['[1,2', 'unexpected end of JSON input'],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['[1 2]', "invalid character '2' after array element"],
    ['{"a":1}}', "invalid character '}' after top-level value"],
    ['{"a":1} x', "invalid character 'x' after top-level value"],
    ['{"a":1}{"b":2}', "invalid character '{' after top-level value"],
    ['nul', "invalid character ' ' in literal null (expecting 'l')"],
    ['nulx', "invalid character 'x' in literal null (expecting 'l')"],
    ['tru', "invalid character ' ' in literal true (expecting 'e')"],
    ['truX', "invalid character 'X' in literal true (expecting 'e')"],
    ['falsx', "invalid character 'x' in literal false (expecting 'e')"],
    ['-', "invalid character ' ' in numeric literal"],
    ['-x', "invalid character 'x' in numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ['1.', "invalid character ' ' after decimal point in numeric literal"],
    ['1.x', "invalid character 'x' after decimal point in numeric literal"],
    ['1e', "invalid character ' ' in exponent of numeric literal"],
    ['1e+', "invalid character ' ' in exponent of numeric literal"],
    ['1ex', "invalid character 'x' in exponent of numeric literal"],
    ['{"a":"\\x"}', "invalid character 'x' in string escape code"],
    ['{"a":"\\u12x4"}', String.raw`invalid character 'x' in \u hexadecimal character escape`],
    ['{"a":"\n"}', String.raw`invalid character '\n' in string literal`],
    ['{"a":"\u0001"}', String.raw`invalid character '\x01' in string literal`],
    ['{"a":é}', "invalid character 'Ã' looking for beginning of value"],
    ['{"a":é', "invalid character 'Ã' looking for beginning of value"],
    ['x', "invalid character 'x' looking for beginning of value"],
    ['}', "invalid character '}' looking for beginning of value"],
    [']', "invalid character ']' looking for beginning of value"],
    [',', "invalid character ',' looking for beginning of value"],
    ['{"a":1]', "invalid character ']' after object key:value pair"],
    ['[1}', "invalid character '}' after array element"],
    ['{"a":tru}', "invalid character '}' in literal true (expecting 'e')"],
    ['{"a":\'b\'}', String.raw`invalid character '\'' looking for beginning of value`],
    ['\u0000', String.raw`invalid character '\x00' looking for beginning of value`],
    ['{"a":"\t"}', String.raw`invalid character '\t' in string literal`],
    ['{,}', "invalid character ',' looking for beginning of object key string"],
    ['[,]', "invalid character ',' looking for beginning of value"],
    ['{"a":--1}', "invalid character '-' in numeric literal"],
    ['{"a":+1}', "invalid character '+' looking for beginning of value"],
    ['{"a":.5}', "invalid character '.' looking for beginning of value"],
    ['{"a":1,"b"}', "invalid character '}' after object key"],
    ['{1:2}', "invalid character '1' looking for beginning of object key string"],
    ['{"a":"b\\', "invalid character ' ' in string escape code"],
    ['{"a":"\\u12', String.raw`invalid character ' ' in \u hexadecimal character escape`],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['{"a":"",x}', "invalid character 'x' looking for beginning of object key string"],
    ['{"a":💥}', "invalid character 'ð' looking for beginning of value"],
    ['   ', 'unexpected end of JSON input'],
    ['{"metadata":[}', "invalid character '}' looking for beginning of value"],
    ['{"a":01}', "invalid character '1' after object key:value pair"],
    ['{"a":1.}', "invalid character '}' after decimal point in numeric literal"],
    ['{"a":-}', "invalid character '}' in numeric literal"],
    ['{"a":Infinity}', "invalid character 'I' looking for beginning of value"],
    ['{"a":NaN}', "invalid character 'N' looking for beginning of value"],
    ['{"a":"x"y}', "invalid character 'y' after object key:value pair"],
    ['/* */{}', "invalid character '/' looking for beginning of value"],
    ['{"a":\\}', String.raw`invalid character '\\' looking for beginning of value`],
    ['{"a":"}', 'unexpected end of JSON input'],
    ['{"a":"x\\\\"', 'unexpected end of JSON input'],
    ['{"a":"\\"', 'unexpected end of JSON input'],
    ['{"a":"\\\\x', 'unexpected end of JSON input'],
    ['{"a": }', "invalid character 'â' looking for beginning of value"],
  ])('%j: %s', (text, reason) => {
    expect(fault(text)).toBe(reason)
  })

  // As strconv.Quote shows bytes.
  it.each([
    [0x07, String.raw`'\a'`],
    [0x1f, String.raw`'\x1f'`],
    [0x7f, String.raw`'\x7f'`],
    [0x80, String.raw`'\u0080'`],
    [0xa0, String.raw`'\u00a0'`],
    [0xa1, "'¡'"],
    [0xad, String.raw`'\u00ad'`],
    [0xff, "'ÿ'"],
    [0x5c, String.raw`'\\'`],
    [0x22, `'"'`],
  ])('shows the byte %d as %s', (byte, shown) => {
    const where = byte === 0x22 ? 'after array element' : 'looking for beginning of value'
    const text = Buffer.concat([Buffer.from(byte === 0x22 ? '[1' : '['), Buffer.of(byte)])
    expect(syntaxFault(text)).toBe(`invalid character ${shown} ${where}`)
  })

  it('is found at the end of very much', () => {
    expect(fault(`[${'{"a":[1,true,"x"]},'.repeat(100_000)}?]`)).toBe(
      "invalid character '?' looking for beginning of value",
    )
  })
})
