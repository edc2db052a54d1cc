import { describe, expect, it } from 'vitest'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const kind = kindNamed('ConfigMap')
const aMap = (content: Readonly<Record<string, unknown>>) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'shop' },
  ...content,
})

describe('a config map', () => {
  it.each([
    [{ data: { 'a.yaml': 'x' }, binaryData: { b: 'aGk=' } }, []],
    [{ data: { '..a': 'x' } }, [`data[..a]: Invalid value: "..a": must not start with '..'`]],
    [
      { data: { a: 'x' }, binaryData: { a: 'aGk=' } },
      ['data[a]: Invalid value: "a": duplicate of key present in binaryData'],
    ],
    [{ data: { a: 'x'.repeat(1024 * 1024 + 1) } }, [': Too long: may not be more than 1048576 bytes']],
  ])('is checked', (content, errors) => {
    expect(kind.validate(aMap(content)).map(fieldErrorText)).toEqual(errors)
  })

  it('says what a key may have', () => {
    expect(kind.validate(aMap({ binaryData: { 'a b': '' } })).map(fieldErrorText)).toEqual([
      `binaryData[a b]: Invalid value: "a b": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')`,
    ])
  })

  it('stays as it is once it is immutable', () => {
    const old = aMap({ data: { a: '1' }, immutable: true })
    expect(kind.validate(aMap({ data: { a: '1' }, immutable: true }), old)).toEqual([])
    expect(kind.validate(aMap({ data: { a: '2' }, binaryData: { b: '' } }), old).map(fieldErrorText)).toEqual(
      [
        'immutable: Forbidden: field is immutable when `immutable` is set',
        'data: Forbidden: field is immutable when `immutable` is set',
        'binaryData: Forbidden: field is immutable when `immutable` is set',
      ],
    )
  })

  it('may become immutable with a change', () => {
    expect(kind.validate(aMap({ data: { a: '2' }, immutable: true }), aMap({ data: { a: '1' } }))).toEqual([])
  })
})
