import { describe, expect, it } from 'vitest'
import { versionsOf } from '../../../../../src/api/derive/discovery.ts'
import { openapiV2 } from '../../../../../src/api/derive/openapi-v2.ts'
import { openapiV3, openapiV3Key } from '../../../../../src/api/derive/openapi-v3.ts'
import { kinds } from '../../../../../src/api/kinds/index.ts'

const groupVersions = [...new Set(kinds.map(k => k.group))].flatMap(group =>
  versionsOf(kinds, group).map(version => [group, version] as const),
)

/** Every value of a member, at any depth. */
function valuesOf(member: string, value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    ...(name === member ? [inner] : []),
    ...valuesOf(member, inner),
  ])
}

/** A document as a client reads it. */
function read(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/** The member at the end of a path; undefined where there is none. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
    value,
  )
}

function entriesOf(value: unknown): readonly (readonly [string, unknown])[] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : []
}

/** The properties of a schema at any depth, each with its path. */
function fieldsOf(schema: unknown): readonly (readonly [string, unknown])[] {
  if (typeof schema !== 'object' || schema === null) return []
  const inner = [at(schema, 'items'), at(schema, 'additionalProperties')].flatMap(fieldsOf)
  const own = entriesOf(at(schema, 'properties')).map(([name, field]) => [`.${name}`, field] as const)
  const below = own.flatMap(([name, field]) =>
    fieldsOf(field).map(([path, one]) => [name + path, one] as const),
  )
  return [...own, ...below, ...inner]
}

const keysOf = (value: unknown) => entriesOf(value).map(([name]) => name)

/** The names of a list of things that have names. */
function namesOf(list: unknown): readonly unknown[] {
  return entriesOf(list).map(([, item]) => at(item, 'name'))
}

describe.each(groupVersions)('the OpenAPI v3 document of %s/%s', (group, version) => {
  const document = read(openapiV3(kinds, group, version))
  const schemas = at(document, 'components', 'schemas')

  it('refers only to what it defines', () => {
    for (const ref of valuesOf('$ref', document)) {
      expect(schemas).toHaveProperty([String(ref).replace('#/components/schemas/', '')])
    }
  })

  it('says of every kind and every field what it is', () => {
    const all = entriesOf(schemas)
    const fields = all.flatMap(([type, schema]) =>
      fieldsOf(schema).map(([path, field]) => [type + path, field]),
    )
    const silent = [...all, ...fields].filter(([, schema]) => at(schema, 'description') === undefined)
    expect(silent.map(([name]) => name)).toEqual([])
  })

  it('has a schema for every kind, with its group, version and kind', () => {
    const served = kinds.filter(k => k.group === group && k.versions.some(v => v.name === version))
    for (const kind of served) {
      const gvk = { group, kind: kind.kind, version }
      const found = entriesOf(schemas)
        .map(([, schema]) => schema)
        .filter(schema =>
          entriesOf(at(schema, 'x-kubernetes-group-version-kind')).some(
            ([, one]) => JSON.stringify(one) === JSON.stringify(gvk),
          ),
        )
      expect(found, JSON.stringify(gvk)).toHaveLength(1)
      expect(at(found[0], 'description')).toBe(kind.description)
      expect(keysOf(at(found[0], 'properties'))).toEqual(
        expect.arrayContaining(['apiVersion', 'kind', 'metadata', ...keysOf(kind.schema.properties)]),
      )
    }
  })

  it('gives every operation an id of its own, a kind and an action', () => {
    const ids = new Set<unknown>()
    for (const [path, item] of entriesOf(at(document, 'paths'))) {
      expect(path).not.toMatch(/\/$/)
      for (const [method, operation] of entriesOf(item)) {
        if (method === 'parameters') continue
        const id = at(operation, 'operationId')
        expect(ids.has(id), String(id)).toBe(false)
        ids.add(id)
        expect(at(operation, 'x-kubernetes-group-version-kind')).toMatchObject({ group, version })
        expect(at(operation, 'x-kubernetes-action')).toMatch(
          /^(get|list|post|put|patch|delete|deletecollection)$/,
        )
      }
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1])
      expect(namesOf(at(item, 'parameters'))).toEqual(named)
    }
  })
})

