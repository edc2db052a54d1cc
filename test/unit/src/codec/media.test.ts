import { describe, expect, it } from 'vitest'
import { decodeDocument, mediaTypeOf } from '../../../../src/codec/media.ts'

const decode = (text: string, type: string) => decodeDocument(Buffer.from(text), type)

describe('a document', () => {
  it.each([
    '',
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/merge-patch+json',
  ])('of type %j is JSON', type => {
    expect(decode('{"a":1}', type).value).toEqual({ a: 1 })
    expect(() => decode('a: 1', type)).toThrow(/unexpected token in JSON/)
  })

  it.each(['application/yaml', 'application/apply-patch+yaml'])('of type %s is YAML or JSON', type => {
    expect(decode('a: yes', type).value).toEqual({ a: true })
    expect(decode(' {"a":1,"a":2}', type)).toEqual({ value: { a: 2 }, duplicates: ['a'] })
    expect(decode('{a: 1}', type).value).toEqual({ a: 1 })
  })

  it.each(['text/html', 'application/vnd.kubernetes.protobuf', 'json'])('of type %s is refused', type => {
    expect(() => decode('{}', type)).toThrow(
      'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
    )
  })

  it('has a type without its parameters', () => {
    expect(mediaTypeOf(' Application/JSON ; charset=utf-8; x=y')).toBe('application/json')
  })
})
