import { expect } from 'vitest'
import { stringify } from 'yaml'
import type { KubeObject } from '../../src/api/meta.ts'
import { changed, closedPaths, pathText } from './frame/changes.ts'
import { must } from './frame/must.ts'
import { json, mergePatch, type Place } from './frame/subject.ts'
import { aSuite, hasStatus, isGadget, isStored } from './frame/suite.ts'

const suite = aSuite()

const limit = 3 * 1024 * 1024

suite.every(isStored, subject => {
  const { kind } = subject

  must(27, 'is created with uid, creationTimestamp, resourceVersion and generation', async () => {
    const place = await subject.place()
    const made = await place.create(place.sample())
    expect(made).toMatchObject({ code: 201, body: { kind: kind.kind } })
    expect(made.body.metadata).toMatchObject({
      uid: expect.stringMatching(/^[-\da-f]{36}$/),
      creationTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
      resourceVersion: expect.stringMatching(/^[1-9]\d*$/),
    })
    expect(made.body.metadata.generation).toBe(kind.generation ? 1 : undefined)
    expect((await place.get(made.body)).body).toEqual(made.body)
  })

  must(28, 'is created without what only the server may say', async () => {
    const place = await subject.place()
    const lies = {
      uid: '11111111-1111-4111-8111-111111111111',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
      deletionGracePeriodSeconds: 30,
      generation: 99,
      selfLink: '/lie',
    }
    const { metadata } = await place.make(lies)
    expect(metadata.uid).not.toBe(lies.uid)
    expect(metadata.creationTimestamp).not.toBe(lies.creationTimestamp)
    expect(metadata.generation).not.toBe(lies.generation)
    for (const field of ['deletionTimestamp', 'deletionGracePeriodSeconds', 'selfLink']) {
      expect(metadata).not.toHaveProperty(field)
    }
  })

  must(29, 'gets a name of five more characters from generateName', async () => {
    const place = await subject.place()
    const { name: _name, ...metadata } = place.sample().metadata
    const body = { ...place.sample(), metadata: { ...metadata, generateName: 'made' } }
    const made = await place.create(body)
    if (derivesNames(place)) {
      expect(made.body).toMatchObject({ code: 422, details: { causes: [{ field: 'metadata.name' }] } })
      return
    }
    expect(made.body.metadata).toMatchObject({
      name: expect.stringMatching(/^made[bcdfghjklmnpqrstvwxz2456789]{5}$/),
      generateName: 'made',
    })
    expect((await place.create(body)).body.metadata.name).not.toBe(made.body.metadata.name)
  })

  must(30, 'is a 409 AlreadyExists the second time', async () => {
    const place = await subject.place()
    const sample = place.sample()
    const { name } = sample.metadata
    await place.create(sample)
    expect((await place.create(sample)).body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'AlreadyExists',
      message: `${subject.resource} "${name}" already exists`,
      details: { name, kind: kind.plural, ...(kind.group && { group: kind.group }) },
      code: 409,
    })
  })

  must(31, 'is refused for faults in metadata, each named by its field', async () => {
    const place = await subject.place()
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '' }
    const faults: readonly (readonly [Readonly<Record<string, unknown>>, string])[] = [
      [{ name: 'a/b' }, 'metadata.name'],
      [{ labels: { 'a b': 'c' } }, 'metadata.labels'],
      [{ labels: { a: 'not a value' } }, 'metadata.labels'],
      [{ annotations: { big: 'x'.repeat(262_145) } }, 'metadata.annotations'],
      [{ finalizers: ['a b'] }, 'metadata.finalizers'],
      [{ ownerReferences: [owner] }, 'metadata.ownerReferences.uid'],
      [
        { ownerReferences: [{ ...owner, uid: 'u', apiVersion: 'a/b/c' }] },
        'metadata.ownerReferences.apiVersion',
      ],
    ]
    for (const [metadata, field] of faults) {
      const { body } = await place.create(place.sample(metadata))
      expect(body).toMatchObject({ code: 422, reason: 'Invalid', details: { kind: kind.kind } })
      const fields = body.details.causes.map((cause: { field: string }) => cause.field)
      expect(fields).toContain(field)
    }
    const whole = { annotations: { big: 'x'.repeat(262_144 - 3) } }
    expect((await place.create(place.sample(whole))).code).toBe(201)
  })

  must(31, 'says of a finalizer without a domain what kube-apiserver says of the kind', async () => {
    const place = await subject.place()
    const answer = await place.create(place.sample({ finalizers: ['x'] }))
    const refusal = {
      reason: 'FieldValueInvalid',
      field: 'metadata.finalizers[0]',
      message: 'Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified',
    }
    const isRefused = kind.plainFinalizers === 'refused'
    expect(answer.code).toBe(isRefused ? 422 : 201)
    if (isRefused) expect(answer.body.details.causes).toContainEqual(refusal)
    const warnings =
      kind.plainFinalizers === 'warned' ? [expect.stringContaining('metadata.finalizers: "x"')] : []
    expect(answer.warnings).toEqual(warnings)
    if (!isRefused) await place.patch(answer.body, { metadata: { finalizers: null } })
  })

  must(32, 'is a 400 where body and path disagree', async () => {
    const place = await subject.place()
    const made = await place.make()
    const sample = place.sample()
    const message = async (body: object) => {
      const answer = await place.create(body)
      expect(answer.body).toMatchObject({ code: 400, reason: 'BadRequest' })
      return answer.body.message
    }
    expect(await message({ ...sample, kind: 'Other' })).toBe(
      `the kind in the data (Other) does not match the expected kind (${kind.kind})`,
    )
    expect(await message({ ...sample, apiVersion: 'other.example.com/v1' })).toBe(
      `the API version in the data (other.example.com/v1) does not match the expected API version (${sample.apiVersion})`,
    )
    if (subject.isNamespaced) {
      expect(await message({ ...sample, metadata: { ...sample.metadata, namespace: 'other' } })).toBe(
        'the namespace of the provided object does not match the namespace sent on the request',
      )
    }
    const renamed = { ...made, metadata: { ...made.metadata, name: 'other' } }
    const put = await suite.ask(place.item(made), { method: 'PUT', body: renamed })
    expect(put.body).toMatchObject({
      code: 400,
      message: `the name of the object (other) does not match the name on the URL (${made.metadata.name})`,
    })
  })

  must(33, 'is a 415 in other media types, which names those that are taken', async () => {
    const place = await subject.place()
    const made = await place.make()
    for (const [method, path] of [
      ['POST', place.collection],
      ['PUT', place.item(made)],
    ] as const) {
      const { body } = await suite.ask(path, { method, body: place.sample(), type: 'text/plain' })
      expect(body).toMatchObject({
        code: 415,
        reason: 'UnsupportedMediaType',
        message: expect.stringMatching(
          /^the body of the request was in an unknown format - accepted media types include: application\/json, application\/yaml/,
        ),
      })
    }
  })

  must(34, 'is a 413 above 3 MiB', async () => {
    const place = await subject.place()
    const sample = JSON.stringify(place.sample())
    const sent = (bytes: number) => place.create(sample + ' '.repeat(bytes - Buffer.byteLength(sample)))
    expect((await sent(limit)).code).toBe(201)
    expect((await sent(limit + 1)).body).toMatchObject({
      code: 413,
      reason: 'RequestEntityTooLarge',
      message: `Request entity too large: limit is ${limit}`,
    })
  })

  must(35, 'is created from JSON, from YAML, and from JSON that does not say so', async () => {
    const place = await subject.place()
    const first = place.sample()
    const made = await place.create(first)
    const ways: readonly (readonly [string, (object: KubeObject) => string])[] = [
      ['application/yaml', object => stringify(object, { version: '1.1' })],
      ['', object => JSON.stringify(object)],
      ['application/json; charset=utf-8', object => JSON.stringify(object)],
    ]
    for (const [type, write] of ways) {
      const sample = place.sample()
      const answer = await suite.ask(place.collection, { method: 'POST', body: write(sample), type })
      expect(answer).toMatchObject({ code: 201, body: { metadata: { name: sample.metadata.name } } })
      expect(Object.keys(answer.body)).toEqual(Object.keys(made.body))
    }
  })

  must(36, 'has unknown fields at every depth refused, told or passed over', async () => {
    const place = await subject.place()
    const sample = place.sample()
    for (const path of closedPaths(kind.schema, sample)) {
      const body = changed(sample, { path: [...path, 'nope'], value: 1 })
      const told = `unknown field "${pathText([...path, 'nope'])}"`
      const strict = await place.create(body, '?fieldValidation=Strict')
      expect(strict.body).toMatchObject({
        code: 400,
        reason: 'BadRequest',
        message: `${kind.kind} in version "${kind.versions[0].name}" cannot be handled as a ${kind.kind}: strict decoding error: ${told}`,
      })
      for (const query of ['?dryRun=All', '?dryRun=All&fieldValidation=Warn']) {
        const warned = await place.create(body, query)
        expect(warned.code).toBe(201)
        expect(warned.warnings).toContain(told)
        expect(JSON.stringify(warned.body)).not.toContain('"nope":1')
      }
      const ignored = await place.create(body, '?dryRun=All&fieldValidation=Ignore')
      expect(ignored.code).toBe(201)
      expect(ignored.warnings).not.toContain(told)
    }
  })

  must(36, 'has duplicate fields refused, told or passed over, in all writes', async () => {
    const place = await subject.place()
    const made = await place.make()
    const told = 'duplicate field "metadata.name"'
    const twice = (object: KubeObject) => JSON.stringify(object).replace('"name":', `"name":"first","name":`)
    for (const [method, path, object] of [
      ['POST', place.collection, place.sample()],
      ['PUT', place.item(made), made],
    ] as const) {
      const send = (query: string) => suite.ask(path + query, { method, body: twice(object) })
      expect((await send('?fieldValidation=Strict')).body).toMatchObject({
        code: 400,
        message: expect.stringContaining(`strict decoding error: ${told}`),
      })
      expect((await send('?fieldValidation=Ignore&dryRun=All')).warnings).not.toContain(told)
      expect((await send('?dryRun=All')).warnings).toContain(told)
    }
    const patched = { metadata: { labels: { a: 'b' } }, nope: 1 }
    expect((await place.patch(made, patched, { query: '?fieldValidation=Strict' })).code).toBe(422)
    expect((await place.patch(made, patched, { type: mergePatch })).warnings).toContain(
      'unknown field "nope"',
    )
  })
})

