import { describe, expect, it } from 'vitest'
import { toObject } from '../../../../../src/api/derive/object.ts'
import { StatusError } from '../../../../../src/kernel/errors.ts'
import { kindNamed } from '../../../../support/mcs-objects.ts'

const kind = kindNamed('ServiceExport')
const decode = (metadata: unknown) => toObject(kind, 'v1beta1', { spec: {}, metadata }).metadata

describe('metadata of a document', () => {
  it.each([undefined, null, {}])('is empty when it is %j', metadata => {
    expect(decode(metadata)).toEqual({})
  })

  it('counts nulls as not given', () => {
    expect(decode({ name: 'a', labels: null, creationTimestamp: null, finalizers: null })).toEqual({
      name: 'a',
    })
  })

  it('reads null in a map of strings as empty text', () => {
    expect(decode({ labels: { a: null, b: 'c' }, annotations: { d: null } })).toEqual({
      labels: { a: '', b: 'c' },
      annotations: { d: '' },
    })
  })

  it('is the same object when nothing was to do', () => {
    const document = { metadata: { name: 'a', labels: { a: 'b' } }, spec: {} }
    expect(toObject(kind, 'v1beta1', document)).toBe(document)
  })

  it.each([
    ['x', 'json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
    [[], 'json: cannot unmarshal array into Go value of type v1.ObjectMeta'],
    [
      { labels: ['a'] },
      'json: cannot unmarshal array into Go struct field ObjectMeta.labels of type map[string]string',
    ],
    [
      { labels: { k: 1 } },
      'json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
    ],
    [
      { finalizers: 'a' },
      'json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string',
    ],
    [
      { finalizers: [true] },
      'json: cannot unmarshal bool into Go struct field ObjectMeta.finalizers of type string',
    ],
    [
      { generation: '1' },
      'json: cannot unmarshal string into Go struct field ObjectMeta.generation of type int64',
    ],
    [
      { generation: 1.5 },
      'json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64',
    ],
    [
      { ownerReferences: [{ uid: 1 }] },
      'json: cannot unmarshal number into Go struct field ObjectMeta.ownerReferences.uid of type string',
    ],
    [
      { ownerReferences: [{ controller: 'yes' }] },
      'json: cannot unmarshal string into Go struct field ObjectMeta.ownerReferences.controller of type bool',
    ],
    [
      { creationTimestamp: 'yesterday' },
      'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse it as RFC 3339',
    ],
  ])('is refused when it is %j', (metadata, why) => {
    const refused = () => decode(metadata)
    expect(refused).toThrow(StatusError)
    expect(refused).toThrow(`ServiceExport in version "v1beta1" cannot be handled as a ServiceExport: ${why}`)
  })

  it('leaves parts of an owner that are missing to validation', () => {
    expect(decode({ ownerReferences: [{ name: 'a' }] })).toEqual({ ownerReferences: [{ name: 'a' }] })
  })
})
