import { describe, expect, it } from 'vitest'
import { sampleOf } from '../../../../../src/api/derive/sample.ts'
import { validateSchema } from '../../../../../src/api/derive/validate.ts'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const kind = kindNamed('Lease')

describe('a lease', () => {
  it('may have nobody for its holder, as a leader writes when it leaves', () => {
    const released = { ...sampleOf(kind), spec: { holderIdentity: '', leaseDurationSeconds: 1 } }
    expect([...validateSchema(kind, released), ...kind.validate(released)]).toEqual([])
  })

  it('has a duration, and no negative number of transitions', () => {
    const wrong = { ...sampleOf(kind), spec: { leaseDurationSeconds: 0, leaseTransitions: -1 } }
    expect(kind.validate(wrong).map(fieldErrorText)).toEqual([
      'spec.leaseDurationSeconds: Invalid value: 0: must be greater than 0',
      'spec.leaseTransitions: Invalid value: -1: must be greater than or equal to 0',
    ])
  })
})
