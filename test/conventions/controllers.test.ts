import { expect } from 'vitest'
import { apiVersionOf } from '../../src/api/kind.ts'
import { must } from './frame/must.ts'
import type { Json } from './frame/published.ts'
import { Scene } from './frame/scene.ts'
import { mergePatch, type Subject, strategicPatch } from './frame/subject.ts'
import { aSuite, deletesCollection, isReadable, isServed, isStored } from './frame/suite.ts'

const suite = aSuite()

const metadataOf = (as: string) =>
  `application/vnd.kubernetes.protobuf;as=${as};g=meta.k8s.io;v=v1,application/json;as=${as};g=meta.k8s.io;v=v1,application/json`
const metadataOnly = { accept: metadataOf('PartialObjectMetadata') }

suite.every(deletesCollection, subject => {
  must(139, 'has nothing left after a deletecollection, as the namespace controller sends it', async () => {
    const place = await subject.place()
    for (let n = 0; n < 3; n += 1) await place.make()
    const within = subject.isNamespaced ? place.collection : `${place.collection}?${place.selector}`
    const body = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy: 'Background' }
    const deleted = await suite.ask(within, {
      method: 'DELETE',
      body,
      accept: 'application/vnd.kubernetes.protobuf,application/json',
    })
    expect(deleted.code).toBe(200)
    const left = await suite.ask(within, { accept: metadataOf('PartialObjectMetadataList') })
    expect(left).toMatchObject({ code: 200, body: { kind: 'PartialObjectMetadataList' } })
    const held = subject.kind.finalize === undefined ? 0 : 3
    expect(left.body.items).toHaveLength(held)
    for (const { metadata } of left.body.items) expect(metadata).toHaveProperty('deletionTimestamp')
  })
})

suite.every(isStored, subject => {
  must(141, 'takes the patches of the garbage collector', async () => {
    const place = await subject.place()
    const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'owner-uid' }
    const held = { finalizers: ['conventions.test/hold'], ownerReferences: [owner] }
    const made = await place.make(held)
    const { resourceVersion, uid } = made.metadata
    const patch = (metadata: object, type = mergePatch) =>
      suite.ask(place.item(made), { method: 'PATCH', body: { metadata }, type, ...metadataOnly })
    expect((await patch({ resourceVersion: '1', ownerReferences: null })).code).toBe(409)
    expect((await patch({ uid: 'another', ownerReferences: null })).code).toBe(422)
    const orphan = { ownerReferences: [{ $patch: 'delete', uid: owner.uid }], uid }
    const strategic = await patch(orphan, strategicPatch)
    expect(strategic).toMatchObject(
      subject.kind.strategicMergePatch
        ? { code: 200 }
        : { code: 415, body: { reason: 'UnsupportedMediaType' } },
    )
    const version = subject.kind.strategicMergePatch
      ? strategic.body.metadata.resourceVersion
      : resourceVersion
    const orphaned = await patch({ resourceVersion: version, ownerReferences: null })
    expect(orphaned).toMatchObject({ code: 200, body: { kind: 'PartialObjectMetadata' } })
    expect(orphaned.body.metadata).not.toHaveProperty('ownerReferences')
    const going = await place.delete(made, {
      body: {
        kind: 'DeleteOptions',
        apiVersion: 'v1',
        preconditions: { uid },
        propagationPolicy: 'Foreground',
      },
    })
    expect(going.body.metadata.finalizers).toEqual(
      expect.arrayContaining([
        'conventions.test/hold',
        ...(subject.kind.isCollected ? ['foregroundDeletion'] : []),
      ]),
    )
    const last = going.body.metadata.resourceVersion
    expect((await patch({ resourceVersion: last, finalizers: null })).code).toBe(200)
    if (subject.kind.finalize === undefined) expect((await place.get(made)).code).toBe(404)
  })
})

suite.every(isReadable, subject => {
  must(142, 'tells owners that are there by their uid from those that are not', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make()
    for (const ask of [{}, metadataOnly]) {
      const there = await suite.ask(scene.item(made), ask)
      expect(there).toMatchObject({ code: 200, body: { metadata: { uid: made.metadata.uid } } })
      expect(await suite.ask(`${scene.collection}/never-was`, ask)).toMatchObject({
        code: 404,
        body: { kind: 'Status', reason: 'NotFound', message: `${subject.resource} "never-was" not found` },
      })
    }
  })

  must(144, 'writes into objects the kind and apiVersion of discovery, at every version', async () => {
    const scene = await Scene.of(subject)
    const made = await scene.make()
    const { kind } = subject
    for (const { name: version } of kind.versions) {
      const { resources } = (await suite.ask(subject.root(version))).body
      const entry = resources.find(({ name }: Json) => name === kind.plural)
      const names = { apiVersion: apiVersionOf(kind, version), kind: entry.kind }
      const collection = subject.collection(scene.namespace, version)
      expect((await suite.ask(`${collection}/${made.metadata.name}`)).body).toMatchObject(names)
      const list = (await suite.ask(`${collection}?${scene.select()}`)).body
      expect(list).toMatchObject({ apiVersion: names.apiVersion, kind: `${entry.kind}List` })
      expect(list.items.length).toBeGreaterThan(0)
      for (const item of list.items) expect(item).toMatchObject(names)
      const watch = await scene.watch('resourceVersion=0', { collection })
      expect(await watch.next()).toMatchObject({ object: names })
      watch.close()
    }
  })
})

/** A request for each verb that discovery may list. */
const requests: Readonly<Record<string, readonly [method: string, suffix: string]>> = {
  create: ['POST', ''],
  delete: ['DELETE', '/never-was'],
  deletecollection: ['DELETE', '?labelSelector=no.such%2Flabel'],
  get: ['GET', '/never-was'],
  list: ['GET', ''],
  patch: ['PATCH', '/never-was'],
  update: ['PUT', '/never-was'],
  watch: ['GET', '?watch=1&timeoutSeconds=1&resourceVersion=999999999'],
}

/** Whether a request for a verb is refused because there is no such verb; every refusal has its reason. */
async function isRefused(subject: Subject, verb: string): Promise<boolean> {
  const [method, suffix] = requests[verb] ?? ['GET', '']
  const path = subject.collection('default') + suffix
  if (verb === 'watch' && isReadable(subject.kind)) {
    const stream = await subject.open(path)
    stream.cancel()
    return stream.status !== 200
  }
  const { code, body } = await suite.ask(path, { method, ...(method === 'GET' ? {} : { body: {} }) })
  // As in kube-apiserver, which has no path for the objects of a kind that is only created.
  if (suffix.startsWith('/') && subject.kind.storage === 'review') {
    expect(body).toMatchObject({ kind: 'Status', reason: 'NotFound', code: 404 })
    return true
  }
  if (code !== 405) expect(String(body.message)).not.toContain('could not find the requested resource')
  else expect(body).toMatchObject({ kind: 'Status', reason: 'MethodNotAllowed', code: 405 })
  return code === 405
}

suite.every(isServed, subject => {
  must(
    [140, 143],
    'does what its discovery says that it does, and refuses all else with a reason',
    async () => {
      const { resources } = (await suite.ask(subject.root())).body
      const { verbs } = resources.find(({ name }: Json) => name === subject.kind.plural)
      const works: string[] = []
      for (const verb of Object.keys(requests)) if (!(await isRefused(subject, verb))) works.push(verb)
      expect(new Set(works)).toEqual(new Set(verbs))
      const unknown = await suite.ask(`${subject.root()}/nothings`)
      expect(unknown).toMatchObject({ code: 404, body: { kind: 'Status', reason: 'NotFound' } })
    },
  )
})
