import { describe, expect, it } from 'vitest'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const texts = (kind: string, spec: Readonly<Record<string, unknown>>, metadata = {}) =>
  kindNamed(kind)
    .validate({ apiVersion: 'authorization.k8s.io/v1', kind, metadata: { name: '', ...metadata }, spec })
    .map(fieldErrorText)

const resourceAttributes = { verb: 'get', resource: 'services' }
const nonResourceAttributes = { verb: 'get', path: '/healthz' }

describe('an access review', () => {
  it('asks about a resource or about a path', () => {
    expect(texts('SelfSubjectAccessReview', { resourceAttributes })).toEqual([])
    expect(texts('SelfSubjectAccessReview', { nonResourceAttributes })).toEqual([])
    expect(texts('SelfSubjectAccessReview', {})).toEqual([
      'spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ])
    expect(texts('SelfSubjectAccessReview', { resourceAttributes, nonResourceAttributes })).toEqual([
      'spec: Invalid value: {"verb":"get","path":"/healthz"}: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    ])
  })

  it.each([
    { name: 'x' },
    { generateName: 'x' },
    { labels: { a: 'b' } },
    { annotations: { a: 'b' } },
    { resourceVersion: '3' },
    { generation: 3 },
    { finalizers: ['a/b'] },
  ])('has no metadata like %j', metadata => {
    const why = /^metadata: Invalid value: \{.*\}: must be empty$/
    expect(texts('SelfSubjectAccessReview', { resourceAttributes }, metadata)).toEqual([
      expect.stringMatching(why),
    ])
    expect(texts('SubjectAccessReview', { resourceAttributes, user: 'jo' }, metadata)).toEqual([
      expect.stringMatching(why),
    ])
  })

  it('may have empty metadata, and managers', () => {
    const metadata = { labels: {}, finalizers: [], managedFields: [{ manager: 'x' }] }
    expect(texts('SelfSubjectAccessReview', { resourceAttributes }, metadata)).toEqual([])
  })

  it('of others names someone', () => {
    expect(texts('SubjectAccessReview', { resourceAttributes, user: 'jo' })).toEqual([])
    expect(texts('SubjectAccessReview', { resourceAttributes, groups: ['ops'] })).toEqual([])
    expect(texts('SubjectAccessReview', { resourceAttributes })).toEqual([
      'spec.user: Invalid value: "": at least one of user or group must be specified',
    ])
  })
})
