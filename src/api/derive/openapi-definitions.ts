/**
 * The named types of OpenAPI documents: every kind with its list, and what all kinds share. References are by name; the
 * two document versions write them each in its own way.
 */
import type { AnyKind } from '../kind.ts'
import {
  listMetaSchema,
  managedFieldsEntrySchema,
  objectMetaSchema,
  ownerReferenceSchema,
} from '../meta-schema.ts'
import type { JsonSchema } from '../schema.ts'

export type GroupVersionKind = { readonly group: string; readonly kind: string; readonly version: string }

/** Where a schema refers to a definition, with the description of the place. */
export type Reference = { readonly ref: string; readonly description?: string }

/** A schema that may refer to definitions at any depth. */
export type RefSchema = Omit<JsonSchema, 'items' | 'properties' | 'additionalProperties'> & {
  readonly items?: RefSchema | Reference
  readonly properties?: Readonly<Record<string, RefSchema | Reference>>
  readonly additionalProperties?: RefSchema | Reference
  readonly 'x-kubernetes-group-version-kind'?: readonly GroupVersionKind[]
}

export type Definitions = Readonly<Record<string, RefSchema>>

export const metaName = (type: string) => `io.k8s.apimachinery.pkg.apis.meta.v1.${type}`

/** A value that is a number or a string. */
export const intOrStringName = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString'

/** The name of a kind's definition: the group's domain from the right, version and kind. */
export function definitionName(kind: AnyKind, version: string): string {
  const prefix = kind.group.includes('.')
    ? kind.group.split('.').toReversed().join('.')
    : `io.k8s.api.${kind.group || 'core'}`
  return `${prefix}.${version}.${kind.kind}`
}

const apiVersion: RefSchema = {
  type: 'string',
  description:
    'Group and version of the schema that this object is written in, as multicluster.x-k8s.io/v1beta1.',
}
const kindName: RefSchema = {
  type: 'string',
  description: 'Name of the type of this object, in CamelCase. Cannot be changed.',
}

/** The definitions of a kind and of its list, at a version. */
export function kindDefinitions(kind: AnyKind, version: string): Definitions {
  const name = definitionName(kind, version)
  return {
    [name]: objectDefinition(kind, version),
    ...(kind.storage === 'review' ? {} : { [`${name}List`]: listDefinition(kind, version) }),
  }
}

/** The definition of what a subresource shows, which has no lists. */
export function answerDefinition(kind: AnyKind): Definitions {
  const [{ name }] = kind.versions
  return { [definitionName(kind, name)]: objectDefinition(kind, name) }
}

function objectDefinition(kind: AnyKind, version: string): RefSchema {
  const { group } = kind
  return {
    ...kind.schema,
    description: kind.description,
    properties: {
      apiVersion,
      kind: kindName,
      metadata: {
        ref: metaName('ObjectMeta'),
        description: 'Name, labels and all else that every object has.',
      },
      ...kind.schema.properties,
    },
    'x-kubernetes-group-version-kind': [{ group, kind: kind.kind, version }],
  }
}

function listDefinition(kind: AnyKind, version: string): RefSchema {
  return {
    type: 'object',
    description: `A list of ${kind.plural}.`,
    required: ['items'],
    properties: {
      apiVersion,
      items: {
        type: 'array',
        description: `The ${kind.plural}.`,
        items: { ref: definitionName(kind, version) },
      },
      kind: kindName,
      metadata: { ref: metaName('ListMeta'), description: 'What every list has.' },
    },
    'x-kubernetes-group-version-kind': [{ group: kind.group, kind: `${kind.kind}List`, version }],
  }
}

const text = (description: string): RefSchema => ({ type: 'string', description })
const number = (description: string, format = 'int32'): RefSchema => ({
  type: 'integer',
  format,
  description,
})

/** The definitions that kinds share. Options carry every group and version that takes them. */
export function metaDefinitions(
  versions: readonly { readonly group: string; readonly version: string }[],
): Definitions {
  const optionsOf = (kind: string) => versions.map(({ group, version }) => ({ group, kind, version }))
  return {
    [metaName('ObjectMeta')]: objectMeta,
    [metaName('OwnerReference')]: ownerReferenceSchema.json,
    [metaName('ManagedFieldsEntry')]: managedFieldsEntrySchema.json,
    [metaName('ListMeta')]: listMetaSchema.json,
    [metaName('Patch')]: {
      type: 'object',
      description: 'A patch, in one of the formats that the Content-Type header names.',
    },
    [metaName('DeleteOptions')]: {
      ...deleteOptions,
      'x-kubernetes-group-version-kind': optionsOf('DeleteOptions'),
    },
    [metaName('Preconditions')]: preconditions,
    [intOrStringName]: { format: 'int-or-string', description: 'A number or a string.' },
    ...statusDefinitions,
  }
}

