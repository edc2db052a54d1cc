/** The OpenAPI v2 document of all groups, which an aggregator merges with those of other servers. */
import type { OpenAPIV2 } from 'openapi-types'
import type { AnyKind } from '../kind.ts'
import { groupsOf, versionsOf } from './discovery.ts'
import type { Reference } from './openapi-definitions.ts'
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

export type OpenapiV2Document = OpenAPIV2.Document<Extensions>

export function openapiV2(kinds: readonly AnyKind[]): OpenapiV2Document {
  const groups = [...(kinds.some(k => k.group === '') ? [''] : []), ...groupsOf(kinds)]
  const versions = groups.flatMap(group => versionsOf(kinds, group).map(version => ({ group, version })))
  const { operations, definitions } = contentOf(kinds, versions)
  return {
    swagger: '2.0',
    info: documentInfo,
    paths: pathsOf(operations, { operation: operationObject, parameter: parameterObject }),
    definitions: schemasOf(definitions, form),
    securityDefinitions: { BearerToken: bearerToken },
    security: [{ BearerToken: [] }],
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
    produces: [...operation.produces],
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

const form: SchemaForm = {
  inPlace: ({ ref, description }: Reference) => ({
    ...(description === undefined ? {} : { description }),
    ...referenceObject(ref),
  }),
  // Swagger has no nullable and no value of two types.
  own: schema => ({
    ...(schema.nullable === undefined ? {} : { nullable: undefined }),
    ...(isIntOrString(schema) ? { type: 'string' } : {}),
  }),
}
