import { expect } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { must } from './frame/must.ts'
import { content, jsonPatch, type Place } from './frame/subject.ts'
import { aSuite, hasStatus, isStored } from './frame/suite.ts'

const suite = aSuite()

const versionOf = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? ''

function withoutVersion(object: KubeObject): KubeObject {
  const { resourceVersion: _version, ...metadata } = object.metadata
  return { ...object, metadata }
}

/** Writes once more, so that the version of the object is stale. */
async function touched(place: Place, object: KubeObject): Promise<KubeObject> {
  return (await place.patch(object, { metadata: { annotations: { touched: 'yes' } } })).body
}

suite.every(isStored, subject => {
  const { kind } = subject

  must(
    37,
    'wants a resourceVersion of a PUT unless the kind does without, and refuses a stale one',
    async () => {
      const place = await subject.place()
      const made = await place.make()
      const unversioned = await place.put(withoutVersion(made))
      if (kind.unconditionalUpdate) expect(unversioned.code).toBe(200)
      else {
        expect(unversioned.body).toMatchObject({
          code: 422,
          reason: 'Invalid',
          message: `${subject.resource} "${made.metadata.name}" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`,
          details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.resourceVersion' }] },
        })
      }
      await touched(place, made)
      expect((await place.put(made)).body).toEqual({
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on ${subject.resource} "${made.metadata.name}": the object has been modified; please apply your changes to the latest version and try again`,
        details: { name: made.metadata.name, kind: kind.plural, ...(kind.group && { group: kind.group }) },
        code: 409,
      })
    },
  )

  must([38, 106], 'keeps its version and sends no event when a write changes nothing', async () => {
    const place = await subject.place()
    const made = await place.make()
    const watch = await place.watch(versionOf(made))
    const writes = [
      await place.put(made),
      await place.patch(made, {}),
      await place.patch(made, { metadata: { name: made.metadata.name } }),
      await place.patch(made, [], { type: jsonPatch }),
      await place.patch(made, [{ op: 'test', path: '/metadata/name', value: made.metadata.name }], {
        type: jsonPatch,
      }),
    ]
    if (kind.status !== undefined) writes.push(await place.put(made, { subresource: 'status' }))
    for (const { code, body } of writes) expect({ code, body }).toEqual({ code: 200, body: made })
    const next = await touched(place, made)
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: next })
    watch.close()
  })

  must([39, 45], 'is not marked for deletion by a write, and its mark stays as it is', async () => {
    const place = await subject.place()
    const made = await place.make({ finalizers: ['conventions.test/f'] })
    const mark = { deletionTimestamp: '2020-01-01T00:00:00Z' }
    const marked = { ...made, metadata: { ...made.metadata, ...mark } }
    for (const { body } of [await place.put(marked), await place.patch(made, { metadata: mark })]) {
      expect(body).toMatchObject({ code: 422, reason: 'Invalid' })
      expect(body.message).toContain(
        'metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable',
      )
    }
    expect((await place.get(made)).body).toEqual(made)
    const going = (await place.delete(made)).body
    expect((await place.patch(going, { metadata: mark })).body).toEqual(going)
    const later = await place.patch(going, { metadata: { deletionGracePeriodSeconds: 9 } })
    expect(later.body).toMatchObject({ code: 422 })
    expect(later.body.message).toContain(
      'metadata.deletionGracePeriodSeconds: Invalid value: 9: field is immutable',
    )
  })

  must(39, 'has a new generation only for what is neither metadata nor status', async () => {
    const place = await subject.place()
    const made = await place.make()
    const { generation } = made.metadata
    let now = (await place.patch(made, { metadata: { labels: { a: 'b' }, annotations: { c: 'd' } } })).body
    expect(now.metadata.generation).toBe(generation)
    now = (await place.patch(made, { metadata: { finalizers: ['conventions.test/f'] } })).body
    expect(now.metadata.generation).toBe(generation)
    if (kind.status !== undefined) {
      now = (await place.put(await place.withStatus(now), { subresource: 'status' })).body
      expect(now.metadata.generation).toBe(generation)
    }
    const other = await place.change(now)
    if (other !== undefined) {
      const after = (await place.put(other)).body
      expect(content(after)).not.toEqual(content(made))
      expect(after.metadata.generation).toBe(kind.generation ? 2 : undefined)
    }
  })

  must([51, 106], 'checks dry runs like other writes, and does nothing of what they say', async () => {
    const place = await subject.place()
    const made = await place.make()
    const watch = await place.watch(versionOf(made))
    const dry = { query: '?dryRun=All' }
    const sample = place.sample()
    const created = await place.create(sample, dry.query)
    expect(created).toMatchObject({ code: 201, body: { metadata: { uid: expect.any(String) } } })
    expect((await place.get(sample)).code).toBe(404)
    const label = { metadata: { labels: { dry: 'run' } } }
    expect((await place.patch(made, label, dry)).body).toMatchObject(label)
    const changed = { ...made, metadata: { ...made.metadata, labels: { dry: 'run' } } }
    expect((await place.put(changed, dry)).body).toMatchObject(label)
    expect((await place.delete(made, dry)).code).toBe(200)
    const all = await suite.ask(`${place.collection}?${place.selector}&dryRun=All`, { method: 'DELETE' })
    expect(all.code).toBe(kind.deletesCollection ? 200 : 405)
    const refusals = [
      await place.create(place.sample({ labels: { 'a b': 'c' } }), dry.query),
      await place.create(made, dry.query),
      await place.put({ ...made, metadata: { ...made.metadata, resourceVersion: '1' } }, dry),
      await place.put(made, { query: '?dryRun=Some' }),
    ]
    expect(refusals.map(({ code }) => code)).toEqual([422, expect.any(Number), 409, 422])
    expect((await place.get(made)).body).toEqual(made)
    const next = await touched(place, made)
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: next })
    watch.close()
  })

  must(52, 'is written by exactly one of several updates of one version', async () => {
    const place = await subject.place()
    const made = await place.make()
    const writers = ['a', 'b', 'c', 'd', 'e']
    const answers = await Promise.all(
      writers.map(writer => {
        const labels = { ...made.metadata.labels, writer }
        return place.put({ ...made, metadata: { ...made.metadata, labels } })
      }),
    )
    const won = answers.filter(({ code }) => code === 200)
    expect(won).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 409)).toHaveLength(writers.length - 1)
    expect((await place.get(made)).body).toEqual(won[0]?.body)
  })
})

suite.every(hasStatus, subject => {
  const { kind } = subject

  must(40, 'leaves its status at the main endpoint, and all else at /status', async () => {
    const place = await subject.place()
    const made = await place.make()
    const told = await place.withStatus(made)
    const viaMain = await place.put(told)
    expect(viaMain.body.status).toEqual(made.status)
    expect((await place.patch(made, { status: told.status })).body.status).toEqual(made.status)
    const now = (await place.get(made)).body
    const other = (await place.change(now)) ?? now
    const ofMetadata = { labels: { ...now.metadata.labels, via: 'status' }, ownerReferences: [] }
    const sent = { ...other, metadata: { ...other.metadata, ...ofMetadata }, status: told.status }
    const { code, body } = await place.put(sent, { subresource: 'status' })
    expect(code).toBe(200)
    expect(body.status).not.toEqual(made.status)
    expect(content(body)).toEqual(content(made))
    expect(body.metadata.labels).toEqual(
      kind.status?.withMetadata === true ? ofMetadata.labels : now.metadata.labels,
    )
    expect((await place.get(made, 'status')).body).toEqual(body)
  })

  must(41, 'refuses a stale version at /status before it looks at the status', async () => {
    const place = await subject.place()
    const made = await place.make()
    const told = await place.withStatus(made)
    await touched(place, made)
    expect(await place.put(told, { subresource: 'status' })).toMatchObject({
      code: 409,
      body: { reason: 'Conflict' },
    })
    const unversioned = await place.put(withoutVersion(told), { subresource: 'status' })
    expect(unversioned.code).toBe(kind.unconditionalUpdate ? 200 : 422)
    const patch = { metadata: { resourceVersion: versionOf(made) }, status: told.status }
    expect((await place.patch(made, patch, { subresource: 'status' })).code).toBe(409)
  })
})
