import { Validator } from '@seriousme/openapi-schema-validator'
import { expect } from 'vitest'
import type { AnyKind } from '../../src/api/kind.ts'
import type { KubeObject } from '../../src/api/meta.ts'
import { must } from './frame/must.ts'
import { definitionOf, definitionsOf, type Json, reachedIn, resolved } from './frame/published.ts'
import { servedKinds } from './frame/server.ts'
import type { Place, Subject } from './frame/subject.ts'
import { aSuite, isServed, isStored } from './frame/suite.ts'

const suite = aSuite()

const keyOf = (group: string, version: string): string =>
  group === '' ? `api/${version}` : `apis/${group}/${version}`

const groupVersions = new Set(
  servedKinds.flatMap(({ group, versions }) => versions.map(({ name }) => keyOf(group, name))),
)

async function documentOf(key: string): Promise<Json> {
  const index = await suite.ask('/openapi/v3')
  return (await suite.ask(index.body.paths[key].serverRelativeURL)).body
}

function pathsOf(kind: AnyKind, version: string) {
  const root = `/${keyOf(kind.group, version)}`
  const collection = `${root}/${kind.scope === 'Namespaced' ? 'namespaces/{namespace}/' : ''}${kind.plural}`
  return { collection, item: `${collection}/{name}`, everywhere: `${root}/${kind.plural}` }
}

must(108, 'lists every group and version in the index, with a hash of its document', async () => {
  const index = await suite.ask('/openapi/v3')
  expect(index.headers).toMatchObject({
    'content-type': 'application/json',
    etag: expect.stringMatching(/^".+"$/),
  })
  expect(new Set(Object.keys(index.body.paths))).toEqual(groupVersions)
  for (const [key, { serverRelativeURL }] of Object.entries<Json>(index.body.paths)) {
    const hash = new RegExp(`^/openapi/v3/${key}\\?hash=([0-9A-F]+)$`).exec(serverRelativeURL)?.[1]
    const document = await suite.ask(serverRelativeURL)
    expect(document).toMatchObject({
      code: 200,
      headers: { etag: `"${hash}"`, 'cache-control': expect.stringContaining('immutable') },
    })
    const [path = ''] = serverRelativeURL.split('?')
    for (const other of [path, `${path}?hash=OLD`]) {
      expect((await suite.ask(other)).text).toBe(document.text)
      expect((await suite.ask(other)).headers['cache-control']).not.toContain('immutable')
    }
    const again = await suite.ask(path, { headers: { 'if-none-match': `"${hash}"` } })
    expect(again).toMatchObject({ code: 304, text: '' })
  }
})

must([109, 112], 'has documents that are valid OpenAPI, in both versions', async () => {
  const index = await suite.ask('/openapi/v3')
  const validator = new Validator()
  for (const path of ['/openapi/v2', ...Object.keys(index.body.paths).map(key => `/openapi/v3/${key}`)]) {
    const { body } = await suite.ask(path)
    expect(await validator.validate(body), path).toEqual({ valid: true })
  }
})

must(112, 'has an OpenAPI v2 document in which every path leads somewhere, the same every time', async () => {
  const first = await suite.ask('/openapi/v2')
  expect(first.body).toMatchObject({
    swagger: '2.0',
    info: { title: expect.any(String), version: expect.any(String) },
  })
  expect(reachedIn(first.body)).toEqual(new Set(Object.keys(definitionsOf(first.body))))
  const { etag = '' } = first.headers
  expect(etag).toMatch(/^".+"$/)
  const other = suite.server.client('HTTP/2')
  expect((await other.send('/openapi/v2')).text).toBe(first.text)
  const known = await other.send('/openapi/v2', { headers: { 'if-none-match': etag } })
  expect(known).toMatchObject({ status: 304, text: '', headers: { etag } })
  for (const { group, kind, versions } of servedKinds) {
    for (const { name: version } of versions)
      expect(definitionOf(first.body, { group, version, kind })).toBeDefined()
  }
})

must(109, 'refers to nothing that is not there, in every document', async () => {
  for (const key of groupVersions) {
    const document = await documentOf(key)
    expect(document.openapi).toMatch(/^3\.0\./)
    expect(reachedIn(document)).toEqual(new Set(Object.keys(definitionsOf(document))))
    const ids = Object.values<Json>(document.paths).flatMap(item =>
      Object.values<Json>(item).flatMap(({ operationId }) => operationId ?? []),
    )
    expect(ids.length).toBe(new Set(ids).size)
  }
})

const methods: Readonly<Record<string, readonly [at: 'item' | 'collection', method: string]>> = {
  create: ['collection', 'post'],
  delete: ['item', 'delete'],
  deletecollection: ['collection', 'delete'],
  get: ['item', 'get'],
  list: ['collection', 'get'],
  patch: ['item', 'patch'],
  update: ['item', 'put'],
}

/** The verbs that the operations at the paths of a kind stand for. */
function verbsIn(document: Json, paths: ReturnType<typeof pathsOf>): ReadonlySet<string> {
  const described = Object.entries(methods).filter(([, [at, method]]) => document.paths[paths[at]]?.[method])
  return new Set(described.map(([verb]) => verb))
}

/** All operations on a kind, with their paths. */
function operationsAt(
  document: Json,
  { collection, item, everywhere }: ReturnType<typeof pathsOf>,
): readonly (readonly [path: string, operation: Json])[] {
  return Object.entries<Json>(document.paths)
    .filter(([path]) => [collection, item, everywhere].includes(path) || path.startsWith(`${item}/`))
    .flatMap(([path, item]) =>
      Object.entries<Json>(item).flatMap(([name, one]) =>
        name === 'parameters' ? [] : [[path, one] as const],
      ),
    )
}