suite.every(hasStatus, subject => {
  must(28, 'is created without the status that was sent', async () => {
    const place = await subject.place()
    const { status: _status, ...bare } = place.sample()
    const plain = (await place.create(bare)).body
    const sent = { ...place.sample(), status: (await place.withStatus(plain)).status }
    const { body } = await place.create(sent)
    expect(body.status).toEqual(plain.status)
  })
})

/** Names of such a kind say what its objects hold. */
function derivesNames({ subject }: Place): boolean {
  return subject.kind.sampleName.includes('.')
}

suite.every(isGadget, subject => {
  must(24, 'is made, read, written and deleted under a name of 253 characters', async () => {
    const place = await subject.place()
    const made = await place.make({ name: 'a'.repeat(253) })
    expect((await place.get(made)).body).toEqual(made)
    expect((await place.patch(made, { metadata: { labels: { a: 'b' } } })).code).toBe(200)
    expect((await place.delete(made)).code).toBe(200)
    expect((await place.create(place.sample({ name: 'a'.repeat(254) }))).code).toBe(422)
  })

  must(34, 'is a 413 above 3 MiB in every kind of write', async () => {
    const place = await subject.place()
    const made = await place.make()
    const body = ' '.repeat(limit + 1)
    for (const [method, type] of [
      ['PUT', json],
      ['PATCH', mergePatch],
      ['DELETE', json],
    ] as const) {
      expect((await suite.ask(place.item(made), { method, body, type })).code).toBe(413)
    }
  })
})
