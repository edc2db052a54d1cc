import { expect, it } from 'vitest'
import { bearerAuthenticator } from '../../../../apiservice/authn/bearer-token.ts'
import { Guesses } from '../../../../apiservice/authn/guesses.ts'
import { staticTokens } from '../../../../apiservice/authn/static-tokens.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unauthorized, unavailable } from '../../../../src/kernel/errors.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { anApiRequest } from '../../../support/api-request.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const authenticator = bearerAuthenticator(
  [
    staticTokens('sesame,ada,u-1,"ops, dev"\nother,bob,\n'),
    token => Promise.resolve(token === 'issued' ? { name: 'carol', groups: [], extra: {} } : undefined),
  ],
  new Guesses({ clock: manualClock(), metrics: noMetrics }),
)
const withHeader = (...authorization: readonly string[]) =>
  authenticator.authenticate(anApiRequest({ headers: { authorization } }), never)

it.each(['Bearer sesame', 'bearer sesame', 'BEARER   sesame ', 'Bearer sesame ignored'])(
  'the header %j carries a token',
  async header => {
    expect(await withHeader(header)).toEqual({ name: 'ada', uid: 'u-1', groups: ['ops', 'dev'], extra: {} })
  },
)

it('a later lookup is asked when the earlier ones do not know a token', async () => {
  expect(await withHeader('Bearer issued')).toMatchObject({ name: 'carol' })
})

it.each(['', 'Bearer', 'Bearer ', 'Basic c2VzYW1l', 'sesame', 'Bearersesame'])(
  'the header %j carries none',
  async header => {
    expect(await withHeader(header)).toBeUndefined()
  },
)

it.each(['Bearer sesam', 'Bearer sesame1', 'Bearer SESAME', `Bearer ${'x'.repeat(20_000)}`])(
  'an unknown token is refused: %.30j',
  async header => {
    await expect(withHeader(header)).rejects.toMatchObject({ code: 401, message: 'Unauthorized' })
  },
)

it('only the first header counts', async () => {
  await expect(withHeader('Bearer wrong', 'Bearer sesame')).rejects.toMatchObject({ code: 401 })
})

it.each([
  ['which nobody knows', (): Promise<undefined> => Promise.resolve(undefined), 429],
  ['which a lookup refuses', () => Promise.reject(unauthorized('expired')), 429],
  ['which cannot be looked up', () => Promise.reject(unavailable('no answer')), 503],
])('after a hundred tokens %s the next is answered with %3$d', async (_, lookup, code) => {
  const guessed = bearerAuthenticator([lookup], new Guesses({ clock: manualClock(), metrics: noMetrics }))
  const guess = async () =>
    guessed.authenticate(anApiRequest({ headers: { authorization: ['Bearer wrong'] } }), never)
  for (let i = 0; i < 100; i++) await guess().catch(() => undefined)
  await expect(guess()).rejects.toMatchObject({ code })
})
