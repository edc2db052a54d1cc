/** The parts that the access reviews of `authorization.k8s.io` share. */
import { type FieldError, invalidValue } from '../kernel/field-error.ts'
import type { ObjectMeta } from './meta.ts'
import { message, type ProtobufFields, pointer } from './protobuf-fields.ts'
import { s } from './schema.ts'

export const authorizationGroup = 'authorization.k8s.io'

const requirement = s.object(
  {
    key: s.optional(s.string({ description: 'The key that is asked about.' })),
    operator: s.optional(s.string({ description: 'In, NotIn, Exists or DoesNotExist.' })),
    values: s.optional(s.atomicList(s.string(), { description: 'The values of In and NotIn.' })),
  },
  { description: 'One requirement of a selector.' },
)

const selector = (what: string) =>
  s.optional(
    s.object(
      {
        rawSelector: s.optional(s.string({ description: 'The selector as a query has it.' })),
        requirements: s.optional(s.atomicList(requirement, { description: 'The selector in parts.' })),
      },
      { description: `Limits the request to objects by their ${what}.` },
    ),
  )

const resourceAttributes = s.object(
  {
    fieldSelector: selector('fields'),
    group: s.optional(s.string({ description: 'API group of the resource; "*" is all.' })),
    labelSelector: selector('labels'),
    name: s.optional(s.string({ description: 'Name of the object; empty for all.' })),
    namespace: s.optional(
      s.string({ description: 'Namespace of the request; empty for all namespaces and for cluster scope.' }),
    ),
    resource: s.optional(s.string({ description: 'The resource, in the plural; "*" is all.' })),
    subresource: s.optional(s.string({ description: 'The subresource; empty for none.' })),
    verb: s.optional(
      s.string({ description: 'get, list, watch, create, update, patch, delete and so on; "*" is all.' }),
    ),
    version: s.optional(s.string({ description: 'API version of the resource; "*" is all.' })),
  },
  { description: 'A request for a resource.' },
)

const nonResourceAttributes = s.object(
  {
    path: s.optional(s.string({ description: 'The path of the request.' })),
    verb: s.optional(s.string({ description: 'The method in lower case.' })),
  },
  { description: 'A request for a path that is no resource.' },
)

export const accessAttributes = {
  nonResourceAttributes: s.optional(nonResourceAttributes),
  resourceAttributes: s.optional(resourceAttributes),
}

const selectorFields: ProtobufFields = {
  rawSelector: 1,
  requirements: message(2, { key: 1, operator: 2, values: 3 }),
}

export const accessFields: ProtobufFields = {
  resourceAttributes: pointer(1, {
    namespace: 1,
    verb: 2,
    group: 3,
    version: 4,
    resource: 5,
    subresource: 6,
    name: 7,
    fieldSelector: pointer(8, selectorFields),
    labelSelector: pointer(9, selectorFields),
  }),
  nonResourceAttributes: pointer(2, { path: 1, verb: 2 }),
}

export const accessStatus = s.optional(
  s.object(
    {
      allowed: s.boolean({ description: 'Whether the request is allowed.' }),
      denied: s.optional(
        s.boolean({ description: 'Whether it is refused whatever others say. Not both with allowed.' }),
      ),
      evaluationError: s.optional(
        s.string({ description: 'What went wrong while the answer was looked for; it may still hold.' }),
      ),
      reason: s.optional(s.string({ description: 'Why.' })),
    },
    { description: 'The answer. Filled by the server.' },
  ),
)

type Attributes = { readonly nonResourceAttributes?: unknown; readonly resourceAttributes?: unknown }

/** One question, not both and not none. */
export function attributesErrors(spec: Attributes): readonly FieldError[] {
  const { resourceAttributes, nonResourceAttributes } = spec
  if ((resourceAttributes === undefined) !== (nonResourceAttributes === undefined)) return []
  const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'
  return [invalidValue('spec', nonResourceAttributes ?? null, why)]
}

/** A question has no name and no labels. */
export function reviewMetadataErrors(metadata: ObjectMeta): readonly FieldError[] {
  const { managedFields: _who, ...rest } = metadata
  return Object.values(rest).some(isSaid) ? [invalidValue('metadata', metadata, 'must be empty')] : []
}

function isSaid(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value)
  return Object.keys(value).length > 0
}
