/** The OpenAPI v2 document of all groups, which an aggregator merges with those of other servers. */
import type { OpenAPIV2 } from 'openapi-types'
import type { AnyKind } from '../kind.ts'
import { groupsOf, servedAt, versionsOf } from './discovery.ts'
import {
  type Definitions,
  type GroupVersionKind,
  intOrStringName,
  kindDefinitions,
  metaDefinitions,
  type Reference,
  type RefSchema,
} from './openapi-definitions.ts'
import {
  byPath,
  type Operation,
  objectMediaTypes,
  operationsAt,
  type Parameter,
  pathParametersOf,
  watchMediaTypes,
} from './openapi-operations.ts'

type Extensions = {
  readonly 'x-kubernetes-action': string
  readonly 'x-kubernetes-group-version-kind': GroupVersionKind
}

export type OpenapiV2Document = OpenAPIV2.Document<Extensions>

export function openapiV2(kinds: readonly AnyKind[]): OpenapiV2Document {
  const groups = [...(kinds.some(k => k.group === '') ? [''] : []), ...groupsOf(kinds)]
  const versions = groups.flatMap(group => versionsOf(kinds, group).map(version => ({ group, version })))
  const paths = byPath(versions.flatMap(v => operationsAt(kinds, v.group, v.version)))
  const definitions: readonly Definitions[] = versions.flatMap(({ group, version }) =>
    servedAt(kinds, group, version).map(kind => kindDefinitions(kind, version)),
  )
  return {
    swagger: '2.0',
    info: { title: 'Isthmus', version: 'unversioned' },
    paths: Object.fromEntries([...paths].map(([path, operations]) => [path, pathItem(path, operations)])),
    definitions: definitionsOf({ ...Object.assign({}, ...definitions), ...metaDefinitions(versions) }),
    securityDefinitions: {
      BearerToken: { type: 'apiKey', name: 'authorization', in: 'header', description: 'A bearer token.' },
    },
    security: [{ BearerToken: [] }],
  }
}

function pathItem(path: string, operations: readonly Operation[]): OpenAPIV2.PathItemObject<Extensions> {
  const parameters = pathParametersOf(path).map(p => ({ ...parameterObject(p, 'path'), required: true }))
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    ...Object.fromEntries(operations.map(o => [o.method, operationObject(o)])),
  }
}

function operationObject(operation: Operation): OpenAPIV2.OperationObject<Extensions> {
  const { body } = operation
  const parameters: OpenAPIV2.Parameters = operation.parameters.map(p => parameterObject(p, 'query'))
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    consumes: body === undefined ? ['*/*'] : [...body.mediaTypes],
    produces: operation.action === 'list' ? [...objectMediaTypes, ...watchMediaTypes] : [...objectMediaTypes],
    schemes: ['https'],
    parameters: body === undefined ? parameters : [bodyParameter(body.definition, operation), ...parameters],
    responses: {
      ...Object.fromEntries(
        operation.codes.map(code => [
          code,
          { description: 'OK', schema: referenceObject(operation.response) },
        ]),
      ),
      401: { description: 'Unauthorized' },
    },
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.gvk,
  }
}

function bodyParameter(definition: string, { method }: Operation): OpenAPIV2.InBodyParameterObject {
  return { in: 'body', name: 'body', required: method !== 'delete', schema: referenceObject(definition) }
}

function parameterObject(
  { name, description, type }: Parameter,
  place: string,
): OpenAPIV2.GeneralParameterObject {
  return { name, in: place, description, type, uniqueItems: true }
}

function referenceObject(definition: string): OpenAPIV2.ReferenceObject {
  return { $ref: `#/definitions/${definition}` }
}

function definitionsOf(definitions: Definitions): OpenAPIV2.DefinitionsObject {
  return Object.fromEntries(
    Object.entries(definitions)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [name, schemaObject(schema)]),
  )
}

function inPlace({ ref, description }: Reference): OpenAPIV2.SchemaObject {
  return { ...(description === undefined ? {} : { description }), ...referenceObject(ref) }
}

function schemaObject(schema: RefSchema | Reference): OpenAPIV2.SchemaObject {
  if ('ref' in schema) return inPlace(schema)
  if (schema['x-kubernetes-int-or-string'] === true) {
    const { description } = schema
    return inPlace({ ref: intOrStringName, ...(description === undefined ? {} : { description }) })
  }
  // Swagger has no nullable.
  const { items, properties, additionalProperties, nullable: _nullable, ...rest } = schema
  const written = {
    ...rest,
    ...(rest.format === 'int-or-string' ? { type: 'string' } : {}),
    ...(items === undefined ? {} : { items: schemaObject(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([n, p]) => [n, schemaObject(p)])) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: schemaObject(additionalProperties) }),
  }
  // RefSchema is a subset of schema objects, but for lists that cannot be changed and the extensions.
  return written as unknown as OpenAPIV2.SchemaObject
}
