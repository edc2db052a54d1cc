/** OpenAPI v3 documents, one for each group and version, as kubectl and the aggregator read them. */
import type { OpenAPIV3 } from 'openapi-types'
import type { AnyKind } from '../kind.ts'
import { servedAt } from './discovery.ts'
import { intOrStringName, type Reference } from './openapi-definitions.ts'
import {
  bearerToken,
  contentOf,
  documentInfo,
  type Extensions,
  isIntOrString,
  pathsOf,
  type SchemaForm,
  schemasOf,
} from './openapi-form.ts'
import type { Operation } from './openapi-operations.ts'
import type { Parameter } from './openapi-parameters.ts'

export type OpenapiV3Document = OpenAPIV3.Document<Extensions>

/** The document of a group and version; undefined when nothing is served there. */
export function openapiV3(
  kinds: readonly AnyKind[],
  group: string,
  version: string,
): OpenapiV3Document | undefined {
  if (servedAt(kinds, group, version).length === 0) return undefined
  const { operations, definitions } = contentOf(kinds, [{ group, version }])
  return {
    openapi: '3.0.0',
    info: documentInfo,
    paths: pathsOf(operations, { operation: operationObject, parameter: parameterObject }),
    components: {
      schemas: schemasOf(definitions, form),
      securitySchemes: { BearerToken: bearerToken },
    },
  }
}

/** The key of a document in the index at `/openapi/v3`. */
export function openapiV3Key(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function operationObject(operation: Operation): OpenAPIV3.OperationObject<Extensions> {
  const { body } = operation
  return {
    tags: [operation.tag],
    description: operation.description,
    operationId: operation.id,
    // kubectl looks for fieldValidation here, not among the parameters of the path.
    parameters: operation.parameters.map(p => parameterObject(p, 'query')),
    ...(body === undefined ? {} : { requestBody: requestBody(body, operation) }),
    responses: responsesOf(operation),
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.gvk,
  }
}

function requestBody(
  body: NonNullable<Operation['body']>,
  { method }: Operation,
): OpenAPIV3.RequestBodyObject {
  const required = method === 'delete' ? {} : { required: true }
  return { content: content(body.mediaTypes, body.definition), ...required }
}

function responsesOf(operation: Operation): OpenAPIV3.ResponsesObject {
  const answered = operation.codes.map(
    code =>
      [
        String(code),
        { description: describe(code), content: content(operation.produces, operation.response) },
      ] as const,
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

const form: SchemaForm = {
  // What stands beside a $ref is not read, so a description needs a schema around it.
  inPlace: ({ ref, description }: Reference) => ({
    ...(description === undefined ? {} : { description }),
    ...(ref === intOrStringName ? {} : { default: {} }),
    allOf: [referenceObject(ref)],
  }),
  own: schema => (isIntOrString(schema) ? { oneOf: [{ type: 'integer' }, { type: 'string' }] } : {}),
}
