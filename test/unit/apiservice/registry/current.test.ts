// What was written is kept as it is, so that the next change need not decode it: it has to be what decoding would say.
import { expect, it } from 'vitest'
import { currentOf, WrittenObjects } from '../../../../apiservice/registry/current.ts'
import type { Resource } from '../../../../apiservice/registry/parts.ts'
import type { AnyKind } from '../../../../src/api/kind.ts'
import { apiVersionOf, resourceOf } from '../../../../src/api/kind.ts'
import { ServiceImportKind } from '../../../../src/api/kinds/service-import.ts'
import type { KubeObject } from '../../../../src/api/meta.ts'
import { encodeBody } from '../../../../src/codec/object-bytes.ts'
import { aRegistry } from '../../../support/registry.ts'

const path = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/shop/serviceimports'
const merge = 'application/merge-patch+json'

function resourceAt(kind: AnyKind, version: string): Resource {
  return {
    kind,
    served: { kind, version },
    apiVersion: apiVersionOf(kind, version),
    qualified: `${kind.plural}.${kind.group}`,
    ref: resourceOf(kind),
    kindRef: { group: kind.group, kind: kind.kind },
    deprecated: undefined,
  }
}

const beta = resourceAt(ServiceImportKind, 'v1beta1')
const alpha = resourceAt(ServiceImportKind, 'v1alpha1')

function anImport(name: string, note = ''): KubeObject {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: { name, namespace: 'shop', annotations: { note } },
    spec: { type: 'ClusterSetIP', ports: [{ port: 80 }] },
  }
}

function stored(object: KubeObject, revision: number) {
  const { name } = object.metadata
  const key = { resource: beta.qualified, namespace: 'shop', name }
  return { ...key, revision, body: encodeBody(object) }
}

it('is found at every version, as decoding it would have it', () => {
  const written = new WrittenObjects()
  const before = stored(anImport('a'), 1)
  const after = stored(anImport('a', 'new'), 2)
  expect(written.find(beta, before)).toBeUndefined()
  written.put(beta, after, anImport('a', 'new'), currentOf(beta, before))
  for (const resource of [beta, alpha]) {
    const { known } = written.find(resource, after) ?? {}
    expect(written.find(resource, after)).toStrictEqual({
      ...currentOf(resource, after),
      known,
      isProven: true,
    })
    expect(known).toMatchObject({ object: currentOf(beta, after).document, body: after.body })
  }
  expect(written.find(beta, { ...after })).toBeUndefined()
})

it('a version goes with the one that replaces it, and all go when they are too many', () => {
  const size = encodeBody(anImport('a', '0')).length
  const written = new WrittenObjects(2 * size)
  const before = currentOf(beta, stored(anImport('a', '0'), 1))
  const put = (name: string, note: string, from = before) => {
    const object = anImport(name, note)
    const version = stored(object, 1)
    written.put(beta, version, object, from)
    return version
  }
  const a = put('a', '1')
  const b = put('b', '1')
  const [foundA, foundB] = [written.find(beta, a), written.find(beta, b)]
  expect([foundA?.stored, foundB?.stored]).toEqual([a, b])
  const next = put('a', '2', foundA)
  expect([a, b, next].map(version => written.find(beta, version)?.stored)).toEqual([undefined, b, next])
  const c = put('c', '1')
  expect([b, next, c].map(version => written.find(beta, version)?.stored)).toEqual([undefined, undefined, c])
})

it('a change of what was just written is judged as one of what was read', async () => {
  const registry = await aRegistry({ kinds: [ServiceImportKind] })
  await registry.send('POST', path, { body: anImport('a') })
  const status = { status: { clusters: [{ cluster: 'east' }] } }
  await registry.send('PATCH', `${path}/a/status`, { type: merge, body: status })
  const { body: read } = await registry.send('GET', `${path}/a`)

  const same = await registry.send('PATCH', `${path}/a/status`, { type: merge, body: status })
  expect(same.body.metadata.resourceVersion).toBe(read.metadata.resourceVersion)
  const put = await registry.send('PUT', `${path}/a`, { body: read })
  expect(put.body).toEqual(read)

  const reversed = { ...read, spec: { ports: read.spec.ports, type: read.spec.type } }
  expect((await registry.send('PUT', `${path}/a`, { body: reversed })).body).toEqual(read)

  const wrong = { ...read, spec: { ...read.spec, type: 'Other', more: 1 } }
  const refused = await registry.send('PUT', `${path}/a`, { body: wrong })
  expect([refused.code, refused.warnings]).toEqual([422, ['unknown field "spec.more"']])
  const labels = { metadata: { labels: { 'not a label': 'x' } } }
  expect((await registry.send('PATCH', `${path}/a`, { type: merge, body: labels })).code).toBe(422)

  const noted = { ...read, metadata: { ...read.metadata, annotations: { note: 'two' } } }
  const changed = await registry.send('PUT', `${path}/a`, { body: noted })
  expect(changed.body.metadata.annotations).toEqual({ note: 'two' })
  expect(changed.body.metadata.generation).toBe(1)
  expect(changed.body.metadata.managedFields).toMatchObject([
    { manager: 'tester', fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:note': {} } } } },
    { manager: 'tester', subresource: 'status' },
  ])
  expect((await registry.send('GET', `${path}/a`)).body).toEqual(changed.body)
})

it('what a change left as it was is proven only when the kind still knows it', () => {
  const written = new WrittenObjects()
  const known = anImport('a')
  const old: KubeObject = { ...known, spec: { ...Object(known.spec), gone: true } }
  const provenAfter = (object: KubeObject): boolean | undefined => {
    const version = stored(object, 2)
    written.put(beta, version, object, currentOf(beta, stored(object, 1)))
    return written.find(beta, version)?.isProven
  }
  expect([provenAfter(old), provenAfter(known)]).toEqual([false, true])
})

it('what this process last wrote is known by its key, also when another has changed it since', () => {
  const written = new WrittenObjects()
  const [before, after] = [stored(anImport('a'), 1), stored(anImport('a', 'new'), 2)]
  written.put(beta, after, anImport('a', 'new'), currentOf(beta, before))
  const { resource, namespace, name } = after
  expect(written.last(beta, { resource, namespace, name })?.stored).toBe(after)
  expect(written.last(beta, { resource, namespace, name: 'b' })).toBeUndefined()
})

it('a JSON patch of who manages one item leaves the others as they are', async () => {
  const registry = await aRegistry({ kinds: [ServiceImportKind] })
  await registry.send('POST', path, { body: anImport('a') })
  const clusters = ['a', 'b', 'c'].map(cluster => ({ cluster }))
  await registry.send('PATCH', `${path}/a/status`, { type: merge, body: { status: { clusters } } })
  const place = '/metadata/managedFields/1/fieldsV1/f:status/f:clusters'
  const { body } = await registry.send('PATCH', `${path}/a`, {
    type: 'application/json-patch+json',
    body: [{ op: 'remove', path: `${place}/k:{"cluster":"b"}/f:cluster` }],
  })
  const whole = { '.': {}, 'f:cluster': {} }
  expect(body.metadata.managedFields[1].fieldsV1['f:status']['f:clusters']).toEqual({
    '.': {},
    'k:{"cluster":"a"}': whole,
    'k:{"cluster":"b"}': {},
    'k:{"cluster":"c"}': whole,
  })
})
