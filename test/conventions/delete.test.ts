import { expect } from 'vitest'
import type { AnyKind } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { must } from './frame/must.ts'
import type { Place } from './frame/subject.ts'
import { aSuite, deletesCollection, isStored } from './frame/suite.ts'

const suite = aSuite()

const finalizer = 'conventions.test/f'
const finalizersOf = ({ metadata }: KubeObject): readonly string[] => metadata.finalizers ?? []
const versionOf = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? ''

suite.every(isStored, subject => {
  const { kind } = subject
  /** Something of the kind itself keeps the object, as the content of a namespace does. */
  const isHeld = isHeldOf(kind)

  /** What a deletion leaves to the garbage collector, where it knows the kind. */
  const ofCollector = (name: string): readonly string[] => (kind.isCollected ? [name] : [])

  must(
    42,
    'is answered with Success and its uid, or with the object, always while something holds it',
    async () => {
      const place = await subject.place()
      const made = await place.make()
      const { code, body } = await place.delete(made)
      const { name, uid } = made.metadata
      expect(code).toBe(200)
      if (isHeld(made))
        expect(body.metadata).toMatchObject({ name, uid, deletionTimestamp: expect.any(String) })
      else if (kind.answersDeleted) {
        expect({ ...body, metadata: { ...body.metadata, resourceVersion: versionOf(made) } }).toEqual(made)
        expect(Number(versionOf(body))).toBeGreaterThan(Number(versionOf(made)))
        expect((await place.get(made)).code).toBe(404)
      } else {
        expect(body).toEqual({
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Success',
          details: { name, kind: kind.plural, uid, ...(kind.group && { group: kind.group }) },
        })
        expect((await place.get(made)).code).toBe(404)
      }
    },
  )

  must(43, 'stays while it has finalizers, marked once, and watchers see it', async () => {
    const place = await subject.place()
    const made = await place.make({ finalizers: [finalizer] })
    const watch = await place.watch(versionOf(made))
    const going = await place.delete(made)
    expect(going.code).toBe(200)
    expect(going.body.metadata).toMatchObject({
      uid: made.metadata.uid,
      finalizers: made.metadata.finalizers,
      deletionTimestamp: expect.stringMatching(/Z$/),
      ...(kind.finalize === undefined ? { deletionGracePeriodSeconds: 0 } : {}),
    })
    if (kind.finalize !== undefined) {
      expect(going.body.metadata).not.toHaveProperty('deletionGracePeriodSeconds')
    }
    expect(going.body.metadata.generation).toBe(kind.generation ? 2 : undefined)
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: going.body })
    expect((await place.delete(made)).body).toEqual(going.body)
    expect((await place.get(made)).body).toEqual(going.body)
    watch.close()
  })

  must([44, 95], 'goes with the update that takes its last finalizer, in that last state', async () => {
    const place = await subject.place()
    const made = await place.make({ finalizers: [finalizer] })
    const going = (await place.delete(made)).body
    const watch = await place.watch(versionOf(going))
    const patch = { metadata: { finalizers: null, labels: { ...made.metadata.labels, last: 'word' } } }
    const last = await place.patch(made, patch)
    expect(last.code).toBe(200)
    expect(last.body.metadata).not.toHaveProperty('finalizers')
    const held = isHeld(made)
    expect(await watch.next()).toEqual({ type: held ? 'MODIFIED' : 'DELETED', object: last.body })
    expect(Number(versionOf(last.body))).toBeGreaterThan(Number(versionOf(going)))
    expect((await place.get(made)).code).toBe(held ? 200 : 404)
    watch.close()
  })

  must(45, 'takes no new finalizers while it is going away', async () => {
    const place = await subject.place()
    const made = await place.make({ finalizers: [finalizer, 'conventions.test/g'] })
    await place.delete(made)
    const refused = await place.patch(made, {
      metadata: { finalizers: [finalizer, 'conventions.test/g', 'conventions.test/new'] },
    })
    expect(refused.body).toMatchObject({
      code: 422,
      reason: 'Invalid',
      details: {
        causes: expect.arrayContaining([
          { reason: 'FieldValueForbidden', field: 'metadata.finalizers', message: expect.any(String) },
        ]),
      },
    })
    const fewer = await place.patch(made, { metadata: { finalizers: [finalizer] } })
    expect(fewer.body.metadata.finalizers).toEqual([finalizer])
  })

  must(46, 'is deleted only as the preconditions say', async () => {
    const place = await subject.place()
    const made = await place.make()
    const { uid, resourceVersion } = made.metadata
    const conflicts = [
      await place.delete(made, { body: { preconditions: { uid: 'other' } } }),
      await place.delete(made, { body: { preconditions: { uid, resourceVersion: '1' } } }),
      await place.delete(made, { query: '?uid=other' }),
    ]
    for (const { body } of conflicts) expect(body).toMatchObject({ code: 409, reason: 'Conflict' })
    expect(conflicts[0]?.body.message).toBe(
      `Operation cannot be fulfilled on ${subject.resource} "${made.metadata.name}": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    )
    expect((await place.get(made)).body).toEqual(made)
    expect((await place.delete(made, { body: { preconditions: { uid, resourceVersion } } })).code).toBe(200)
  })

  must(
    47,
    'takes its DeleteOptions from a body of any apiVersion, and then none from the query',
    async () => {
      const place = await subject.place()
      for (const type of [
        { kind: 'DeleteOptions', apiVersion: 'v1' },
        { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
        { kind: 'DeleteOptions', apiVersion: place.sample().apiVersion },
        { kind: 'DeleteOptions', apiVersion: 'apps/v1' },
        {},
      ]) {
        const body = { ...type, propagationPolicy: 'Orphan' }
        const orphaned = await place.delete(await place.make(), {
          body,
          query: '?propagationPolicy=Foreground',
        })
        expect(finalizersOf(orphaned.body)).toEqual(ofCollector('orphan'))
      }
      const made = await place.make()
      const inQuery = await place.delete(made, { query: '?propagationPolicy=Orphan' })
      expect(finalizersOf(inQuery.body)).toEqual(ofCollector('orphan'))
    },
  )

  must(48, 'is not deleted by options that make no sense', async () => {
    const place = await subject.place()
    const made = await place.make()
    const wrong: readonly (readonly [unknown, number])[] = [
      [{ kind: 'Other', apiVersion: 'v1' }, 400],
      [{ gracePeriodSeconds: 'soon' }, 400],
      [{ preconditions: 'none' }, 400],
      ['[]', 400],
      [{ propagationPolicy: 'Sideways' }, 422],
      [{ dryRun: ['Some'] }, 422],
      [{ propagationPolicy: 'Orphan', orphanDependents: true }, 422],
    ]
    for (const [body, code] of wrong) {
      expect((await place.delete(made, { body })).body).toMatchObject({ kind: 'Status', code })
    }
    expect((await place.delete(made, { query: '?propagationPolicy=Sideways' })).code).toBe(422)
    expect((await place.get(made)).body).toEqual(made)
  })

  must(49, 'waits for its dependents as the propagation policy says', async () => {
    const place = await subject.place()
    const finalizersAfter = async (propagationPolicy: string) => {
      const made = await place.make({ finalizers: [finalizer] })
      return finalizersOf((await place.delete(made, { body: { propagationPolicy } })).body)
    }
    expect(await finalizersAfter('Foreground')).toEqual([finalizer, ...ofCollector('foregroundDeletion')])
    expect(await finalizersAfter('Orphan')).toEqual([finalizer, ...ofCollector('orphan')])
    expect(await finalizersAfter('Background')).toEqual([finalizer])
  })
})

suite.every(deletesCollection, subject => {
  const { kind } = subject
  const isHeld = isHeldOf(kind)

  must([50, 139], 'is gone with its collection when that is answered, as far as it is selected', async () => {
    const place = await subject.place()
    const [chosen, named, kept] = [
      await place.make({ labels: { mark: 'yes' } }),
      await place.make(),
      await place.make({ labels: { mark: 'no' } }),
    ]
    const remaining = async () =>
      (await place.list()).filter(object => !isHeld(object)).map(object => object.metadata.name)
    const drop = async (query: string) =>
      suite.ask(`${place.collection}?${place.selector}${query}`, { method: 'DELETE' })
    const first = await drop(',mark%3Dyes')
    expect(first).toMatchObject({ code: 200, body: { kind: `${kind.kind}List`, items: [chosen] } })
    if (!isHeld(chosen)) expect(await remaining()).toEqual([named, kept].map(nameOf).toSorted(byName))
    await drop(`&fieldSelector=metadata.name%3D${named.metadata.name}`)
    if (!isHeld(chosen)) expect(await remaining()).toEqual([nameOf(kept)])
    await drop('')
    expect(await remaining()).toEqual([])
  })

  must(50, 'passes over what others delete at the same time', async () => {
    const place = await subject.place()
    await Promise.all(Array.from({ length: 8 }, () => place.make()))
    const drop = () => suite.ask(`${place.collection}?${place.selector}`, { method: 'DELETE' })
    const answers = await Promise.all([
      drop(),
      drop(),
      drop(),
      ...(await place.list()).map(one => place.delete(one)),
    ])
    for (const { code } of answers.slice(0, 3)) expect(code).toBe(200)
    expect((await place.list()).filter(object => !isHeld(object))).toEqual([])
  })
})

suite.every(
  kind => isStored(kind) && !kind.deletesCollection,
  subject => {
    must(50, 'does not take deletecollection where kube-apiserver has no such verb', async () => {
      const place = await subject.place()
      const made = await place.make()
      const refused = await suite.ask(`${place.collection}?${place.selector}`, { method: 'DELETE' })
      expect(refused.body).toMatchObject({ code: 405, reason: 'MethodNotAllowed' })
      expect((await place.get(made)).body).toEqual(made)
    })
  },
)

/** Whether an object of the kind waits for its own finalizers when it is deleted. */
function isHeldOf(kind: AnyKind): (object: KubeObject) => boolean {
  return object => kind.finalize?.pending(object) === true
}

const nameOf = ({ metadata }: KubeObject): string => metadata.name
const byName = (a: string, b: string): number => (a < b ? -1 : 1)

suite.every(
  kind => isStored(kind) && kind.scope === 'Namespaced',
  subject => {
    must(53, 'is not created in a namespace that is going away, nor in one that is not there', async () => {
      const place = await subject.place()
      const { namespace } = place
      await suite.ask(`/api/v1/namespaces/${namespace}`, { method: 'DELETE' })
      const sample = place.sample()
      expect((await place.create(sample)).body).toMatchObject({
        code: 403,
        reason: 'Forbidden',
        message: `${subject.resource} "${sample.metadata.name}" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
        details: {
          causes: [
            {
              reason: 'NamespaceTerminating',
              message: `namespace ${namespace} is being terminated`,
              field: 'metadata.namespace',
            },
          ],
        },
      })
      const nowhere = await suite.ask(subject.collection('nowhere'), {
        method: 'POST',
        body: inNamespace(place, 'nowhere'),
      })
      expect(nowhere.body).toMatchObject({ code: 404, message: 'namespaces "nowhere" not found' })
    })
  },
)

function inNamespace(place: Place, namespace: string): KubeObject {
  return JSON.parse(JSON.stringify(place.sample()).replaceAll(`"${place.namespace}"`, `"${namespace}"`))
}
