import { expect } from 'vitest'
import { apiVersionOf } from '../../src/api/kind.ts'
import { byText } from '../../src/api/order.ts'
import { GadgetKind } from './frame/gadget.ts'
import { must } from './frame/must.ts'
import { servedKinds, startConventionServer } from './frame/server.ts'
import type { Subject } from './frame/subject.ts'
import { aSuite, isServed } from './frame/suite.ts'

const suite = aSuite()

const aggregated = (version: string) =>
  `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`
/** What kubectl of these releases sends. */
const accepts = {
  '1.36': `${aggregated('v2')};profile=nopeer,${aggregated('v2')},${aggregated('v2beta1')},application/json`,
  '1.30': `${aggregated('v2')},${aggregated('v2beta1')},application/json`,
  '1.27': `${aggregated('v2beta1')},application/json`,
}

const verbsByStorage = {
  stored: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
  view: ['get', 'list', 'watch'],
  review: ['create'],
}

const verbsOf = ({ deletesCollection, storage }: Subject['kind']): readonly string[] =>
  verbsByStorage[storage].filter(verb => verb !== 'deletecollection' || deletesCollection)

/** The subresources that a kind declares, sorted. */
function subresourcesOf({ kind }: Subject): readonly string[] {
  const { finalize, scale, status } = kind
  return Object.entries({ finalize, scale, status }).flatMap(([name, declared]) =>
    declared === undefined ? [] : [name],
  )
}

suite.every(isServed, subject => {
  const { kind } = subject
  const isCore = kind.group === ''
  const resources = async (version: string) => {
    const { body } = await suite.ask(subject.root(version))
    return body.resources as readonly { name: string; verbs: readonly string[] }[]
  }

  must(1, 'has its resources listed at each of its versions', async () => {
    for (const { name } of kind.versions) {
      const answer = await suite.ask(subject.root(name))
      expect(answer).toMatchObject({
        code: 200,
        body: { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: apiVersionOf(kind, name) },
      })
      expect(answer.body.resources).toBeInstanceOf(Array)
    }
  })

  must(2, 'is listed with its names, its scope and its verbs', async () => {
    for (const { name } of kind.versions) {
      const found = (await resources(name)).filter(resource => resource.name === kind.plural)
      expect(found).toEqual([
        {
          name: kind.plural,
          singularName: kind.singular,
          namespaced: kind.scope === 'Namespaced',
          kind: kind.kind,
          verbs: verbsOf(kind),
          ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
          ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
          ...(kind.storage === 'stored'
            ? { storageVersionHash: expect.stringMatching(/^[\w+/]{11}=$/) }
            : {}),
        },
      ])
    }
  })

  must(3, 'has its subresources listed behind it, in the same scope', async () => {
    for (const { name } of kind.versions) {
      const below = (await resources(name)).filter(resource => resource.name.startsWith(`${kind.plural}/`))
      expect(below.map(resource => resource.name)).toEqual(
        subresourcesOf(subject).map(sub => `${kind.plural}/${sub}`),
      )
      for (const resource of below) {
        expect(resource).toMatchObject({ namespaced: kind.scope === 'Namespaced', singularName: '' })
        expect(resource.verbs).toEqual(resource.verbs.toSorted(byText))
        expect(resource.verbs).not.toEqual([])
      }
    }
  })

  must(7, 'is in aggregated discovery with the kind of every answer', async () => {
    const { body } = await suite.ask(kind.group === '' ? '/api' : '/apis', { accept: accepts['1.30'] })
    const [group] = body.items.filter((item: Named) => (item.metadata.name ?? '') === kind.group)
    for (const { name } of kind.versions) {
      const [version] = group.versions.filter((found: { version: string }) => found.version === name)
      expect(version.freshness).toBe('Current')
      const [resource] = version.resources.filter(
        (found: { resource: string }) => found.resource === kind.plural,
      )
      expect(resource).toMatchObject({
        responseKind: { group: kind.group, version: name, kind: kind.kind },
        scope: kind.scope,
        singularResource: kind.singular,
        verbs: verbsOf(kind),
      })
      const below: readonly Below[] = resource.subresources ?? []
      expect(below.map(({ subresource }) => subresource)).toEqual(subresourcesOf(subject))
      for (const { responseKind } of below) {
        expect(responseKind).toEqual({
          group: expect.any(String),
          version: expect.stringMatching(/^v\d/),
          kind: expect.stringMatching(/./),
        })
      }
    }
  })

  must(9, 'has its group described with its versions and the one to prefer', async () => {
    if (isCore) {
      expect((await suite.ask('/api')).body).toMatchObject({ kind: 'APIVersions', versions: ['v1'] })
      return
    }
    const { code, body } = await suite.ask(`/apis/${kind.group}`)
    expect({ code, body }).toMatchObject({
      code: 200,
      body: { kind: 'APIGroup', apiVersion: 'v1', name: kind.group },
    })
    for (const { name } of kind.versions) {
      expect(body.versions).toContainEqual({ groupVersion: apiVersionOf(kind, name), version: name })
    }
    expect(body.versions).toContainEqual(body.preferredVersion)
    expect((await suite.ask('/apis')).body.groups).toContainEqual(
      expect.objectContaining({ name: kind.group, preferredVersion: body.preferredVersion }),
    )
  })
})

