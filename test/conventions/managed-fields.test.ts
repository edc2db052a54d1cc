import { expect } from 'vitest'
import { applyDefaults } from '../../src/api/derive/validate.ts'
import type { KubeObject, ManagedFieldsEntry } from '../../src/api/meta.ts'
import { objectMetaSchema } from '../../src/api/meta-schema.ts'
import type { JsonSchema } from '../../src/api/schema.ts'
import type { Answer } from './frame/ask.ts'
import { must } from './frame/must.ts'
import { appliedFields, type Fields } from './frame/owned-fields.ts'
import { applyPatch, jsonPatch, type Place, type Subject } from './frame/subject.ts'
import { aSuite, hasStatus, isStored } from './frame/suite.ts'

const suite = aSuite()

const annotation = 'kubectl.kubernetes.io/last-applied-configuration'

const entriesOf = ({ body }: Answer): readonly ManagedFieldsEntry[] => body.metadata.managedFields ?? []
const managersOf = (answer: Answer) =>
  entriesOf(answer).map(({ manager, operation, subresource }) =>
    [manager, operation, ...(subresource === undefined ? [] : [subresource])].join(' '),
  )

function config({ apiVersion, kind, metadata }: KubeObject, more: object = {}): KubeObject {
  return { apiVersion, kind, metadata: { name: metadata.name, ...more } }
}

/** What a client owns that applies an object to the main endpoint. */
function ownedBy({ kind }: Subject, { metadata, ...content }: KubeObject): Fields {
  const schema: JsonSchema = {
    ...kind.schema,
    properties: { ...kind.schema.properties, metadata: objectMetaSchema.json },
  }
  const { name: _name, namespace: _namespace, ...said } = metadata
  const { apiVersion: _version, kind: _kind, status, ...rest } = content
  const owned = { metadata: said, ...rest, ...(kind.status === undefined ? { status } : {}) }
  return appliedFields(schema, JSON.parse(JSON.stringify(owned)))
}

/** Which scalars, items and wholes are owned, without the objects around them. */
function leaves(fields: Fields, path = ''): readonly string[] {
  return Object.entries(fields).flatMap(([element, below]) => {
    if (element === '.') return []
    const inner = leaves(below, `${path}/${element}`)
    return inner.length === 0 ? [`${path}/${element}`] : inner
  })
}

const patchedBy = (place: Place, object: KubeObject, manager: string, annotations: object) =>
  place.patch(object, { metadata: { annotations } }, { query: `?fieldManager=${manager}` })

