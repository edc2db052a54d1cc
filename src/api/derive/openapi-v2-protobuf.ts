/**
 * The OpenAPI v2 document as a protocol buffer: kubectl before 1.29 asks for no other form, and `kubectl explain` fails
 * without it. Field numbers are those of gnostic's OpenAPIv2.proto.
 */
import type { OpenapiV2Document } from './openapi-v2.ts'
import {
  asYaml,
  double,
  encodeMessage,
  type FieldWriter,
  flag,
  integer,
  type Message,
  named,
  nested,
  repeated,
  text,
  wrapped,
} from './protobuf.ts'

/** The media type of the document, as answers spell it. */
export const openapiV2ProtobufMediaType = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'

export function openapiV2Protobuf(document: OpenapiV2Document): Buffer {
  return encodeMessage(documentMessage, document)
}

const schema = nested(() => schemaMessage)
const texts = repeated(text)

const schemaMessage: Message = {
  fields: {
    $ref: [1, text],
    format: [2, text],
    description: [4, text],
    default: [5, asYaml],
    maximum: [7, double],
    minimum: [9, double],
    maxLength: [11, integer],
    minLength: [12, integer],
    pattern: [13, text],
    maxItems: [14, integer],
    minItems: [15, integer],
    required: [19, texts],
    enum: [20, repeated(asYaml)],
    additionalProperties: [21, wrapped(1, schema)],
    type: [22, wrapped(1, texts)],
    items: [23, wrapped(1, schema)],
    properties: [25, wrapped(1, named(schema))],
  },
  extensions: 31,
}

const bodyParameter: Message = {
  fields: {
    description: [1, text],
    name: [2, text],
    in: [3, text],
    required: [4, flag],
    schema: [5, schema],
  },
}
const queryParameter: Message = {
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [6, text],
    uniqueItems: [20, flag],
  },
}
const pathParameter: Message = {
  fields: {
    required: [1, flag],
    in: [2, text],
    description: [3, text],
    name: [4, text],
    type: [5, text],
    uniqueItems: [19, flag],
  },
}

/** `ParametersItem { Parameter { body | NonBodyParameter { query | path } } }`. */
const parameter: FieldWriter = (number, value) => {
  const place = typeof value === 'object' && value !== null && 'in' in value ? value.in : ''
  if (place === 'body')
    return wrapped(
      1,
      wrapped(
        1,
        nested(() => bodyParameter),
      ),
    )(number, value)
  const [inner, message] = place === 'path' ? [4, pathParameter] : [3, queryParameter]
  return wrapped(
    1,
    wrapped(
      2,
      wrapped(
        inner,
        nested(() => message),
      ),
    ),
  )(number, value)
}

const response: Message = { fields: { description: [1, text], schema: [2, wrapped(1, schema)] } }

/** `Responses { NamedResponseValue { name, ResponseValue { Response } } }`. */
const responsesField: FieldWriter = (number, value) =>
  wrapped(
    1,
    named(
      wrapped(
        1,
        nested(() => response),
      ),
    ),
  )(number, value)

const operation = nested(() => operationMessage)
const operationMessage: Message = {
  fields: {
    tags: [1, texts],
    description: [3, text],
    operationId: [5, text],
    produces: [6, texts],
    consumes: [7, texts],
    parameters: [8, repeated(parameter)],
    responses: [9, responsesField],
    schemes: [10, texts],
  },
  extensions: 13,
}

const pathItem: Message = {
  fields: {
    get: [2, operation],
    put: [3, operation],
    post: [4, operation],
    delete: [5, operation],
    patch: [8, operation],
    parameters: [9, repeated(parameter)],
  },
}

const info: Message = { fields: { title: [1, text], version: [2, text] } }

const documentMessage: Message = {
  fields: {
    swagger: [1, text],
    info: [2, nested(() => info)],
    paths: [8, wrapped(2, named(nested(() => pathItem)))],
    definitions: [9, wrapped(1, named(schema))],
  },
}
