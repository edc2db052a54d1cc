import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { maxDepth, maxPatchWeight, maxWeight, parseJson } from '../../../../src/codec/json.ts'
import { isReason } from '../../../../src/kernel/errors.ts'
import { canonicalNumber, replaced } from '../../../../src/kernel/json.ts'

function refusal(text: string): string {
  try {
    parseJson(text)
  } catch (error) {
    if (isReason(error, 'BadRequest')) return error.message
    throw error
  }
  return 'read'
}

/** The value in the forms that the native parser does not know. */
function canonical(value: unknown): unknown {
  return replaced(value, scalar => (typeof scalar === 'number' ? canonicalNumber(scalar) : scalar))
}

describe('JSON', () => {
  it('is read as the native parser reads it', () => {
    fc.assert(
      fc.property(fc.json(), text => {
        expect(parseJson(text)).toEqual({ value: canonical(JSON.parse(text)), duplicates: [] })
      }),
    )
  })

  it.each([
    ['{"a":1,"a":2}', ['a']],
    ['{"spec":{"exportedLabels":{"a":"1","a":"2"}}}', ['spec.exportedLabels.a']],
    ['{"a":[{"b":1},{"b":1,"b":2,"b":3}]}', ['a[1].b']],
    ['{"a":[[],[{"b":1,"b":2}]]}', ['a[1][0].b']],
    ['{"a":{"b":1},"a":2}', ['a']],
    ['[{"x":1,"x":1},{"y":1}]', ['[0].x']],
    ['{"a\\u0062":1,"ab":2}', ['ab']],
    ['{"a\\"":{"\\\\":1,"\\\\":2}}', ['a".\\']],
    ['{"a":"\\"a\\":1","b":"{\\"a\\":1,\\"a\\":2}"}', []],
    ['{"__proto__":1,"__proto__":2}', ['__proto__']],
    ['{"a": 1 ,\n "b" : [ ] , "a" :2 }', ['a']],
  ])('tells the keys that come twice in %s', (text, duplicates) => {
    expect(parseJson(text).duplicates).toEqual(duplicates)
  })

  it('keeps the last of two', () => {
    expect(parseJson('{"a":1,"a":2}').value).toEqual({ a: 2 })
  })

  it('finds a key that was written twice, wherever it is', () => {
    const objects = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 })
    fc.assert(
      fc.property(objects, fc.array(fc.constantFrom('list', 'object')), (object, around) => {
        const [first = ''] = Object.keys(object)
        const twice = `{${JSON.stringify(first)}:0,${JSON.stringify(object).slice(1)}`
        const text = around.reduce(
          (inner, kind) => (kind === 'list' ? `[${inner}]` : `{"k":${inner}}`),
          twice,
        )
        expect(parseJson(text).duplicates).toHaveLength(1)
        expect(parseJson(text).value).toEqual(canonical(JSON.parse(text)))
      }),
    )
  })

  it('keeps __proto__ as a key of its own', () => {
    const { value } = parseJson('{"__proto__":{"polluted":true}}')
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it.each([
    ['', 'unexpected end of JSON input'],
    ['{"kind":', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['{"kind":}', "invalid character '}' looking for beginning of value"],
    ['undefined', "invalid character 'u' looking for beginning of value"],
    [`[${'1,'.repeat(20_000)}\u0001]`, String.raw`invalid character '\x01' looking for beginning of value`],
    [`{"a": 1,\n"b": [2,\n ?3]}`, "invalid character '?' looking for beginning of value"],
  ])('is refused with a reason when it is %j', (text, reason) => {
    expect(refusal(text)).toBe(reason)
  })

  it.each([
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['{"a":[9223372036854775807,1]}', { a: [9223372036854775807n, 1] }],
    ['9007199254740991', 9007199254740991],
    // Beyond int64 Go has floats.
    ['9223372036854775808', 2 ** 63],
    ['-9223372036854775809', -(2 ** 63)],
    ['0.1234567890123456789', 0.12345678901234568],
    ['1234567890123456e2', 123456789012345600n],
    // As Go would print the float, and read it again.
    ['1e18', 1000000000000000000n],
    ['1e19', 1e19],
    ['1e300', 1e300],
    ['1.0', 1],
    ['["9007199254740993",9007199254740994]', ['9007199254740993', 9007199254740994n]],
    ['{"9007199254740993":1}', { '9007199254740993': 1 }],
    ['{"a":9007199254740993,"a":1}', { a: 1 }],
  ])('%s has one value', (text, value) => {
    const read = parseJson(text).value
    expect(read).toEqual(value)
    expect(parseJson(JSON.stringify(read)).value).toEqual(read)
  })

  it.each(['-0', '-0.0', '-0e5'])('%s is 0', text => {
    expect(Object.is(parseJson(text).value, 0)).toBe(true)
    expect(parseJson(`{"a":[${text}]}`).value).toEqual({ a: [0] })
  })

  it.each([
    ['[1e400]', '1e400'],
    ['{"a":"1e999","b":-1e999}', '-1e999'],
    [`[1,${'9'.repeat(400)}]`, '9'.repeat(40)],
  ])('%s has a number beyond all floats', (text, digits) => {
    expect(refusal(text)).toBe(`json: cannot unmarshal number ${digits} into Go value of type float64`)
  })

  it.each([
    ['{9007199254740993:1}', "invalid character '9' looking for beginning of object key string"],
    ['[9007199254740993,]', "invalid character ']' looking for beginning of value"],
    ['[09007199254740993]', "invalid character '9' after array element"],
    ['[9007199254740993"a"]', `invalid character '"' after array element`],
  ])('%s is refused where it is wrong', (text, reason) => {
    expect(refusal(text)).toBe(reason)
  })

  it.each([
    ['"\\ud800"', '\ufffd'],
    ['"a\\uDC00b"', 'a\ufffdb'],
    ['"\\ud83d\\ude00"', '\u{1f600}'],
    ['"\\ud800\\ud83d\\ude00"', '\ufffd\u{1f600}'],
    ['"\\\\ud800"', '\\ud800'],
    ['"\\ud800\\n"', '\ufffd\n'],
  ])('half a pair of surrogates in %s is the replacement character', (text, value) => {
    expect(parseJson(text).value).toBe(value)
    expect(Object.keys(parseJson(`{${text}:1}`).value as object)).toEqual([value])
  })

  it('tells keys that come twice when both are half a pair', () => {
    expect(parseJson('{"\\ud800":1,"\\ud801":2}')).toEqual({ value: { '\ufffd': 2 }, duplicates: ['\ufffd'] })
  })

  it('is bounded in depth, without an overflow', () => {
    const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(refusal(nested(maxDepth))).toBe('read')
    expect(refusal(nested(maxDepth + 1))).toBe('exceeded max depth')
    expect(refusal(nested(1_000_000))).toBe('exceeded max depth')
    const objects = '{"a":'.repeat(maxDepth - 1)
    expect(parseJson(`${objects}{"b":1,"b":2}${'}'.repeat(maxDepth - 1)}`).duplicates).toHaveLength(1)
  })

  it('is bounded in keys and values, before it is read', () => {
    const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":1`).join(',')}}`
    expect(refusal(keys(26_000))).toBe('read')
    for (const text of [
      keys(27_000),
      `[${'1,'.repeat(maxWeight)}1]`,
      `[${'[],'.repeat(50_000)}`,
      `{${'"a":'.repeat(50_000)}`,
    ]) {
      expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 413 }))
    }
    expect(parseJson(`[${'1,'.repeat(100_000)}1]`, maxPatchWeight).value).toHaveLength(100_001)
  })

  it('is refused when a string does not end, however it goes on', () => {
    expect(refusal('{"a":"b')).toBe('unexpected end of JSON input')
    expect(refusal('["a,[[[{{{')).toBe('unexpected end of JSON input')
  })

  it('names a hundred of many', () => {
    const keys = Array.from({ length: 1000 }, (_, i) => `"k${i}":1,"k${i}":2`).join(',')
    expect(parseJson(`{${keys}}`).duplicates).toHaveLength(100)
  })
})