/** The kind that a subresource shows in place of the object, as discovery tells it. */
function shownAt(path: string, subresources: readonly Json[]): Json | undefined {
  const found = subresources.find(({ name }) => path.endsWith(`/{name}${name.slice(name.indexOf('/'))}`))
  if (found?.group === undefined) return undefined
  const { group, version, kind } = found
  return { group, version, kind }
}

suite.every(isServed, subject => {
  must(
    109,
    'spells paths as kubectl looks them up, with the verbs of discovery and the kind of each',
    async () => {
      const { kind } = subject
      for (const { name: version } of kind.versions) {
        const document = await documentOf(keyOf(kind.group, version))
        const gvk = { group: kind.group, version, kind: kind.kind }
        const paths = pathsOf(kind, version)
        const { resources } = (await suite.ask(subject.root(version))).body
        const [entry, ...subresources] = resources.filter(
          ({ name }: Json) => name.split('/')[0] === kind.plural,
        )
        expect(verbsIn(document, paths)).toEqual(
          new Set(entry.verbs.filter((verb: string) => verb !== 'watch')),
        )
        for (const { name, verbs } of subresources) {
          const item = document.paths[`${paths.item}/${name.slice(kind.plural.length + 1)}`]
          const named = verbs.map((verb: string) => methods[verb]?.[1])
          expect(new Set(Object.keys(item))).toEqual(new Set(['parameters', ...named]))
        }
        for (const [path, operation] of operationsAt(document, paths)) {
          expect(operation['x-kubernetes-group-version-kind']).toEqual(shownAt(path, subresources) ?? gvk)
          expect(operation['x-kubernetes-action']).toMatch(/^[a-z]+$/)
        }
        const { properties } = definitionOf(document, gvk)
        expect(Object.keys(properties)).toEqual(expect.arrayContaining(['apiVersion', 'kind', 'metadata']))
        for (const [field, inner] of Object.entries(properties)) {
          expect(resolved(document, inner), field).toHaveProperty('type')
        }
      }
    },
  )

  must(109, 'has the list of all namespaces where there is one', async () => {
    const { kind } = subject
    const version = kind.versions[0].name
    const { everywhere } = pathsOf(kind, version)
    const action = (await documentOf(keyOf(kind.group, version))).paths[everywhere]?.get?.[
      'x-kubernetes-action'
    ]
    expect(action).toBe(kind.storage === 'review' ? undefined : 'list')
  })
})

/** Where a kind is patched: the object, as `''`, and its subresources. */
function patchesOf(
  document: Json,
  subject: Subject,
  version: string,
): readonly (readonly [subresource: string, operation: Json])[] {
  const { item } = pathsOf(subject.kind, version)
  const patched = Object.entries<Json>(document.paths).filter(
    ([path]) => path === item || path.startsWith(`${item}/`),
  )
  return patched.flatMap(([path, { patch }]) =>
    patch === undefined ? [] : [[path.slice(item.length + 1), patch] as const],
  )
}

const bodies: Readonly<Record<string, (object: KubeObject) => unknown>> = {
  'application/json-patch+json': () => [],
  'application/merge-patch+json': () => ({}),
  'application/strategic-merge-patch+json': () => ({}),
  'application/apply-patch+yaml': ({ apiVersion, kind, metadata: { name } }) => ({
    apiVersion,
    kind,
    metadata: { name },
  }),
  'application/apply-patch+cbor': () => ({}),
  'application/json': () => ({}),
  'application/yaml': () => ({}),
}

/** The media types of patches that are not refused. */
async function takenBy(place: Place, subresource: string): Promise<ReadonlySet<string>> {
  const made = await place.make()
  const taken = new Set<string>()
  for (const [type, bodyOf] of Object.entries(bodies)) {
    const force = type.includes('apply') ? '&force=true' : ''
    const query = `?fieldManager=tester&dryRun=All${force}`
    const { code } = await place.patch(made, bodyOf(made), { type, query, subresource })
    expect(code, type).toBeLessThan(500)
    if (code !== 415) taken.add(type)
  }
  return taken
}

suite.every(isStored, subject => {
  must(110, 'lists the parameters of a patch at the patch', async () => {
    for (const { name: version } of subject.kind.versions) {
      const patches = patchesOf(await documentOf(keyOf(subject.kind.group, version)), subject, version)
      expect(patches.length).toBeGreaterThan(0)
      for (const [, { parameters }] of patches) {
        const inQuery = parameters
          .filter((parameter: Json) => parameter.in === 'query')
          .map(({ name }: Json) => name)
        expect(inQuery).toEqual(
          expect.arrayContaining(['fieldValidation', 'fieldManager', 'dryRun', 'force', 'pretty']),
        )
      }
    }
  })

  must(111, 'lists the patches that are taken, and no others', async () => {
    const place = await subject.place()
    const v2 = (await suite.ask('/openapi/v2')).body
    for (const { name: version } of subject.kind.versions) {
      const v3 = await documentOf(keyOf(subject.kind.group, version))
      for (const [subresource, { requestBody }] of patchesOf(v3, subject, version)) {
        const taken = await takenBy(place, subresource)
        expect(new Set(Object.keys(requestBody.content))).toEqual(taken)
      }
      for (const [subresource, { consumes }] of patchesOf(v2, subject, version)) {
        expect(new Set(consumes)).toEqual(await takenBy(place, subresource))
      }
    }
  })
})