const objectMeta: RefSchema = {
  ...objectMetaSchema.json,
  properties: {
    ...objectMetaSchema.json.properties,
    ownerReferences: {
      ...objectMetaSchema.json.properties?.ownerReferences,
      items: { ref: metaName('OwnerReference') },
    },
    managedFields: {
      ...objectMetaSchema.json.properties?.managedFields,
      items: { ref: metaName('ManagedFieldsEntry') },
    },
  },
}

const deleteOptions: RefSchema = {
  type: 'object',
  description: 'How an object is deleted.',
  properties: {
    apiVersion,
    dryRun: {
      type: 'array',
      items: { type: 'string' },
      'x-kubernetes-list-type': 'atomic',
      description: 'All: nothing is deleted, the answer is what it would be.',
    },
    gracePeriodSeconds: number('Seconds that the object has to end by itself; 0 deletes at once.', 'int64'),
    kind: kindName,
    orphanDependents: {
      type: 'boolean',
      description: 'Older form of propagationPolicy: whether dependents stay. Not both.',
    },
    preconditions: { ref: metaName('Preconditions'), description: 'What must hold of the object.' },
    propagationPolicy: text(
      'What becomes of dependents: Orphan leaves them, Background deletes them after the object, Foreground before it.',
    ),
  },
}

const preconditions: RefSchema = {
  type: 'object',
  description: 'What must hold of an object before it is deleted.',
  properties: {
    resourceVersion: text('It has this resourceVersion.'),
    uid: text('It has this UID.'),
  },
}

const statusDefinitions: Definitions = {
  [metaName('Status')]: {
    type: 'object',
    description: 'The answer of a request that has no object to answer with.',
    properties: {
      apiVersion,
      code: number('The HTTP status code.'),
      details: { ref: metaName('StatusDetails'), description: 'More, for programs.' },
      kind: kindName,
      message: text('What happened, for people.'),
      metadata: { ref: metaName('ListMeta'), description: 'What every list has.' },
      reason: text('Why, for programs: one word.'),
      status: text('Success or Failure.'),
    },
    'x-kubernetes-group-version-kind': [{ group: '', kind: 'Status', version: 'v1' }],
  },
  [metaName('StatusDetails')]: {
    type: 'object',
    description: 'What a Status is about.',
    properties: {
      causes: {
        type: 'array',
        items: { ref: metaName('StatusCause') },
        'x-kubernetes-list-type': 'atomic',
        description: 'What was wrong, one entry for each field.',
      },
      group: text('API group of the object.'),
      kind: text('Kind or resource of the object.'),
      name: text('Name of the object.'),
      retryAfterSeconds: number('Seconds after which to try again.'),
      uid: text('UID of the object.'),
    },
  },
  [metaName('StatusCause')]: {
    type: 'object',
    description: 'One thing that was wrong.',
    properties: {
      field: text('The field, as spec.ports[0].name.'),
      message: text('What was wrong with it, for people.'),
      reason: text('What was wrong with it, for programs.'),
    },
  },
}

/** Those that are referred to by these names, by themselves and by each other. */
export function referredTo(names: readonly string[], definitions: Definitions): Definitions {
  const found = new Set<string>()
  const waiting = [...names]
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const schema = definitions[name]
    if (schema === undefined || found.has(name)) continue
    found.add(name)
    waiting.push(...referencesIn(schema))
  }
  return Object.fromEntries(Object.entries(definitions).filter(([name]) => found.has(name)))
}

function referencesIn(schema: RefSchema | Reference): readonly string[] {
  if ('ref' in schema) return [schema.ref]
  if (schema['x-kubernetes-int-or-string'] === true) return [intOrStringName]
  const { items, properties = {}, additionalProperties } = schema
  return [items, additionalProperties, ...Object.values(properties)]
    .filter(inner => inner !== undefined)
    .flatMap(referencesIn)
}
