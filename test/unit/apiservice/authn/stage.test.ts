import { expect, it } from 'vitest'
import { authnStage } from '../../../../apiservice/authn/stage.ts'
import type { Authenticator, UserInfo } from '../../../../apiservice/contract.ts'
import { never } from '../../../../src/kernel/abort.ts'
import { unauthorized, unavailable } from '../../../../src/kernel/errors.ts'
import { memoryLogger } from '../../../../src/kernel/log.ts'
import { noMetrics } from '../../../../src/kernel/metrics.ts'
import { anApiRequest } from '../../../support/api-request.ts'

const ada: UserInfo = { name: 'ada', groups: ['ops'], extra: {} }
const knows = (user: UserInfo | undefined): Authenticator => ({ authenticate: () => Promise.resolve(user) })
const fails = (thrown: Error): Authenticator => ({ authenticate: () => Promise.reject(thrown) })

/** The user that the stages below see. */
async function seen(
  authenticators: readonly Authenticator[],
  anonymous = true,
  log = memoryLogger(),
): Promise<UserInfo> {
  let user: UserInfo | undefined
  const handler = authnStage(authenticators, { anonymous, log, metrics: noMetrics })(async request => {
    user = request.user
    expect(await request.body()).toEqual(Buffer.from('kept'))
    return { type: 'raw', code: 200, headers: {}, body: '' }
  })
  await handler(anApiRequest({ body: 'kept' }), never)
  if (user === undefined) throw new Error('nothing was handed on')
  return user
}

it('the first authenticator that knows the user decides', async () => {
  expect(await seen([knows(undefined), knows(ada), knows({ ...ada, name: 'bob' })])).toEqual({
    name: 'ada',
    groups: ['ops', 'system:authenticated'],
    extra: {},
  })
})

it('an authenticated user gets the group of such users once', async () => {
  const known = { ...ada, groups: ['system:authenticated', 'ops'] }
  expect((await seen([knows(known)])).groups).toEqual(['system:authenticated', 'ops'])
})

it.each([
  [{ name: 'system:anonymous', groups: [], extra: {} }, ['system:unauthenticated']],
  [{ name: 'eve', groups: ['system:unauthenticated'], extra: {} }, ['system:unauthenticated']],
])('a front proxy that says the client is unknown is believed: %j', async (user, groups) => {
  expect((await seen([knows(user)])).groups).toEqual(groups)
})

it('who presents nothing is anonymous', async () => {
  expect(await seen([knows(undefined)])).toEqual({
    name: 'system:anonymous',
    groups: ['system:unauthenticated'],
    extra: {},
  })
})

it('who presents nothing is refused when anonymous requests are off', async () => {
  await expect(seen([knows(undefined)], false)).rejects.toMatchObject({ code: 401 })
})

it('who presents a bad credential is not anonymous', async () => {
  await expect(seen([fails(unauthorized()), knows(undefined)])).rejects.toMatchObject({ code: 401 })
})

it('a bad credential does not hide a good one', async () => {
  expect(await seen([fails(unauthorized()), knows(ada)])).toMatchObject({ name: 'ada' })
})

it('a credential that could not be looked up is not called bad', async () => {
  const attempt = seen([fails(unauthorized()), fails(unavailable('store is closed'))])
  await expect(attempt).rejects.toMatchObject({ code: 503 })
})

it('why a client was refused is told to whoever reads the log', async () => {
  const log = memoryLogger()
  const attempt = seen([fails(unauthorized('certificate has expired'))], true, log)
  await expect(attempt).rejects.toMatchObject({ message: 'Unauthorized' })
  expect(log.lines).toEqual([
    {
      level: 'debug',
      message: 'client refused',
      fields: { address: '127.0.0.1', why: 'certificate has expired' },
    },
  ])
})
