import { describe, expect, it } from 'vitest'
import { problemOccurrence } from '../../../dns/warnings.ts'

describe('the Event about what has no record', () => {
  it.each([
    ['port-number', 'http', 'the port "http" has no number from 1 to 65535'],
    ['port-number', '', 'a port without a name has no number from 1 to 65535'],
    [
      'cluster-id',
      'a.b.c',
      'the cluster id "a.b.c" is not one or two DNS labels: its endpoints have no names of their own',
    ],
    [
      'cluster-id',
      '',
      'an EndpointSlice does not say its source cluster: its endpoints have no names of their own',
    ],
    ['address', '300.1.1.1', '"300.1.1.1" is no address'],
    ['service-name', 'a.b', 'its name "a.b" is no DNS label'],
  ] as const)('is a warning that says what: %s %j', (reason, subject, message) => {
    expect(problemOccurrence({ reason, subject })).toEqual({
      type: 'Warning',
      reason: 'NoDNSRecord',
      message,
    })
  })
})