describe('the OpenAPI v3 document of the MCS group', () => {
  const document = read(openapiV3(kinds, 'multicluster.x-k8s.io', 'v1beta1'))
  const item = '/apis/multicluster.x-k8s.io/v1beta1/namespaces/{namespace}/serviceimports/{name}'

  it('has the paths that kubectl looks for', () => {
    expect(keysOf(at(document, 'paths'))).toEqual([
      '/apis/multicluster.x-k8s.io/v1beta1/namespaces/{namespace}/serviceexports',
      '/apis/multicluster.x-k8s.io/v1beta1/namespaces/{namespace}/serviceexports/{name}',
      '/apis/multicluster.x-k8s.io/v1beta1/namespaces/{namespace}/serviceexports/{name}/status',
      '/apis/multicluster.x-k8s.io/v1beta1/serviceexports',
      '/apis/multicluster.x-k8s.io/v1beta1/namespaces/{namespace}/serviceimports',
      item,
      `${item}/status`,
      '/apis/multicluster.x-k8s.io/v1beta1/serviceimports',
    ])
  })

  it('wants a body wherever there is nothing to do without one', () => {
    const wanted = ['post', 'put', 'patch', 'delete'].map(method => [
      method,
      at(
        document,
        'paths',
        method === 'post' ? item.replace('/{name}', '') : item,
        method,
        'requestBody',
        'required',
      ),
    ])
    expect(Object.fromEntries(wanted)).toEqual({ post: true, put: true, patch: true, delete: undefined })
  })

  it('takes nothing that is of watches for a deletion of many', () => {
    const { parameters } = at(document, 'paths', item.replace('/{name}', ''), 'delete') as {
      parameters: unknown
    }
    expect(namesOf(parameters)).toContain('labelSelector')
    expect(namesOf(parameters)).not.toContain('allowWatchBookmarks')
    expect(namesOf(parameters)).not.toContain('sendInitialEvents')
  })

  it('says at the patch itself that fields are validated, and which patches there are', () => {
    const patch = at(document, 'paths', item, 'patch')
    expect(at(patch, 'x-kubernetes-group-version-kind')).toEqual({
      group: 'multicluster.x-k8s.io',
      kind: 'ServiceImport',
      version: 'v1beta1',
    })
    expect(namesOf(at(patch, 'parameters'))).toEqual([
      'pretty',
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'force',
    ])
    expect(at(patch, 'parameters', '3', 'in')).toBe('query')
    expect(keysOf(at(patch, 'requestBody', 'content'))).not.toContain(
      'application/strategic-merge-patch+json',
    )
    expect(keysOf(at(patch, 'requestBody', 'content'))).toContain('application/merge-patch+json')
  })

  it('publishes how lists are merged', () => {
    const schema = at(document, 'components', 'schemas', 'io.x-k8s.multicluster.v1beta1.ServiceImport')
    expect(at(schema, 'properties', 'spec', 'properties', 'ports')).toMatchObject({
      'x-kubernetes-list-type': 'atomic',
    })
    expect(at(schema, 'properties', 'spec', 'required')).toEqual(['ports', 'type'])
    expect(at(schema, 'properties', 'status', 'properties', 'clusters')).toMatchObject({
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['cluster'],
    })
    expect(at(schema, 'properties', 'metadata')).toMatchObject({
      default: {},
      allOf: [{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }],
    })
  })

  it('describes every field', () => {
    const schema = at(document, 'components', 'schemas', 'io.x-k8s.multicluster.v1beta1.ServiceImport')
    const undescribed = (name: string, value: unknown): readonly string[] => [
      ...(at(value, 'description') ? [] : [name]),
      ...entriesOf(at(value, 'properties')).flatMap(([n, p]) => undescribed(`${name}.${n}`, p)),
      ...(at(value, 'items', 'properties') ? undescribed(`${name}[]`, at(value, 'items')) : []),
    ]
    expect(undescribed('', schema)).toEqual([])
  })
})

