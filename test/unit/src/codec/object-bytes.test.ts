import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBody, encodeBody, headOf, metadataEnd } from '../../../../src/codec/object-bytes.ts'

const object = {
  apiVersion: 'g/v1',
  kind: 'Foo',
  metadata: { name: 'web', resourceVersion: '5', annotations: { note: '"}{\\' } },
  spec: { metadata: { name: 'inner' } },
}

it('head and body are the object at any version of its API', () => {
  const body = encodeBody(object)
  expect(JSON.parse(headOf('g/v2', 'Foo', 7, body) + body)).toEqual({
    ...object,
    apiVersion: 'g/v2',
    metadata: { ...object.metadata, resourceVersion: '7' },
  })
  expect(decodeBody('g/v1', 'Foo', { revision: 5, body })).toEqual(object)
})

it('revision 0 is not shown, and metadata may be empty', () => {
  const body = encodeBody({ apiVersion: 'v1', kind: 'X', metadata: { name: 'a' } })
  expect(headOf('v1', 'X', 0, body) + body).toBe('{"apiVersion":"v1","kind":"X","metadata":{"name":"a"}}')
  const bare = encodeBody({ apiVersion: 'v1', kind: 'X', metadata: {} } as never)
  expect(bare.toString()).toBe('}}')
  expect(headOf('v1', 'X', 3, bare) + bare).toBe(
    '{"apiVersion":"v1","kind":"X","metadata":{"resourceVersion":"3"}}',
  )
})

it('names that are whole numbers, and those of prototypes, are names', () => {
  const odd = JSON.parse(
    '{"apiVersion":"g/v1","kind":"Foo","7":[1],"metadata":{"name":"a"},"__proto__":{"x":1}}',
  )
  const body = encodeBody(odd)
  expect(body.toString()).toBe('"name":"a"},"7":[1],"__proto__":{"x":1}}')
})

describe('the end of the metadata', () => {
  it('is found whatever names, strings and objects stand in it', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.string()),
        fc.array(fc.record({ a: fc.string(), b: fc.object() })),
        fc.object(),
        (annotations, ownerReferences, spec) => {
          const metadata = { name: 'web', annotations, ownerReferences }
          const body = encodeBody({ apiVersion: 'g/v1', kind: 'Foo', metadata, spec } as never)
          expect(JSON.parse(`{${body.subarray(0, metadataEnd(body))}`)).toEqual(
            JSON.parse(JSON.stringify(metadata)),
          )
        },
      ),
    )
  })

  it('throws on bytes that are no body, also where a string does not end', () => {
    for (const text of ['', '"name":"web"', '"name":"we', '"a":{}', '"a\\']) {
      expect(() => metadataEnd(Buffer.from(text))).toThrow('no end of its metadata')
    }
  })
})
