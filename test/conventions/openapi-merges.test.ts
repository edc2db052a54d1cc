import { expect } from 'vitest'
import type { KubeObject } from '../../src/api/meta.ts'
import { byText } from '../../src/api/order.ts'
import type { JsonSchema } from '../../src/api/schema.ts'
import { must } from './frame/must.ts'
import { definitionOf, type Json, resolved } from './frame/published.ts'
import { applyPatch, type Place, type Subject } from './frame/subject.ts'
import { aSuite, isStored } from './frame/suite.ts'

const suite = aSuite()

type Extensions = Pick<
  JsonSchema,
  | 'x-kubernetes-list-type'
  | 'x-kubernetes-list-map-keys'
  | 'x-kubernetes-map-type'
  | 'x-kubernetes-int-or-string'
>

/** Says of each value how it is owned by what its published schema says, as FieldsV1; what is not owned is left out. */
function ownedBy(document: Json, given: Json, value: Json): Json {
  const schema: Extensions & Json = { ...resolved(document, given), ...given }
  if (Array.isArray(value)) return ofList(document, schema, value)
  const isWhole = typeof value !== 'object' || value === null || schema['x-kubernetes-map-type'] === 'atomic'
  if (isWhole) return {}
  return Object.fromEntries(
    Object.entries<Json>(value).map(([name, inner]) => [
      `f:${name}`,
      ownedBy(document, schema.properties?.[name] ?? schema.additionalProperties ?? {}, inner),
    ]),
  )
}

function ofList(document: Json, schema: Extensions & Json, items: readonly Json[]): Json {
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return Object.fromEntries(items.map(item => [`v:${JSON.stringify(item)}`, {}]))
    case 'map': {
      const names: readonly string[] = schema['x-kubernetes-list-map-keys']?.toSorted(byText) ?? []
      const keyed = resolved(document, schema.items)
      return Object.fromEntries(
        items.map(item => {
          const key = Object.fromEntries(
            names.map(name => [name, item[name] ?? resolved(document, keyed.properties[name]).default]),
          )
          const parts = ownedBy(document, schema.items, item)
          return [`k:${JSON.stringify(key)}`, Object.keys(parts).length === 0 ? {} : { '.': {}, ...parts }]
        }),
      )
    }
    default:
      return {}
  }
}

/** Every list and map of a schema by its path and how it says that it is merged. */
function mergesIn(document: Json, given: Json, path = ''): readonly string[] {
  const schema = { ...resolved(document, given), ...given }
  const { items, properties = {}, additionalProperties } = schema
  const own = schema.type === 'array' ? [`${path} ${schema['x-kubernetes-list-type'] ?? 'none'}`] : []
  return [
    ...own,
    ...(items === undefined ? [] : mergesIn(document, items, `${path}[]`)),
    ...(additionalProperties === undefined ? [] : mergesIn(document, additionalProperties, `${path}{}`)),
    ...Object.entries<Json>(properties).flatMap(([name, inner]) =>
      mergesIn(document, inner, `${path}.${name}`),
    ),
  ]
}

const serverOwned: ReadonlySet<string> = new Set(['name', 'namespace'])

/** What is owned of an object that is applied to its main endpoint. */
function ownable({ kind }: Subject, object: KubeObject): Json {
  const { apiVersion: _version, kind: _kind, metadata, status, ...rest } = object
  const owned = Object.entries(metadata).filter(([name]) => !serverOwned.has(name))
  const more = kind.status === undefined && status !== undefined ? { status } : {}
  return { metadata: Object.fromEntries(owned), ...rest, ...more }
}

/** The fields that a manager has after it has applied. */
async function applied(place: Place, object: KubeObject, subresource = ''): Promise<Json> {
  const how = { type: applyPatch, query: '?fieldManager=ann&force=true', subresource }
  const { code, body, text } = await place.patch(object, object, how)
  if (code > 201) throw new Error(text)
  const entry = body.metadata.managedFields.find(
    (one: Json) =>
      one.manager === 'ann' && one.operation === 'Apply' && (one.subresource ?? '') === subresource,
  )
  return entry.fieldsV1
}

suite.every(isStored, subject => {
  must(
    114,
    'publishes for every list and map how apply really merges it, alike at all versions',
    async () => {
      const { kind } = subject
      const place = await subject.place()
      const prefix = kind.group === '' ? 'api' : `apis/${kind.group}`
      const published = async (version: string) => {
        const document = (await suite.ask(`/openapi/v3/${prefix}/${version}`)).body
        return { document, schema: definitionOf(document, { group: kind.group, version, kind: kind.kind }) }
      }
      const { document, schema } = await published(kind.versions[0].name)
      for (const { name } of kind.versions) {
        const other = await published(name)
        expect(mergesIn(other.document, other.schema)).toEqual(mergesIn(document, schema))
      }
      const object = place.sample({
        annotations: { 'conventions.test/note': 'x' },
        finalizers: ['conventions.test/a', 'conventions.test/b'],
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'some-uid' }],
      })
      expect(await applied(place, object)).toEqual(ownedBy(document, schema, ownable(subject, object)))
      if (kind.status === undefined || object.status === undefined) return
      const { apiVersion, kind: name, metadata, status } = object
      const withStatus = { apiVersion, kind: name, metadata: { name: metadata.name }, status } as KubeObject
      expect(await applied(place, withStatus, 'status')).toEqual(ownedBy(document, schema, { status }))
    },
  )
})