describe('the OpenAPI documents of core kinds', () => {
  const core = read(openapiV3(kinds, '', 'v1'))
  const service = at(core, 'components', 'schemas', 'io.k8s.api.core.v1.Service')

  it('offer strategic merge patch, with the keys it merges by', () => {
    const patch = at(core, 'paths', '/api/v1/namespaces/{namespace}/services/{name}', 'patch')
    expect(keysOf(at(patch, 'requestBody', 'content'))).toContain('application/strategic-merge-patch+json')
    expect(at(service, 'properties', 'spec', 'properties', 'ports')).toMatchObject({
      'x-kubernetes-patch-strategy': 'merge',
      'x-kubernetes-patch-merge-key': 'port',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    })
  })

  it('name the type that is a number or a string', () => {
    expect(
      at(service, 'properties', 'spec', 'properties', 'ports', 'items', 'properties', 'targetPort', 'allOf'),
    ).toEqual([{ $ref: '#/components/schemas/io.k8s.apimachinery.pkg.util.intstr.IntOrString' }])
    expect(
      at(core, 'components', 'schemas', 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'),
    ).toMatchObject({
      format: 'int-or-string',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    })
  })

  it('list only what may be done', () => {
    const reviews = at(read(openapiV3(kinds, 'authorization.k8s.io', 'v1')), 'paths')
    expect(keysOf(at(reviews, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'))).toEqual(['post'])
    const finalize = at(core, 'paths', '/api/v1/namespaces/{name}/finalize')
    expect(keysOf(finalize)).toEqual(['parameters', 'put'])
  })

  it('have the keys that the index uses', () => {
    expect(openapiV3Key('', 'v1')).toBe('api/v1')
    expect(openapiV3Key('a.b', 'v1')).toBe('apis/a.b/v1')
    expect(openapiV3(kinds, 'a.b', 'v1')).toBeUndefined()
  })
})

describe('the OpenAPI v2 document', () => {
  const document = read(openapiV2(kinds))
  const definitions = at(document, 'definitions')

  it('refers only to what it defines', () => {
    for (const ref of valuesOf('$ref', document)) {
      expect(definitions).toHaveProperty([String(ref).replace('#/definitions/', '')])
    }
    expect(at(document, 'swagger')).toBe('2.0')
    expect(at(document, 'info')).toEqual({ title: 'Isthmus', version: 'unversioned' })
  })

  it('has no definition that no path leads to', () => {
    const reached = new Set<string>()
    const follow = (value: unknown): void => {
      for (const ref of valuesOf('$ref', value)) {
        const name = String(ref).replace('#/definitions/', '')
        if (reached.has(name)) continue
        reached.add(name)
        follow(at(definitions, name))
      }
    }
    follow(at(document, 'paths'))
    const unreached = keysOf(definitions).filter(name => !reached.has(name))
    expect(unreached).toEqual([])
  })

  it('says in every patch what it consumes', () => {
    for (const [path, item] of entriesOf(at(document, 'paths'))) {
      const patch = at(item, 'patch')
      if (patch === undefined) continue
      expect(at(patch, 'consumes'), path).toContain('application/merge-patch+json')
      expect(namesOf(at(patch, 'parameters'))).toContain('fieldValidation')
      expect(at(patch, 'parameters', '0')).toMatchObject({ in: 'body', name: 'body', required: true })
    }
  })

  it('has nothing that Swagger does not have', () => {
    expect(valuesOf('nullable', document)).toEqual([])
    expect(valuesOf('oneOf', document)).toEqual([])
    expect(valuesOf('allOf', document)).toEqual([])
  })

  it('names every definition by its group, version and kind once', () => {
    const names = entriesOf(definitions)
      .flatMap(([, definition]) => entriesOf(at(definition, 'x-kubernetes-group-version-kind')))
      .map(([, gvk]) => JSON.stringify(gvk))
    expect(new Set(names).size).toBe(names.length)
  })
})
