import { describe, expect, it } from 'vitest'
import { metadataWarnings, validateMetadata } from '../../../../../src/api/derive/metadata.ts'
import type { KubeObject } from '../../../../../src/api/meta.ts'
import { fieldErrorText } from '../../../../../src/kernel/field-error.ts'
import { anExport, kindNamed } from '../../../../support/mcs-objects.ts'

const exportKind = kindNamed('ServiceExport')
const namespaceKind = kindNamed('Namespace')
const roleKind = kindNamed('Role')
const reviewKind = kindNamed('SelfSubjectAccessReview')

function withMetadata(more: Readonly<Record<string, unknown>>): KubeObject {
  const object = anExport()
  return { ...object, metadata: { ...object.metadata, ...more } }
}

const texts = (...args: Parameters<typeof validateMetadata>) => validateMetadata(...args).map(fieldErrorText)

const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
const namePart =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
const ref = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: '1' }
const long = 'a'.repeat(254)

describe('what a kube-apiserver answers about metadata', () => {
  it.each([
    ['an upper case name', { name: 'Web' }, [`metadata.name: Invalid value: "Web": ${subdomain}`]],
    ['an underscore in the name', { name: 'we_b' }, [`metadata.name: Invalid value: "we_b": ${subdomain}`]],
    [
      'a name of 254 characters',
      { name: long },
      [`metadata.name: Invalid value: "${long}": must be no more than 253 characters`],
    ],
    [
      'a label key with a space',
      { labels: { 'bad key': 'x' } },
      [`metadata.labels: Invalid value: "bad key": ${namePart}`],
    ],
    [
      'a label value of 64 bytes',
      { labels: { k: 'a'.repeat(64) } },
      [`metadata.labels: Invalid value: "${'a'.repeat(64)}": must be no more than 63 bytes`],
    ],
    [
      'a bad annotation key',
      { annotations: { '-bad-': 'x' } },
      [`metadata.annotations: Invalid value: "-bad-": ${namePart}`],
    ],
    [
      'an annotation key of __proto__',
      { annotations: JSON.parse('{"__proto__":"x"}') },
      [`metadata.annotations: Invalid value: "__proto__": ${namePart}`],
    ],
    [
      'annotations that are too big',
      { annotations: { k: 'x'.repeat(262145) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      'an owner without a UID',
      { ownerReferences: [{ ...ref, uid: '' }] },
      ['metadata.ownerReferences.uid: Invalid value: "": must not be empty'],
    ],
    [
      'an owner of a version with two slashes',
      { ownerReferences: [{ ...ref, apiVersion: 'a/b/c' }] },
      ['metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty'],
    ],
    [
      'an owner of a group alone',
      { ownerReferences: [ref, { ...ref, apiVersion: 'a/' }] },
      ['metadata.ownerReferences.apiVersion: Invalid value: "a/": version must not be empty'],
    ],
    ['a bad finalizer', { finalizers: ['a b'] }, [`metadata.finalizers: Invalid value: "a b": ${namePart}`]],
  ])('%s', (_, more, errors) => {
    expect(texts(exportKind, withMetadata(more))).toEqual(errors)
  })

  it('two controllers', () => {
    const owners = [
      { ...ref, controller: true },
      { ...ref, name: 'y', uid: '2', controller: true },
    ]
    expect(texts(exportKind, withMetadata({ ownerReferences: owners }))).toEqual([
      `metadata.ownerReferences: Invalid value: ${JSON.stringify(owners)}: Only one reference can have Controller set to true. Found "true" in references for ConfigMap/x and ConfigMap/y`,
    ])
  })

  it('a finalizer without a domain', () => {
    const object = withMetadata({ finalizers: ['nodomain', 'example.com/x', 'orphan'] })
    expect(texts(exportKind, object)).toEqual([])
    expect(metadataWarnings(exportKind, object)).toEqual([
      'metadata.finalizers: "nodomain": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers',
    ])
  })
})

describe('metadata of a new object', () => {
  it.each([
    ['no name', { name: '' }, ['metadata.name: Required value: name or generateName is required']],
    [
      'no name at all',
      { name: undefined },
      ['metadata.name: Required value: name or generateName is required'],
    ],
    ['no namespace', { namespace: '' }, ['metadata.namespace: Required value']],
    [
      'a namespace with dots',
      { namespace: 'a.b' },
      ['metadata.namespace: Invalid value: "a.b": must not contain dots'],
    ],
    ['a prefix that ends in a dash', { generateName: 'web-' }, []],
    [
      'a bad prefix',
      { generateName: 'Web-' },
      [`metadata.generateName: Invalid value: "Web-": ${subdomain}`],
    ],
    ['annotations in upper case', { annotations: { 'Example.com/A': '' } }, []],
    [
      'both ways of deletion',
      { finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      'an Event as owner',
      { ownerReferences: [{ ...ref, kind: 'Event' }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"x","uid":"1"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      'an owner of nothing',
      { ownerReferences: [{}] },
      [
        'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
        'metadata.ownerReferences.kind: Invalid value: "": must not be empty',
        'metadata.ownerReferences.name: Invalid value: "": must not be empty',
        'metadata.ownerReferences.uid: Invalid value: "": must not be empty',
      ],
    ],
    [
      'managed fields of another kind',
      { managedFields: [{ operation: 'Move', fieldsType: 'V2', manager: 'm'.repeat(129) }] },
      [
        'metadata.managedFields[0].operation: Invalid value: "Move": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "V2": must be `FieldsV1`',
        'metadata.managedFields[0].manager: Too long: may not be more than 128 bytes',
      ],
    ],
  ])('may have %s, or is told', (_, more, errors) => {
    expect(texts(exportKind, withMetadata(more))).toEqual(errors)
  })

  it('has the name that its kind asks for', () => {
    const named = (name: string) => ({ apiVersion: 'v1', kind: 'K', metadata: { name } })
    expect(texts(namespaceKind, named('a.b'))).toEqual([
      'metadata.name: Invalid value: "a.b": must not contain dots',
    ])
    const inNamespace = (name: string) => ({ ...named(name), metadata: { name, namespace: 'a' } })
    expect(texts(roleKind, inNamespace('system:a'))).toEqual([])
    expect(texts(roleKind, inNamespace('a/b'))).toEqual([
      `metadata.name: Invalid value: "a/b": may not contain '/'`,
    ])
    expect(texts(reviewKind, named(''))).toEqual([])
  })

  it('has no namespace on cluster scope', () => {
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'a', namespace: 'b' } }
    expect(texts(namespaceKind, object)).toEqual(['metadata.namespace: Forbidden: not allowed on this type'])
  })
})

describe('metadata of an update', () => {
  const old = withMetadata({
    uid: 'u1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['example.com/a'],
  })
  const changed = (more: Readonly<Record<string, unknown>>) => ({
    ...old,
    metadata: { ...old.metadata, ...more },
  })

  it.each([
    ['name', 'other', '"other"'],
    ['namespace', 'other', '"other"'],
    ['uid', 'u2', '"u2"'],
    ['creationTimestamp', '2026-01-02T00:00:00Z', '"2026-01-02T00:00:00Z"'],
    ['deletionTimestamp', '2026-01-02T00:00:00Z', '"2026-01-02T00:00:00Z"'],
    ['deletionGracePeriodSeconds', 5, '5'],
  ])('keeps its %s', (field, value, shown) => {
    expect(texts(exportKind, changed({ [field]: value }), old)).toEqual([
      `metadata.${field}: Invalid value: ${shown}: field is immutable`,
    ])
  })

  it('may take finalizers away and add some, until it is being deleted', () => {
    const more = { finalizers: ['example.com/a', 'example.com/c', 'example.com/b'] }
    expect(texts(exportKind, changed(more), old)).toEqual([])
    const dying = changed({ deletionTimestamp: '2026-01-02T00:00:00Z' })
    const wanted = { ...dying, metadata: { ...dying.metadata, ...more } }
    expect(texts(exportKind, wanted, dying)).toEqual([
      'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/b", "example.com/c"}',
    ])
    const fewer = { ...dying, metadata: { ...dying.metadata, finalizers: [] } }
    expect(texts(exportKind, fewer, dying)).toEqual([])
  })

  it('may not get bad labels', () => {
    expect(texts(exportKind, changed({ labels: { a: '-' } }), old)).toHaveLength(1)
  })
})
