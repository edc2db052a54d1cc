import { describe, expect, it } from 'vitest'
import { expired, forbidden, notFound } from '../../../../src/kernel/errors.ts'
import { fromStatus } from '../../../../src/kernel/status-answer.ts'

const ref = { group: 'multicluster.x-k8s.io', resource: 'serviceexports' }

describe('the answer of another server, as an error', () => {
  it.each([
    ['a refusal', forbidden(ref, 'web', 'no')],
    ['an object that is not there', notFound(ref, 'web')],
    ['a page that is too old, with the token to go on', expired('too old', 'token')],
  ])('is the error that it was there: %s', (_, error) => {
    const status = JSON.parse(JSON.stringify(error.toStatus()))
    expect(fromStatus(error.code, status)).toStrictEqual(error)
  })

  it.each([
    [404, 'page not found\n', 'NotFound', 'the server answered 404: page not found'],
    [418, { kind: 'Teapot' }, '', 'the server answered 418'],
    [502, 'x'.repeat(300), '', `the server answered 502: ${'x'.repeat(200)}`],
  ])('has the reason that belongs to its code when it is no Status: %i', (code, answer, reason, message) => {
    expect(fromStatus(code, answer)).toMatchObject({ code, reason, message })
  })

  it('has the code that the Status tells, which in a watch is all there is', () => {
    const answer = { kind: 'Status', code: 410, reason: 'Gone', message: 'gone' }
    expect(fromStatus(500, answer)).toMatchObject({ code: 410, reason: 'Expired', message: 'gone' })
  })

  it('keeps a reason that is unknown here', () => {
    expect(fromStatus(409, { kind: 'Status', reason: 'Teapot' })).toMatchObject({
      code: 409,
      reason: 'Teapot',
      message: 'the server answered 409',
    })
  })
})
