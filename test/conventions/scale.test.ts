import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { KubeObject, ManagedFieldsEntry } from '../../src/api/meta.ts'
import { writeKubeconfig } from '../../src/roles/kubeconfig-file.ts'
import { Kubectl, kubectlBinaries } from '../support/kubectl.ts'
import { must } from './frame/must.ts'
import { applyPatch, jsonPatch, strategicPatch } from './frame/subject.ts'
import { aSuite, isStored, type Which } from './frame/suite.ts'

const suite = aSuite()

const hasScale: Which = kind => isStored(kind) && kind.scale !== undefined
const scale = { subresource: 'scale' }

/** A number of an object, by the names of the fields that lead there. */
function numberAt(object: KubeObject, names: readonly string[]): unknown {
  // Whatever is not there is undefined all the way down.
  return names.reduce<unknown>(
    (value, name) => (value as Record<string, unknown> | undefined)?.[name],
    object,
  )
}

suite.every(hasScale, subject => {
  const { kind } = subject
  const wanted = (object: KubeObject) => numberAt(object, kind.scale?.wanted ?? [])

  must(77, 'is read as a Scale with the names and the version of its parent', async () => {
    const place = await subject.place()
    const made = await place.make()
    const status = { replicas: 3, selector: 'app=web' }
    const now = (await place.patch(made, { status }, { subresource: 'status' })).body
    const { name, namespace, uid, resourceVersion, creationTimestamp } = now.metadata
    expect(await place.get(made, 'scale')).toMatchObject({
      code: 200,
      body: {
        kind: 'Scale',
        apiVersion: 'autoscaling/v1',
        metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
        spec: { replicas: wanted(now) },
        status,
      },
    })
    expect((await place.get({ ...made, metadata: { name: 'not.there' } }, 'scale')).body).toMatchObject({
      code: 404,
      message: `${subject.resource} "not.there" not found`,
    })
  })

  must(77, 'is replaced through its Scale, by version or without one', async () => {
    const place = await subject.place()
    const made = await place.make()
    const read: KubeObject = (await place.get(made, 'scale')).body
    const watch = await place.watch(made.metadata.resourceVersion ?? '')
    const put = await place.put({ ...read, spec: { replicas: 7 }, status: { replicas: 99 } }, scale)
    expect(put).toMatchObject({
      code: 200,
      body: { kind: 'Scale', spec: { replicas: 7 }, status: read.status },
    })
    const now = (await place.get(made)).body
    expect(wanted(now)).toBe(7)
    expect(now.metadata.generation).toBe(2)
    expect(now.metadata.resourceVersion).toBe(put.body.metadata.resourceVersion)
    expect(await watch.next()).toEqual({ type: 'MODIFIED', object: now })
    watch.close()
    const stale = await place.put({ ...read, spec: { replicas: 8 } }, scale)
    expect(stale.body).toMatchObject({ code: 409, reason: 'Conflict', details: { kind: kind.plural } })
    const { resourceVersion: _version, ...metadata } = read.metadata
    const unversioned = await place.put({ ...read, metadata, spec: { replicas: 9 } }, scale)
    expect(unversioned.body.spec).toEqual({ replicas: 9 })
    const again = await place.put({ ...read, metadata, spec: { replicas: 9 } }, scale)
    expect(again.body).toEqual(unversioned.body)
    const dry = await place.put(
      { ...read, metadata, spec: { replicas: 1 } },
      { ...scale, query: '?dryRun=All' },
    )
    expect(dry.body.spec).toEqual({ replicas: 1 })
    expect(wanted((await place.get(made)).body)).toBe(9)
  })

  must(77, 'is patched through its Scale, and not applied', async () => {
    const place = await subject.place()
    const made = await place.make()
    const merged = await place.patch(
      made,
      { spec: { replicas: 4 } },
      { ...scale, query: '?fieldManager=scaler' },
    )
    expect(merged).toMatchObject({ code: 200, body: { kind: 'Scale', spec: { replicas: 4 } } })
    const operations = [
      { op: 'test', path: '/spec/replicas', value: 4 },
      { op: 'replace', path: '/spec/replicas', value: 0 },
    ]
    expect((await place.patch(made, operations, { ...scale, type: jsonPatch })).body.spec).toEqual({
      replicas: 0,
    })
    const stale = { metadata: { resourceVersion: made.metadata.resourceVersion }, spec: { replicas: 5 } }
    expect((await place.patch(made, stale, scale)).code).toBe(409)
    for (const type of [applyPatch, strategicPatch]) {
      const refused = await place.patch(made, {}, { ...scale, type, query: '?fieldManager=ann&force=true' })
      expect(refused.body).toMatchObject({
        code: 415,
        message: expect.stringMatching(
          /include: application\/json-patch\+json, application\/merge-patch\+json$/,
        ),
      })
    }
  })

  must([73, 77], 'has its number owned by who scales it', async () => {
    const place = await subject.place()
    const made = await place.make()
    await place.patch(made, { spec: { replicas: 4 } }, { ...scale, query: '?fieldManager=scaler' })
    const { body } = await place.get(made)
    const entries: readonly ManagedFieldsEntry[] = body.metadata.managedFields
    const fields = (kind.scale?.wanted ?? []).reduceRight<object>(
      (below, name) => ({ [`f:${name}`]: below }),
      {},
    )
    expect(entries.find(({ manager }) => manager === 'scaler')).toMatchObject({
      operation: 'Update',
      apiVersion: made.apiVersion,
      subresource: 'scale',
      fieldsV1: fields,
    })
    const last = kind.scale?.wanted.at(-1)
    const others = entries.filter(({ manager }) => manager !== 'scaler')
    expect(JSON.stringify(others)).not.toContain(`"f:${last}"`)
  })

  must(77, 'is not scaled below nothing, nor by what is no Scale of it', async () => {
    const place = await subject.place()
    const made = await place.make()
    const read: KubeObject = (await place.get(made, 'scale')).body
    const refusals = [
      await place.put({ ...read, spec: { replicas: -1 } }, scale),
      await place.patch(made, { spec: { replicas: 'many' } }, scale),
      await place.put({ ...read, kind: 'Other' }, scale),
      await place.put({ ...read, apiVersion: made.apiVersion }, scale),
      await suite.ask(place.item(made, 'scale'), {
        method: 'PUT',
        body: { ...read, metadata: { ...read.metadata, name: 'other' } },
      }),
      await suite.ask(place.item(made, 'scale'), { method: 'DELETE' }),
    ]
    expect(refusals.map(({ code }) => code)).toEqual([422, 422, 400, 400, 400, 405])
    expect(refusals[0]?.body.details.causes).toEqual([
      expect.objectContaining({ reason: 'FieldValueInvalid', field: 'spec.replicas' }),
    ])
    expect((await place.get(made)).body).toEqual(made)
  })

  must([3, 77], 'is advertised with the kind of its answer, in discovery and in OpenAPI', async () => {
    const { body } = await suite.ask(subject.root())
    expect(body.resources).toContainEqual({
      name: `${kind.plural}/scale`,
      singularName: '',
      namespaced: subject.isNamespaced,
      group: 'autoscaling',
      version: 'v1',
      kind: 'Scale',
      verbs: ['get', 'patch', 'update'],
    })
    const openapi = (await suite.ask(`/openapi/v3${subject.root()}`)).body
    const path = `${subject.collection('{namespace}')}/{name}/scale`
    for (const method of ['get', 'put', 'patch']) {
      const operation = openapi.paths[path][method]
      const gvk = { group: 'autoscaling', version: 'v1', kind: 'Scale' }
      expect(operation['x-kubernetes-group-version-kind']).toEqual(gvk)
      expect(JSON.stringify(operation.responses[200])).toContain('io.k8s.api.autoscaling.v1.Scale')
    }
    expect(openapi.components.schemas['io.k8s.api.autoscaling.v1.Scale'].properties).toHaveProperty('spec')
  })

  must(77, 'is scaled by kubectl', async context => {
    const [binary] = kubectlBinaries()
    if (binary === undefined) return context.skip('kubectl is not on this machine')
    const folder = await mkdtemp(join(tmpdir(), 'isthmus-scale-'))
    try {
      const kubeconfig = join(folder, 'kubeconfig')
      const { url, authority, admin } = suite.server
      await writeKubeconfig(kubeconfig, [
        { name: 'test', server: url, ca: authority.certificate, user: admin },
      ])
      const kubectl = new Kubectl({ binary, kubeconfig, context: 'test', cacheDir: join(folder, 'cache') })
      const place = await subject.place()
      const made = await place.make()
      const object = `${kind.plural}.${kind.group}/${made.metadata.name}`
      await kubectl.run(['scale', object, '-n', place.namespace, '--replicas=6', '--current-replicas=2'])
      expect(wanted((await place.get(made)).body)).toBe(6)
      const wrong = await kubectl.try([
        'scale',
        object,
        '-n',
        place.namespace,
        '--replicas=1',
        '--current-replicas=2',
      ])
      expect(wrong.code).toBe(1)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  })
})

suite.every(
  kind => isStored(kind) && kind.scale === undefined,
  subject => {
    must(77, 'has no scale where none is advertised', async () => {
      const place = await subject.place()
      const made = await place.make()
      expect((await place.get(made, 'scale')).code).toBe(404)
      const { body } = await suite.ask(subject.root())
      const names = body.resources.map(({ name }: { name: string }) => name)
      expect(names).not.toContain(`${subject.kind.plural}/scale`)
    })
  },
)
