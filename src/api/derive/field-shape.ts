/**
 * What a schema says about ownership: which values are owned as a whole and which part by part (`x-kubernetes-list-type`,
 * `x-kubernetes-map-type`). Compiled once for each kind.
 */
import { madeOnce } from '../../kernel/made-once.ts'
import type { AnyKind } from '../kind.ts'
import type { KubeObject } from '../meta.ts'
import { objectMetaSchema } from '../meta-schema.ts'
import { byText } from '../order.ts'
import type { JsonRecord } from '../record.ts'
import type { JsonSchema } from '../schema.ts'
import { fieldElement } from './field-set.ts'
import { isOpen } from './visit.ts'

/** `text` is the name as JSON. */
export type ListKey = { readonly name: string; readonly text: string; readonly fallback: unknown }

export type Shape =
  /** Owned as a whole: scalars, atomic lists and maps. */
  | { readonly type: 'whole' }
  /** `rest` is how fields are owned that are not named; absent, they belong to nobody. */
  | { readonly type: 'struct'; readonly fields: ReadonlyMap<string, NamedField>; readonly rest?: Shape }
  | { readonly type: 'map'; readonly values: Shape }
  | { readonly type: 'set' }
  /** `keys` in the order of their names. */
  | { readonly type: 'keyed'; readonly keys: readonly ListKey[]; readonly items: Shape }
  /** Told by the value: objects key by key, all else as a whole. */
  | { readonly type: 'free' }

/** A field that the schema names; `element` is what sets of fields call it, made once. */
export type NamedField = { readonly element: string; readonly shape: Shape }

const whole: Shape = { type: 'whole' }
const free: Shape = { type: 'free' }

/** Fields of metadata that belong to the server and are never owned. */
const unowned: ReadonlySet<string> = new Set([
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
])

/** How objects of a kind are owned; apiVersion and kind are not. */
export const shapeOf: (kind: AnyKind) => Shape = madeOnce((kind: AnyKind): Shape => {
  const properties = Object.entries(kind.schema.properties ?? {})
  const fields = [['metadata', { element: fieldElement('metadata'), shape: metadata }] as const]
  return { type: 'struct', fields: new Map([...fields, ...properties.map(field)]) }
})

const metadata: Shape = {
  type: 'struct',
  fields: new Map(
    Object.entries(objectMetaSchema.json.properties ?? {})
      .filter(([name]) => !unowned.has(name))
      .map(field),
  ),
}

function field([name, schema]: readonly [string, JsonSchema]): readonly [string, NamedField] {
  return [name, { element: fieldElement(name), shape: compileShape(schema) }]
}

function compileShape(schema: JsonSchema): Shape {
  if (schema['x-kubernetes-int-or-string'] === true) return whole
  if (schema.type === 'array') return listShape(schema)
  if (schema.type !== undefined && schema.type !== 'object') return whole
  if (schema['x-kubernetes-map-type'] === 'atomic') return whole
  if (schema.properties !== undefined) {
    const fields = new Map(Object.entries(schema.properties).map(field))
    return isOpen(schema) ? { type: 'struct', fields, rest: free } : { type: 'struct', fields }
  }
  if (schema.additionalProperties === undefined) return free
  return { type: 'map', values: compileShape(schema.additionalProperties) }
}

function listShape(schema: JsonSchema): Shape {
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'set') return { type: 'set' }
  if (listType !== 'map') return whole
  const names = schema['x-kubernetes-list-map-keys'] ?? []
  const keys = names
    .map(name => ({
      name,
      text: JSON.stringify(name),
      fallback: schema.items?.properties?.[name]?.default,
    }))
    .toSorted((a, b) => byText(a.name, b.name))
  return { type: 'keyed', keys, items: compileShape(schema.items ?? {}) }
}

/**
 * What a created object is compared with. The Go types of built-in kinds have a spec and a status even when they are
 * empty, so nobody comes to own these two.
 */
export const emptyOf: (kind: AnyKind) => JsonRecord = madeOnce((kind: AnyKind): JsonRecord => {
  const structs = kind.strategicMergePatch
    ? ['spec', 'status'].filter(name => kind.schema.properties?.[name]?.properties !== undefined)
    : []
  return { metadata: {}, ...Object.fromEntries(structs.map(name => [name, {}])) }
})

/**
 * The part of an object that is owned through an endpoint: status only through `/status` where that exists, and through
 * `/status` nothing else, but for the metadata of kinds that let it in.
 */
export function ownablePart(kind: AnyKind, subresource: string, object: KubeObject): KubeObject {
  if (kind.status === undefined) return object
  const { status, ...rest } = object
  const { apiVersion, kind: name, metadata: meta } = object
  if (subresource !== 'status') return { ...rest, apiVersion, kind: name, metadata: meta }
  return {
    apiVersion,
    kind: name,
    metadata: kind.status.withMetadata ? meta : namesOf(meta),
    ...(status === undefined ? {} : { status }),
  }
}

function namesOf(meta: KubeObject['metadata']): KubeObject['metadata'] {
  const { name, namespace, uid, resourceVersion } = meta
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  }
}
