/** OpenAPI v3 documents, one for each group and version, as kubectl and the aggregator read them. */
import type { OpenAPIV3 } from 'openapi-types'
import type { AnyKind } from '../kind.ts'
import { servedAt } from './discovery.ts'
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

export type OpenapiV3Document = OpenAPIV3.Document<Extensions>

/** The document of a group and version; undefined when nothing is served there. */
export function openapiV3(
  kinds: readonly AnyKind[],
  group: string,
  version: string,
): OpenapiV3Document | undefined {
  const served = servedAt(kinds, group, version)
  if (served.length === 0) return undefined
  const paths = byPath(operationsAt(kinds, group, version))
  return {
    openapi: '3.0.0',
    info: { title: 'Isthmus', version: 'unversioned' },
    paths: Object.fromEntries([...paths].map(([path, operations]) => [path, pathItem(path, operations)])),
    components: {
      schemas: schemasOf({
        ...Object.assign({}, ...served.map(kind => kindDefinitions(kind, version))),
        ...metaDefinitions([{ group, version }]),
      }),
      securitySchemes: {
        BearerToken: {
          type: 'apiKey',
          name: 'authorization',
          in: 'header',
          description: 'A bearer token.',
        },
      },
    },
  }
}

/** The key of a document in the index at `/openapi/v3`. */
export function openapiV3Key(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function pathItem(path: string, operations: readonly Operation[]): OpenAPIV3.PathItemObject<Extensions> {
  const parameters = pathParametersOf(path).map(p => ({ ...parameterObject(p, 'path'), required: true }))
  return {
    ...(parameters.length === 0 ? {} : { parameters }),
    ...Object.fromEntries(operations.map(o => [o.method, operationObject(o)])),
  }
}

function operationObject(operation: Operation): OpenAPIV3.OperationObject<Extensions> {
  const { body } = operation
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    // kubectl looks for fieldValidation here, not among the parameters of the path.
    parameters: operation.parameters.map(p => parameterObject(p, 'query')),
    ...(body === undefined ? {} : { requestBody: { content: content(body.mediaTypes, body.definition) } }),
    responses: responsesOf(operation),
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.gvk,
  }
}

function responsesOf(operation: Operation): OpenAPIV3.ResponsesObject {
  const types = operation.action === 'list' ? [...objectMediaTypes, ...watchMediaTypes] : objectMediaTypes
  const answered = operation.codes.map(
    code =>
      [String(code), { description: describe(code), content: content(types, operation.response) }] as const,
  )
  return { ...Object.fromEntries(answered), 401: { description: 'Unauthorized' } }
}

function describe(code: number): string {
  return code === 200 ? 'OK' : code === 201 ? 'Created' : 'Accepted'
}

function content(types: readonly string[], definition: string): Record<string, OpenAPIV3.MediaTypeObject> {
  return Object.fromEntries(types.map(type => [type, { schema: referenceObject(definition) }]))
}

function parameterObject({ name, description, type }: Parameter, place: string): OpenAPIV3.ParameterObject {
  return { name, in: place, description, schema: { type, uniqueItems: true } }
}

function referenceObject(definition: string): OpenAPIV3.ReferenceObject {
  return { $ref: `#/components/schemas/${definition}` }
}

function schemasOf(definitions: Definitions): Record<string, OpenAPIV3.SchemaObject> {
  return Object.fromEntries(
    Object.entries(definitions)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, schema]) => [name, schemaObject(schema)]),
  )
}

function schemaObject(schema: RefSchema | Reference): OpenAPIV3.SchemaObject {
  if ('ref' in schema) return inPlace(schema)
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString(schema)
  const { items, properties, additionalProperties, ...rest } = schema
  const written = {
    ...rest,
    ...(isIntOrString(rest) ? { oneOf: [{ type: 'integer' }, { type: 'string' }] } : {}),
    ...(items === undefined ? {} : { items: schemaObject(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([n, p]) => [n, schemaObject(p)])) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: schemaObject(additionalProperties) }),
  }
  // RefSchema is a subset of schema objects, but for lists that cannot be changed and the extensions.
  return written as unknown as OpenAPIV3.SchemaObject
}

function intOrString({ description }: RefSchema): OpenAPIV3.SchemaObject {
  return inPlace({ ref: intOrStringName, ...(description === undefined ? {} : { description }) })
}

function isIntOrString({ format }: RefSchema): boolean {
  return format === 'int-or-string'
}

/** What stands beside a $ref is not read, so a description needs a schema around it. */
function inPlace({ ref, description }: Reference): OpenAPIV3.SchemaObject {
  return {
    ...(description === undefined ? {} : { description }),
    ...(ref === intOrStringName ? {} : { default: {} }),
    allOf: [referenceObject(ref)],
  }
}
