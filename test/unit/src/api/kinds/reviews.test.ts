import { describe, expect, it } from 'vitest'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const texts = (kind: string, spec: Readonly<Record<string, unknown>>) =>
  kindNamed(kind)
    .validate({ apiVersion: 'authorization.k8s.io/v1', kind, metadata: { name: '' }, spec })
    .map(fieldErrorText)

const resourceAttributes = { verb: 'get', resource: 'services' }
const nonResourceAttributes = { verb: 'get', path: '/healthz' }

describe('an access review', () => {
  it('asks about a resource or about a path', () => {
    expect(texts('SelfSubjectAccessReview', { resourceAttributes })).toEqual([])
    expect(texts('SelfSubjectAccessReview', { nonResourceAttributes })).toEqual([])
    expect(texts('SelfSubjectAccessReview', {})).toEqual([
      'spec.resourceAttributes: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ])
    expect(texts('SelfSubjectAccessReview', { resourceAttributes, nonResourceAttributes })).toEqual([
      'spec.nonResourceAttributes: Invalid value: {"verb":"get","path":"/healthz"}: cannot be specified in combination with resourceAttributes',
    ])
  })

  it('of others names someone', () => {
    expect(texts('SubjectAccessReview', { resourceAttributes, user: 'jo' })).toEqual([])
    expect(texts('SubjectAccessReview', { resourceAttributes, groups: ['ops'] })).toEqual([])
    expect(texts('SubjectAccessReview', { resourceAttributes })).toEqual([
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ])
  })
})