suite.every(isStored, subject => {
  const { kind } = subject

  must(63, 'is owned by who applies it, field by field as its schema says', async () => {
    const place = await subject.place()
    const sample = place.sample({ annotations: { a: '1' }, finalizers: ['conventions.test/f'] })
    const answer = await place.apply(sample, 'ann')
    expect(entriesOf(answer)).toEqual([
      {
        manager: 'ann',
        operation: 'Apply',
        apiVersion: sample.apiVersion,
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        fieldsType: 'FieldsV1',
        fieldsV1: ownedBy(subject, sample),
      },
    ])
  })

  must(63, 'is owned by who creates, updates or patches it, as far as they change it', async () => {
    const place = await subject.place()
    const sample = place.sample()
    const made = await place.create(sample, '?fieldManager=creator')
    expect(managersOf(made)).toEqual(['creator Update'])
    const [created] = entriesOf(made)
    expect(created).toMatchObject({ apiVersion: sample.apiVersion, fieldsType: 'FieldsV1' })
    // What is a default belongs to who creates the object.
    const owned = leaves(ownedBy(subject, applyDefaults(kind, sample)))
    expect(leaves(created?.fieldsV1 as Fields).toSorted()).toEqual(owned.toSorted())
    const labels = { ...made.body.metadata.labels, put: 'yes' }
    const put = await place.put(
      { ...made.body, metadata: { ...made.body.metadata, labels } },
      { query: '?fieldManager=putter' },
    )
    const patched = await patchedBy(place, made.body, 'patcher', { patched: 'yes' })
    expect(new Set(managersOf(patched))).toEqual(
      new Set(['creator Update', 'putter Update', 'patcher Update']),
    )
    const fields = Object.fromEntries(entriesOf(patched).map(entry => [entry.manager, entry.fieldsV1]))
    expect(fields.putter).toEqual({ 'f:metadata': { 'f:labels': { 'f:put': {} } } })
    expect(leaves(fields.patcher as Fields)).toEqual(['/f:metadata/f:annotations/f:patched'])
    expect(put.code).toBe(200)
  })

  must(64, 'is owned under the name of fieldManager, or of the program that writes', async () => {
    const place = await subject.place()
    const made = await place.make()
    expect(managersOf(await place.get(made))).toEqual(['tester Update'])
    const by = async (agent: string) => {
      const field = `a${agent.length}`
      const patch = { metadata: { annotations: { [field]: 'x' } } }
      const headers = { 'content-type': 'application/merge-patch+json' }
      const path = place.item(made)
      const answer = await suite.ask(path, { method: 'PATCH', body: patch, type: '', agent, headers })
      return entriesOf(answer).find(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(`"f:${field}"`))
        ?.manager
    }
    expect(await by('kubectl/v1.33.0 (linux/amd64)')).toBe('kubectl')
    expect(await by('x'.repeat(200))).toBe('x'.repeat(128))
    const tooLong = await patchedBy(place, made, 'm'.repeat(129), { a: 'b' })
    expect(tooLong.body).toMatchObject({ code: 422, details: { causes: [{ field: 'fieldManager' }] } })
    expect((await patchedBy(place, made, 'm'.repeat(128), { a: 'b' })).code).toBe(200)
  })

  must([70, 76], 'belongs to before-first-apply when nobody is known to have made it', async () => {
    const place = await subject.place()
    const made = await place.make()
    for (const managedFields of [[{}], []]) {
      const now = (await place.get(made)).body
      const reset = await place.put({ ...now, metadata: { ...now.metadata, managedFields } })
      expect(reset.body.metadata).not.toHaveProperty('managedFields')
      await patchedBy(place, made, 'someone', { [`a${managedFields.length}`]: 'b' })
      expect(entriesOf(await place.get(made))).toEqual([])
      const applied = await place.apply(config(made, { annotations: { mine: 'yes' } }), 'ann')
      expect(managersOf(applied)).toEqual(['ann Apply', 'before-first-apply Update'])
      const [, before] = entriesOf(applied)
      expect(JSON.stringify(before?.fieldsV1)).toContain('f:conventions.test/place')
    }
    const patched = await place.patch(made, { metadata: { managedFields: [{}] } })
    expect(patched.body.metadata).not.toHaveProperty('managedFields')
  })

  must(
    71,
    'is taken over from client-side apply without conflicts, and its annotation stays true',
    async () => {
      const place = await subject.place()
      const sample = place.sample()
      const said = config(sample, { annotations: { colour: 'red' } })
      const made = await place.create({
        ...sample,
        metadata: { ...sample.metadata, annotations: { colour: 'red', [annotation]: JSON.stringify(said) } },
      })
      expect(made.code).toBe(201)
      const now = config(sample, { annotations: { colour: 'blue' } })
      const stranger = await place.apply(now, 'ann')
      expect(stranger.code).toBe(409)
      const answer = await place.apply(now, 'kubectl')
      expect(answer).toMatchObject({ code: 200, body: { metadata: { annotations: { colour: 'blue' } } } })
      expect(JSON.parse(answer.body.metadata.annotations[annotation])).toMatchObject(now)
      await patchedBy(place, made.body, 'other', { colour: 'green' })
      expect((await place.apply(config(sample, { annotations: { colour: 'pink' } }), 'kubectl')).code).toBe(
        409,
      )
    },
  )

  must(72, 'has its managers moved by a JSON patch, unless another write came first', async () => {
    const place = await subject.place()
    const made = await place.make()
    const value = made.metadata.managedFields?.map(entry => ({
      ...entry,
      manager: 'kubectl',
      operation: 'Apply',
    }))
    const migrate = () =>
      place.patch(
        made,
        [
          { op: 'replace', path: '/metadata/managedFields', value },
          { op: 'replace', path: '/metadata/resourceVersion', value: made.metadata.resourceVersion },
        ],
        { type: jsonPatch },
      )
    const moved = await migrate()
    expect(moved).toMatchObject({ code: 200, body: { metadata: { managedFields: value } } })
    expect((await migrate()).body).toMatchObject({ code: 409, reason: 'Conflict' })
  })

  must(74, 'tells ten updaters apart, and puts older ones together', async () => {
    const place = await subject.place()
    const made = await place.make()
    for (let n = 0; n < 12; n += 1) await patchedBy(place, made, `m${n}`, { [`a${n}`]: 'x' })
    const updaters = entriesOf(await place.get(made)).filter(({ operation }) => operation === 'Update')
    expect(updaters).toHaveLength(10)
    const ancient = updaters.find(({ manager }) => manager === 'ancient-changes')
    expect(leaves(ancient?.fieldsV1 as Fields).length).toBeGreaterThanOrEqual(3)
    for (let n = 0; n < 12; n += 1) {
      expect(updaters.filter(({ fieldsV1 }) => JSON.stringify(fieldsV1).includes(`"f:a${n}"`))).toHaveLength(
        1,
      )
    }
  })

  must(76, 'keeps its managers when a client sends none, or some without a meaning', async () => {
    const place = await subject.place()
    const made = await place.make()
    for (const managedFields of [undefined, null, [{ manager: 'x', operation: 'Update' }]]) {
      const sent = { ...made, metadata: { ...made.metadata, managedFields } }
      const { code, body } = await suite.ask(place.item(made), { method: 'PUT', body: sent })
      expect({ code, body }).toEqual({ code: 200, body: made })
    }
  })
})

suite.every(hasStatus, subject => {
  must(73, 'has its status owned through /status alone, and there nothing else', async () => {
    const place = await subject.place()
    const made = await place.make()
    const { status } = await place.withStatus(made)
    const label = { labels: { via: 'status' } }
    const viaMain = await place.apply({ ...config(made, label), status }, 'ann')
    expect(viaMain.code).toBe(200)
    expect(entriesOf(viaMain).find(({ manager }) => manager === 'ann')?.fieldsV1).toEqual({
      'f:metadata': { 'f:labels': { 'f:via': {} } },
    })
    expect(viaMain.body.status).toEqual(made.status)
    const viaStatus = await place.patch(
      made,
      { ...config(made), status },
      { type: applyPatch, query: '?fieldManager=bob&force=true', subresource: 'status' },
    )
    expect(viaStatus.code).toBe(200)
    const entry = entriesOf(viaStatus).find(({ manager }) => manager === 'bob')
    expect(entry).toMatchObject({ operation: 'Apply', subresource: 'status' })
    expect(Object.keys(entry?.fieldsV1 as Fields)).toEqual(['f:status'])
    const now = await place.withStatus(viaStatus.body)
    const put = await place.put(now, { subresource: 'status', query: '?fieldManager=eve' })
    const written = entriesOf(put).find(({ manager }) => manager === 'eve')
    expect(written).toMatchObject({ operation: 'Update', subresource: 'status' })
    expect(Object.keys(written?.fieldsV1 as Fields)).toEqual(['f:status'])
  })
})
