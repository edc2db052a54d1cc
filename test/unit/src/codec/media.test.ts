import { describe, expect, it } from 'vitest'
import { decodeDocument, mediaTypeOf } from '../../../../src/codec/media.ts'

const decode = async (text: string, type: string) => decodeDocument(Buffer.from(text), type)

describe('a document', () => {
  it.each([
    '',
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/merge-patch+json',
  ])('of type %j is JSON', async type => {
    expect((await decode('{"a":1}', type)).value).toEqual({ a: 1 })
    await expect(decode('a: 1', type)).rejects.toThrow(/invalid character 'a' looking for beginning of value/)
  })

  it.each(['application/yaml', 'application/apply-patch+yaml'])('of type %s is YAML or JSON', async type => {
    expect((await decode('a: yes', type)).value).toEqual({ a: true })
    expect(await decode(' {"a":1,"a":2}', type)).toEqual({ value: { a: 2 }, duplicates: ['a'] })
    expect((await decode('{a: 1}', type)).value).toEqual({ a: 1 })
  })

  it.each(['text/html', 'application/vnd.kubernetes.protobuf', 'json'])(
    'of type %s is refused',
    async type => {
      await expect(decode('{}', type)).rejects.toThrow(
        'the body of the request was in an unknown format - accepted media types include: application/json, application/yaml',
      )
    },
  )

  it('of YAML is read the same when it is long', async () => {
    const text = (lines: number) => `a: 9007199254740993\na: 2\nb:\n${'- x\n'.repeat(lines)}`
    for (const lines of [1, 5_000]) {
      expect(await decode(text(lines), 'application/yaml')).toEqual({
        value: { a: 2, b: Array.from({ length: lines }, () => 'x') },
        duplicates: ['a'],
      })
      await expect(decode(`${text(lines)}: {`, 'application/yaml')).rejects.toThrow(
        expect.objectContaining({ code: 400, reason: 'BadRequest' }),
      )
    }
    await expect(decode('#'.repeat(2 ** 20 + 1), 'application/yaml')).rejects.toThrow(
      expect.objectContaining({ code: 413 }),
    )
  })

  it('that is too large as JSON is not tried as YAML', async () => {
    const keys = Array.from({ length: 50_000 }, (_, i) => `"${i}":1`)
    await expect(decode(`{${keys.join(',')}}`, 'application/yaml')).rejects.toThrow(
      'too many keys and values',
    )
  })

  it('has a type without its parameters', () => {
    expect(mediaTypeOf(' Application/JSON ; charset=utf-8; x=y')).toBe('application/json')
  })
})