type Named = { readonly metadata: { readonly name?: string } }
type Below = { readonly subresource: string; readonly responseKind: unknown }

must(4, 'lists the groups for who accepts plain JSON', async () => {
  for (const accept of ['application/json', '*/*', undefined]) {
    const answer = await suite.ask('/apis', accept === undefined ? {} : { accept })
    expect(answer.headers['content-type']).toBe('application/json')
    expect(answer.body).toMatchObject({ kind: 'APIGroupList', apiVersion: 'v1' })
    const groups = answer.body.groups.map((group: { name: string }) => group.name)
    expect(new Set(groups)).toEqual(
      new Set(servedKinds.map(({ group }) => group).filter(name => name !== '')),
    )
    expect(groups).toHaveLength(new Set(groups).size)
  }
})

must(5, 'answers v2 to kubectl 1.30 and later, and says so in its Content-Type', async () => {
  for (const accept of [accepts['1.30'], accepts['1.36']]) {
    for (const path of ['/api', '/apis']) {
      const answer = await suite.ask(path, { accept })
      expect(answer.headers).toMatchObject({ 'content-type': aggregated('v2'), vary: 'Accept' })
      expect(answer.body).toMatchObject({
        kind: 'APIGroupDiscoveryList',
        apiVersion: 'apidiscovery.k8s.io/v2',
        items: expect.arrayContaining([expect.anything()]),
      })
    }
  }
})

must(6, 'answers v2beta1 to kubectl 1.27 to 1.29', async () => {
  for (const path of ['/api', '/apis']) {
    const older = await suite.ask(path, { accept: accepts['1.27'] })
    expect(older.headers['content-type']).toBe(aggregated('v2beta1'))
    const newer = await suite.ask(path, { accept: accepts['1.30'] })
    expect(older.body).toEqual({ ...newer.body, apiVersion: 'apidiscovery.k8s.io/v2beta1' })
  }
})

must(8, 'answers 304 to who has it, and has another tag when a kind has changed', async () => {
  const changed = servedKinds.map(kind => (kind === GadgetKind ? { ...kind, shortNames: ['gdg'] } : kind))
  const other = await startConventionServer({ kinds: changed })
  const tagOf = async (client: typeof suite.client, etag = '""') => {
    const headers = { accept: accepts['1.36'], 'if-none-match': etag }
    return client.send('/apis', { headers })
  }
  try {
    const first = await tagOf(suite.client)
    expect(first).toMatchObject({ status: 200, headers: { etag: expect.stringMatching(/^".+"$/) } })
    expect(await tagOf(suite.client, first.headers.etag)).toMatchObject({ status: 304, text: '' })
    expect(await tagOf(other.client(), first.headers.etag)).toMatchObject({ status: 200 })
  } finally {
    await other.close()
  }
})

must(10, 'answers a 404 Status for groups and versions that are not there', async () => {
  const root = `/apis/${GadgetKind.group}`
  for (const path of ['/apis/nope.example.com', '/apis/nope.example.com/v1', `${root}/v9`, '/api/v2']) {
    expect(await suite.ask(path)).toMatchObject({
      code: 404,
      body: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'NotFound', code: 404 },
    })
  }
})

must(10, 'answers a 404 Status at /api without the core group', async () => {
  const server = await startConventionServer({ kinds: [GadgetKind] })
  try {
    for (const accept of ['application/json', accepts['1.36']]) {
      const answer = await server.client().send('/api', { headers: { accept } })
      expect(answer).toMatchObject({ status: 404, json: { kind: 'Status', reason: 'NotFound' } })
    }
  } finally {
    await server.close()
  }
})

must(11, 'tells its version as three strings that clients can parse', async () => {
  const { code, body } = await suite.ask('/version')
  expect({ code, body }).toMatchObject({
    code: 200,
    body: {
      major: expect.stringMatching(/^\d+$/),
      minor: expect.stringMatching(/^\d+$/),
      gitVersion: expect.stringMatching(/^v\d+\.\d+\.\d+/),
    },
  })
})
