import { expect } from 'vitest'
import { stringify } from 'yaml'
import type { KubeObject, ManagedFieldsEntry } from '../../src/api/meta.ts'
import { systemClock } from '../../src/kernel/clock.ts'
import type { Answer } from './frame/ask.ts'
import { must } from './frame/must.ts'
import { applyPatch, content, type Place } from './frame/subject.ts'
import { aSuite, isStored } from './frame/suite.ts'

let nowMs = systemClock.now()
const suite = aSuite({ clock: { ...systemClock, now: () => nowMs } })

const entriesOf = ({ body }: Answer): readonly ManagedFieldsEntry[] => body.metadata.managedFields ?? []
const entryOf = (answer: Answer, manager: string) =>
  entriesOf(answer).find(entry => entry.manager === manager)

/** A configuration that says which object it is for, and this of its metadata. */
function config({ apiVersion, kind, metadata }: KubeObject, more: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name: metadata.name, ...more } }
}

/** What is sent of a sample: all that a client may say. */
const applied = (place: Place): KubeObject => place.sample()

suite.every(isStored, subject => {
  const { kind } = subject

  must(60, 'is created and updated by apply, from YAML and from JSON', async () => {
    const place = await subject.place()
    for (const write of [
      (object: KubeObject) => stringify(object, { version: '1.1' }),
      (object: KubeObject) => JSON.stringify(object),
    ]) {
      const sample = applied(place)
      const send = (object: KubeObject) =>
        place.patch(object, write(object), { type: applyPatch, query: '?fieldManager=ann' })
      const created = await send(sample)
      expect(created).toMatchObject({ code: 201, body: { metadata: { uid: expect.any(String) } } })
      expect((await place.get(sample)).body).toEqual(created.body)
      const labels = { ...sample.metadata.labels, more: 'yes' }
      const updated = await send({ ...sample, metadata: { ...sample.metadata, labels } })
      expect(updated).toMatchObject({ code: 200, body: { metadata: { labels } } })
      expect(content(updated.body)).toEqual(content(created.body))
    }
  })

  must(61, 'is not applied without a manager, and force is for apply alone', async () => {
    const place = await subject.place()
    const sample = applied(place)
    const nobody = await place.patch(sample, sample, { type: applyPatch })
    expect(nobody.body).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message:
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      details: { causes: [{ field: 'fieldManager' }] },
    })
    const made = await place.make()
    const forced = await place.patch(made, {}, { query: '?force=true' })
    expect(forced.body).toMatchObject({ code: 422, details: { causes: [{ field: 'force' }] } })
    expect((await place.get(sample)).code).toBe(404)
  })

  must(62, 'is not applied from managedFields, another kind, another version or another name', async () => {
    const place = await subject.place()
    const sample = applied(place)
    const wrong: readonly KubeObject[] = [
      { ...sample, metadata: { ...sample.metadata, managedFields: [] } },
      { ...sample, kind: 'Other' },
      { ...sample, apiVersion: 'other.example.com/v1' },
      { ...sample, metadata: { ...sample.metadata, name: 'other' } },
    ]
    for (const body of wrong) {
      const answer = await place.patch(sample, body, { type: applyPatch, query: '?fieldManager=ann' })
      expect(answer.body).toMatchObject({ kind: 'Status', code: 400, reason: 'BadRequest' })
    }
    expect((await place.get(sample)).code).toBe(404)
  })

  must(65, 'conflicts where another manager holds what it would change, and force takes it', async () => {
    const place = await subject.place()
    const made = await place.make({ annotations: { mine: 'tester' } })
    const mine = config(made, { annotations: { mine: 'ann' } })
    const refused = await place.apply(mine, 'ann')
    const [{ apiVersion } = {}] = made.metadata.managedFields ?? []
    expect(refused.body).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      reason: 'Conflict',
      code: 409,
      message: `Apply failed with 1 conflict: conflict with "tester" using ${apiVersion}: .metadata.annotations.mine`,
      details: {
        causes: [
          {
            reason: 'FieldManagerConflict',
            message: `conflict with "tester" using ${apiVersion}`,
            field: '.metadata.annotations.mine',
          },
        ],
      },
    })
    expect((await place.get(made)).body).toEqual(made)
    const forced = await place.apply(mine, 'ann', '&force=true')
    expect(forced).toMatchObject({ code: 200, body: { metadata: { annotations: { mine: 'ann' } } } })
    expect(JSON.stringify(entryOf(forced, 'ann')?.fieldsV1)).toContain('f:mine')
    expect(JSON.stringify(entryOf(forced, 'tester')?.fieldsV1 ?? {})).not.toContain('f:mine')
  })

  must(65, 'conflicts about its own content as well', async () => {
    const place = await subject.place()
    const made = await place.make()
    const other = await place.change(made)
    if (other === undefined) return
    const { metadata: _metadata, status: _status, ...changed } = other
    const refused = await place.apply({ ...config(made), ...changed }, 'ann')
    expect(refused.body).toMatchObject({ code: 409, reason: 'Conflict' })
    for (const { reason, field, message } of refused.body.details.causes) {
      expect({ reason, message }).toEqual({
        reason: 'FieldManagerConflict',
        message: expect.stringMatching(/^conflict with "tester"/),
      })
      expect(field).toMatch(/^\./)
    }
    const forced = await place.apply({ ...config(made), ...changed }, 'ann', '&force=true')
    expect(forced.code).toBe(200)
    expect(content(forced.body)).not.toEqual(content(made))
  })

  must([66, 67], 'shares what two apply alike, and drops what the last of them drops', async () => {
    const place = await subject.place()
    const made = await place.make()
    const both = config(made, { annotations: { shared: 'yes' } })
    await place.apply(both, 'ann')
    const shared = await place.apply(both, 'bob')
    expect(shared.code).toBe(200)
    for (const manager of ['ann', 'bob']) {
      expect(entryOf(shared, manager)).toMatchObject({
        operation: 'Apply',
        fieldsV1: { 'f:metadata': { 'f:annotations': { 'f:shared': {} } } },
      })
    }
    const first = await place.apply(config(made), 'ann')
    expect(first.body.metadata.annotations).toMatchObject({ shared: 'yes' })
    expect(entryOf(first, 'ann')).toBeUndefined()
    const last = await place.apply(config(made), 'bob')
    expect(last.body.metadata.annotations ?? {}).not.toHaveProperty('shared')
    expect(content(last.body)).toEqual(content(made))
  })

  must(68, 'has its labels merged by key, its finalizers by value and its owners by uid', async () => {
    const place = await subject.place()
    const made = await place.make()
    const owner = (uid: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', name: `owner-${uid}`, uid })
    const of = (name: string) => ({
      labels: { [name]: 'yes' },
      finalizers: [`conventions.test/${name}`, 'conventions.test/both'],
      ownerReferences: [owner(name)],
    })
    expect((await place.apply(config(made, of('ann')), 'ann')).code).toBe(200)
    const merged = await place.apply(config(made, of('bob')), 'bob')
    const { labels, finalizers, ownerReferences } = merged.body.metadata
    expect(labels).toMatchObject({ ...made.metadata.labels, ann: 'yes', bob: 'yes' })
    expect(finalizers).toHaveLength(new Set(finalizers).size)
    expect(finalizers).toEqual(
      expect.arrayContaining(['conventions.test/ann', 'conventions.test/bob', 'conventions.test/both']),
    )
    expect(ownerReferences).toEqual(expect.arrayContaining([owner('ann'), owner('bob')]))
    const left = await place.apply(config(made), 'ann')
    expect(left.body.metadata.finalizers).not.toContain('conventions.test/ann')
    expect(left.body.metadata.finalizers).toContain('conventions.test/both')
    expect(left.body.metadata.ownerReferences).toEqual([owner('bob')])
  })

  must(68, 'is not managed by who applies nothing but its type', async () => {
    const place = await subject.place()
    const made = await place.make()
    const { apiVersion } = made
    const type = { apiVersion, kind: made.kind }
    const answer = await place.patch(made, type, { type: applyPatch, query: '?fieldManager=nobody' })
    expect(answer).toMatchObject({ code: 200 })
    const managers = answer.body.metadata.managedFields?.map((entry: { manager?: string }) => entry.manager)
    expect(managers).not.toContain('nobody')
  })

  must([68, 70], 'has each of its owners as a whole from whoever applied it', async () => {
    const place = await subject.place()
    const made = await place.make()
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u' }
    const of = (more: object) => config(made, { ownerReferences: [{ ...owner, ...more }] })
    const first = await place.apply(of({ controller: true }), 'ann')
    const owned = (body: KubeObject, manager: string) =>
      body.metadata.managedFields?.find((entry: { manager?: string }) => entry.manager === manager)?.fieldsV1
    const item = { 'f:metadata': { 'f:ownerReferences': { 'k:{"uid":"u"}': {} } } }
    expect(owned(first.body, 'ann')).toEqual(item)
    const refused = await place.apply(of({ blockOwnerDeletion: true }), 'bob')
    expect(refused.body).toMatchObject({
      code: 409,
      details: { causes: [{ field: '.metadata.ownerReferences[uid="u"]', message: 'conflict with "ann"' }] },
    })
    const forced = await place.apply(of({ blockOwnerDeletion: true }), 'bob', '&force=true')
    expect(forced.body.metadata.ownerReferences).toEqual([{ ...owner, blockOwnerDeletion: true }])
    expect(owned(forced.body, 'bob')).toEqual(item)
    expect(owned(forced.body, 'ann')).toBeUndefined()
  })

  must(69, 'stays as it is when the same is applied again, later too', async () => {
    const place = await subject.place()
    const sample = applied(place)
    const first = await place.apply(sample, 'ann')
    nowMs += 61_000
    const second = await place.apply(sample, 'ann')
    expect(second).toMatchObject({ code: 200 })
    expect(second.body).toEqual(first.body)
    const made = await place.make()
    const { managedFields: _entries, resourceVersion: _version, uid: _uid, ...metadata } = made.metadata
    const onto = await place.apply({ ...made, metadata }, 'bob')
    nowMs += 61_000
    expect((await place.apply({ ...made, metadata }, 'bob')).body).toEqual(onto.body)
  })

  must(75, 'is not applied from fields that it does not know', async () => {
    const place = await subject.place()
    const sample = applied(place)
    for (const body of [
      { ...sample, nope: 1 },
      { ...sample, metadata: { ...sample.metadata, nope: 1 } },
    ]) {
      const answer = await place.apply(body, 'ann')
      expect(answer.body).toMatchObject({
        code: 400,
        reason: 'BadRequest',
        message: expect.stringMatching(
          /^failed to create typed patch object \(.*\): \.(metadata\.)?nope: field not declared in schema$/,
        ),
      })
    }
    expect(kind.storage).toBe('stored')
  })
})
