import { describe, expect, it } from 'vitest'
import {
  alreadyExists,
  invalid,
  objectTooLarge,
  tooManyOperations,
  unprocessable,
  unsupportedVerb,
} from '../../../../src/kernel/errors.ts'
import { immutable } from '../../../../src/kernel/field-error.ts'

const exports = { group: 'multicluster.x-k8s.io', resource: 'serviceexports' }

describe('errors', () => {
  it('says once what two causes share, and keeps both causes', () => {
    const same = immutable('metadata.uid', 'u')
    const status = invalid({ group: '', kind: 'Thing' }, 'web', [same, same]).toStatus()
    expect(status.message).toBe(
      'Thing "web" is invalid: metadata.uid: Invalid value: "u": field is immutable',
    )
    expect(status.details?.causes).toHaveLength(2)
  })

  it('tells a name that is being freed and a name that could not be made', () => {
    expect(alreadyExists(exports, 'c', 'terminating').message).toBe(
      'object is being deleted: serviceexports.multicluster.x-k8s.io "c" already exists',
    )
    const exhausted = alreadyExists(exports, 'gen-x', 'exhausted')
    expect(exhausted.message).toMatch(/already exists, the server was not able to generate a unique name/)
    expect(exhausted.details?.retryAfterSeconds).toBe(1)
  })

  it('names verb and resource of an unsupported verb', () => {
    expect(unsupportedVerb(exports, 'delete').toStatus()).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'delete is not supported on resources of kind "serviceexports.multicluster.x-k8s.io"',
      reason: 'MethodNotAllowed',
      details: { group: 'multicluster.x-k8s.io', kind: 'serviceexports' },
      code: 405,
    })
  })

  it('answers 413 with both sizes, and 422 without causes', () => {
    expect(objectTooLarge(2_000_000, 1_572_864)).toMatchObject({
      code: 413,
      message: expect.stringMatching(/2000000 bytes as JSON, at most 1572864/),
    })
    expect(tooManyOperations(10_001, 10_000).code).toBe(413)
    expect(unprocessable().toStatus().details).toEqual({})
  })
})
