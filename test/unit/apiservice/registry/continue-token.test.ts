import { describe, expect, it } from 'vitest'
import { fromToken, toToken } from '../../../../apiservice/registry/continue-token.ts'

describe('continue tokens', () => {
  it.each([
    {
      revision: 7,
      within: undefined,
      after: { resource: 'widgets.test.example.com', namespace: 'shop', name: 'web' },
    },
    { revision: 7, within: 'east', after: { resource: 'namespaces', namespace: '', name: 'shop' } },
    { revision: -1, within: undefined, after: { resource: 'namespaces', namespace: '', name: 'a:b@c' } },
  ])('lead back to %j', position => {
    const token = toToken(position)
    expect(token).toMatch(/^[\w-]+$/)
    expect(fromToken(token)).toEqual(position)
  })

  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const good = { v: 'meta.k8s.io/v1', rv: 7, start: 'a\0', r: 'x' }

  it.each([
    encode({ ...good, v: 'v2' }),
    encode({ ...good, rv: 0 }),
    encode({ ...good, rv: -2 }),
    encode({ ...good, rv: 1.5 }),
    encode({ ...good, rv: '7' }),
    encode({ ...good, start: 'a' }),
    encode({ ...good, start: undefined }),
    encode({ ...good, r: undefined }),
    encode({ ...good, ns: 5 }),
  ])('refuse %j', token => {
    expect(() => fromToken(token)).toThrow(
      expect.objectContaining({
        code: 400,
        message: expect.stringMatching(/^invalid continue token: continue key is not valid: /),
      }),
    )
  })

  it.each(['', 'garbage', encode(5)])('say nothing of the bytes of %j', token => {
    expect(() => fromToken(token)).toThrow(
      expect.objectContaining({
        code: 400,
        message: 'invalid continue token: continue key is not valid',
      }),
    )
  })
})
