// Who was not let in, however that was said: a credential that is not good, too many of them, nobody there to judge one.
import { expect, it } from 'vitest'
import { parsePolicy } from '../../../../apiservice/audit/policy.ts'
import { auditStages } from '../../../../apiservice/audit/stage.ts'
import { never } from '../../../../src/kernel/abort.ts'
import {
  type StatusError,
  tooManyRequests,
  unauthorized,
  unavailable,
} from '../../../../src/kernel/errors.ts'
import { anApiRequest } from '../../../support/api-request.ts'
import { manualClock } from '../../../support/manual-clock.ts'

const policy = parsePolicy(
  JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }),
)

type Event = { readonly stage: string; readonly responseStatus?: { readonly code: number } }

function auditing() {
  const events: Event[] = []
  const sink = {
    write(line: string): undefined {
      events.push(JSON.parse(line))
    },
  }
  return { events, stages: auditStages({ policy, sinks: [sink], clock: manualClock() }) }
}

it.each<[string, StatusError]>([
  ['401', unauthorized()],
  ['429', tooManyRequests('Too many tokens that are not known, please try again later.', 1)],
  ['503', unavailable('the issuer does not answer')],
])('a request that authentication ends with %s is told once, of nobody', async (code, error) => {
  const { events, stages } = auditing()
  const handler = stages.strangers(() => Promise.reject(error))
  await expect(handler(anApiRequest({}), never)).rejects.toBe(error)
  expect(events).toEqual([
    expect.objectContaining({
      stage: 'ResponseStarted',
      user: { username: '' },
      responseStatus: expect.objectContaining({ code: Number(code) }),
    }),
  ])
})

it('what fails for somebody who is known is told of them alone', async () => {
  const { events, stages } = auditing()
  const error = tooManyRequests('the queue is full', 1)
  const handler = stages.strangers(stages.requests(() => Promise.reject(error)))
  await expect(handler(anApiRequest({}), never)).rejects.toBe(error)
  expect(events.map(({ stage }) => stage)).toEqual(['RequestReceived', 'ResponseComplete'])
})
