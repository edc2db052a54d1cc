/** OpenAPI v3 documents, one for each group and version, as kubectl and the aggregator read them. */
import type { OpenAPIV3 } from 'openapi-types'
import type { AnyKind } from '../kind.ts'
import { servedAt } from './discovery.ts'
import { intOrStringName, kindDefinitions, metaDefinitions, type Reference } from './openapi-definitions.ts'
import {
  bearerToken,
  documentInfo,
  type Extensions,
  isIntOrString,
  pathsOf,
  type SchemaForm,
  schemasOf,
} from './openapi-form.ts'
import { type Operation, operationsAt, type Parameter } from './openapi-operations.ts'

export type OpenapiV3Document = OpenAPIV3.Document<Extensions>

/** The document of a group and version; undefined when nothing is served there. */
export function openapiV3(
  kinds: readonly AnyKind[],
  group: string,
  version: string,
): OpenapiV3Document | undefined {
  const served = servedAt(kinds, group, version)
  if (served.length === 0) return undefined
  return {
    openapi: '3.0.0',
    info: documentInfo,
    paths: pathsOf(operationsAt(kinds, group, version), {
      operation: operationObject,
      parameter: parameterObject,
    }),
    components: {
      schemas: schemasOf(
        {
          ...Object.assign({}, ...served.map(kind => kindDefinitions(kind, version))),
          ...metaDefinitions([{ group, version }]),
        },
        form,
      ),
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
    ...(body === undefined ? {} : { requestBody: { content: content(body.mediaTypes, body.definition) } }),
    responses: responsesOf(operation),
    'x-kubernetes-action': operation.action,
    'x-kubernetes-group-version-kind': operation.gvk,
  }
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
