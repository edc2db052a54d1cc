/** What the two versions of OpenAPI documents write alike. */
import type { AnyKind } from '../kind.ts'
import { byText } from '../order.ts'
import { servedAt, subresourcesOf } from './discovery.ts'
import {
  answerDefinition,
  type Definitions,
  type GroupVersionKind,
  intOrStringName,
  kindDefinitions,
  metaDefinitions,
  type Reference,
  type RefSchema,
  referredTo,
} from './openapi-definitions.ts'
import { byPath, definitionsOf, type Operation, operationsAt } from './openapi-operations.ts'
import { type Parameter, pathParametersOf } from './openapi-parameters.ts'

/** What Kubernetes adds to an operation. */
export type Extensions = {
  readonly 'x-kubernetes-action': string
  readonly 'x-kubernetes-group-version-kind': GroupVersionKind
}

export const documentInfo = { title: 'Isthmus', version: 'unversioned' } as const

export const bearerToken = {
  type: 'apiKey',
  name: 'authorization',
  in: 'header',
  description: 'A bearer token.',
} as const

type Content = { readonly operations: readonly Operation[]; readonly definitions: Definitions }

/** What a document of these groups and versions holds: all operations, and the definitions that they lead to. */
export function contentOf(
  kinds: readonly AnyKind[],
  versions: readonly { readonly group: string; readonly version: string }[],
): Content {
  const operations = versions.flatMap(({ group, version }) => operationsAt(kinds, group, version))
  const ofKinds = versions.flatMap(({ group, version }) =>
    servedAt(kinds, group, version).map(kind => kindDefinitions(kind, version)),
  )
  const ofSubresources = kinds
    .flatMap(subresourcesOf)
    .flatMap(({ answers }) => (answers === undefined ? [] : [answerDefinition(answers)]))
  const definitions: Definitions = Object.assign({}, ...ofKinds, ...ofSubresources, metaDefinitions(versions))
  return { operations, definitions: referredTo(definitionsOf(operations), definitions) }
}

/** Items by path. `Item` is the document's own type of what stands at a path. */
export function pathsOf<Item>(
  operations: readonly Operation[],
  write: {
    operation(operation: Operation): unknown
    parameter(parameter: Parameter, place: 'path'): object
  },
): Record<string, Item> {
  return Object.fromEntries(
    [...byPath(operations)].map(([path, at]) => {
      const parameters = pathParametersOf(path).map(p => ({ ...write.parameter(p, 'path'), required: true }))
      const item = {
        ...(parameters.length === 0 ? {} : { parameters }),
        ...Object.fromEntries(at.map(o => [o.method, write.operation(o)])),
      }
      // Methods and their operations, and the parameters of the path, make an item in both versions.
      return [path, item as Item]
    }),
  )
}

/** How a version writes what it does not write like the other. */
export type SchemaForm = {
  inPlace(reference: Reference): object
  /** What is written beside, or instead of, the keywords of a schema itself. */
  own(schema: RefSchema): Readonly<Record<string, unknown>>
}

/** Definitions by name, sorted. `Schema` is the document's own type of a schema. */
export function schemasOf<Schema>(definitions: Definitions, form: SchemaForm): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(definitions)
      .toSorted(([a], [b]) => byText(a, b))
      // A RefSchema has only keywords that schemas have in both versions, and extensions.
      .map(([name, schema]) => [name, writeSchema(schema, form) as Schema]),
  )
}

function writeSchema(schema: RefSchema | Reference, form: SchemaForm): object {
  if ('ref' in schema) return form.inPlace(schema)
  if (schema['x-kubernetes-int-or-string'] === true) {
    const { description } = schema
    return form.inPlace({ ref: intOrStringName, ...(description === undefined ? {} : { description }) })
  }
  const { items, properties, additionalProperties, ...rest } = schema
  return {
    ...rest,
    ...form.own(schema),
    ...(items === undefined ? {} : { items: writeSchema(items, form) }),
    ...(properties === undefined ? {} : { properties: writeProperties(properties, form) }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: writeSchema(additionalProperties, form) }),
  }
}

function writeProperties(
  properties: Readonly<Record<string, RefSchema | Reference>>,
  form: SchemaForm,
): Record<string, object> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, writeSchema(property, form)]),
  )
}

/** The one definition that is a number or a string. */
export function isIntOrString(schema: RefSchema): boolean {
  return schema.format === 'int-or-string'
}
