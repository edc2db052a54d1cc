import { describe, expect, it } from 'vitest'
import { booleanOption, integerOption, writeOptions } from '../../../../apiservice/registry/options.ts'

const options = (query: string) => writeOptions('CreateOptions', new URLSearchParams(query))

describe('options of writes', () => {
  it('have defaults', () => {
    expect(options('')).toEqual({ dryRun: false, fieldValidation: 'Warn', fieldManager: '' })
    expect(options('fieldValidation=&fieldManager=&pretty=true')).toEqual({
      dryRun: false,
      fieldValidation: 'Warn',
      fieldManager: '',
    })
  })

  it('are read', () => {
    const query = `dryRun=All&dryRun=All&fieldValidation=Strict&fieldManager=${'m'.repeat(128)}`
    expect(options(query)).toEqual({ dryRun: true, fieldValidation: 'Strict', fieldManager: 'm'.repeat(128) })
  })

  it.each([
    ['dryRun=maybe', 'dryRun: Unsupported value: ["maybe"]: supported values: "All"'],
    ['dryRun=All&dryRun=', 'dryRun: Unsupported value: ["All",""]: supported values: "All"'],
    [`fieldManager=${'m'.repeat(129)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
    [`fieldManager=${'ž'.repeat(65)}`, 'fieldManager: Too long: may not be more than 128 bytes'],
    [
      'fieldManager=a%07b',
      String.raw`fieldManager: Invalid value: "a\ab": invalid character U+0007 (at position 1)`,
    ],
    [
      'fieldManager=ž%0A',
      String.raw`fieldManager: Invalid value: "ž\n": invalid character U+000A (at position 2)`,
    ],
    [
      'fieldValidation=Maybe',
      'fieldValidation: Unsupported value: "Maybe": supported values: "", "Ignore", "Strict", "Warn"',
    ],
  ])('refuse %s', (query, message) => {
    expect(() => options(query)).toThrow(
      expect.objectContaining({ code: 422, message: `CreateOptions.meta.k8s.io "" is invalid: ${message}` }),
    )
  })

  it('have every fault named', () => {
    expect(() => options('dryRun=x&fieldValidation=y')).toThrow(
      expect.objectContaining({
        details: {
          group: 'meta.k8s.io',
          kind: 'CreateOptions',
          causes: [expect.anything(), expect.anything()],
        },
      }),
    )
  })
})

describe('parameters', () => {
  it.each([
    [null, false],
    ['0', false],
    ['false', false],
    ['FALSE', false],
    ['', true],
    ['1', true],
    ['no', true],
  ])('the boolean %j is %s', (text, expected) => {
    expect(booleanOption(text)).toBe(expected)
  })

  it.each([
    [null, undefined],
    ['5', 5],
    ['+5', 5],
    ['-1', -1],
    ['00000000000000000000000000007', 7],
    ['9223372036854775807', 2 ** 63],
  ])('the integer %j is %s', (text, expected) => {
    expect(integerOption(text)).toBe(expected)
  })

  it.each([
    ['', 'invalid syntax'],
    ['x', 'invalid syntax'],
    ['1.5', 'invalid syntax'],
    ['1e3', 'invalid syntax'],
    [' 1', 'invalid syntax'],
    ['9223372036854775808', 'value out of range'],
    ['-9223372036854775809', 'value out of range'],
    ['9'.repeat(100), 'value out of range'],
  ])('the integer %j is refused', (text, why) => {
    expect(() => integerOption(text)).toThrow(
      expect.objectContaining({ code: 400, message: `strconv.ParseInt: parsing "${text}": ${why}` }),
    )
  })
})
