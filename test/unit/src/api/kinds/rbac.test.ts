import { describe, expect, it } from 'vitest'
import { applyDefaults, validateSchema } from '../../../../../src/api/derive/validate.ts'
import type { KubeObject } from '../../../../../src/api/meta.ts'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

function object(kind: string, content: Readonly<Record<string, unknown>>): KubeObject {
  return { apiVersion: 'rbac.authorization.k8s.io/v1', kind, metadata: { name: 'a' }, ...content }
}

function texts(
  name: string,
  content: Readonly<Record<string, unknown>>,
  old?: KubeObject,
): readonly string[] {
  const kind = kindNamed(name)
  const filled = applyDefaults(kind, object(name, content))
  const errors = validateSchema(kind, filled)
  return (errors.length > 0 ? errors : kind.validate(filled, old)).map(fieldErrorText)
}

const rule = { verbs: ['get'], apiGroups: [''], resources: ['services'] }
const paths = { verbs: ['get'], nonResourceURLs: ['/healthz'] }

describe('rules', () => {
  it.each([
    ['Role', [rule], []],
    ['ClusterRole', [rule, paths], []],
    [
      'Role',
      [{ ...rule, verbs: [] }],
      ['rules[0].verbs: Required value: verbs must contain at least one value'],
    ],
    ['Role', [{ ...rule, verbs: undefined }], ['rules[0].verbs: Required value']],
    [
      'Role',
      [{ ...rule, apiGroups: [] }],
      ['rules[0].apiGroups: Required value: resource rules must supply at least one api group'],
    ],
    [
      'Role',
      [{ ...rule, resources: undefined }],
      ['rules[0].resources: Required value: resource rules must supply at least one resource'],
    ],
    [
      'Role',
      [paths],
      [
        'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: namespaced rules cannot apply to non-resource URLs',
      ],
    ],
    [
      'ClusterRole',
      [{ ...rule, ...paths }],
      [
        'rules[0].nonResourceURLs: Invalid value: ["/healthz"]: rules cannot apply to both regular resources and non-resource URLs',
      ],
    ],
  ])('of a %s: %j', (kind, rules, errors) => {
    expect(texts(kind, { rules })).toEqual(errors)
  })
})

const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }

describe('a binding', () => {
  it.each([
    ['RoleBinding', { roleRef: { kind: 'Role', name: 'a' } }, []],
    [
      'ClusterRoleBinding',
      { roleRef: { ...roleRef, kind: 'Role' } },
      ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
    ],
    [
      'RoleBinding',
      { roleRef: { ...roleRef, apiGroup: 'x' } },
      ['roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"'],
    ],
    ['RoleBinding', { roleRef: { ...roleRef, name: '' } }, ['roleRef.name: Required value']],
    [
      'RoleBinding',
      { roleRef: { ...roleRef, name: 'a/b' } },
      [`roleRef.name: Invalid value: "a/b": may not contain '/'`],
    ],
    ['RoleBinding', {}, ['roleRef: Required value']],
    [
      'RoleBinding',
      { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'a' }] },
      ['subjects[0].namespace: Required value'],
    ],
    [
      'RoleBinding',
      { roleRef, subjects: [{ kind: 'Robot', name: 'a' }] },
      ['subjects[0].kind: Unsupported value: "Robot": supported values: "ServiceAccount", "User", "Group"'],
    ],
    [
      'RoleBinding',
      { roleRef, subjects: [{ kind: 'User', name: '' }] },
      ['subjects[0].name: Required value'],
    ],
    [
      'RoleBinding',
      { roleRef, subjects: [{ kind: 'User', name: 'a', apiGroup: 'x' }] },
      ['subjects[0].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"'],
    ],
    [
      'RoleBinding',
      { roleRef, subjects: [{ kind: 'Group', name: 'a', namespace: 'x' }] },
      ['subjects[0].namespace: Forbidden: must not be set for users and groups'],
    ],
  ])('%s %j', (kind, content, errors) => {
    expect(texts(kind, content)).toEqual(errors)
  })

  it('keeps its role', () => {
    const old = object('RoleBinding', { roleRef })
    expect(texts('RoleBinding', { roleRef: { ...roleRef, name: 'edit' } }, old)).toEqual([
      'roleRef: Invalid value: {"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole","name":"edit"}: cannot change roleRef',
    ])
  })

  it('takes users and groups for those of its own API group', () => {
    const subjects = [
      { kind: 'User', name: 'jo' },
      { kind: 'ServiceAccount', name: 'a', namespace: 'b' },
    ]
    expect(
      applyDefaults(kindNamed('RoleBinding'), object('RoleBinding', { roleRef, subjects })),
    ).toMatchObject({
      subjects: [{ kind: 'User', name: 'jo', apiGroup: 'rbac.authorization.k8s.io' }, subjects[1]],
    })
  })
})
