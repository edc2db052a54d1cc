/** From what a decoder answered to an object whose metadata has the types it should have. */
import { badRequest } from '../../kernel/errors.ts'
import type { AnyKind } from '../kind.ts'
import type { KubeObject } from '../meta.ts'
import { objectMetaSchema } from '../meta-schema.ts'
import { isRecord, type JsonRecord, setEntry } from '../record.ts'
import type { JsonSchema } from '../schema.ts'
import { compileDefaults } from './defaults.ts'
import { isDateTime } from './formats.ts'
import { compileCheck, maxOwnedItems } from './structural.ts'
import { Walk } from './visit.ts'

const withoutNulls = compileDefaults(objectMetaSchema.json, 'empty')
const check = compileCheck(objectMetaSchema.json)

/**
 * The decoded document as an object of a kind, at a version. Metadata that is absent or null is empty, its nulls count
 * as not given. Throws BadRequest when a part of metadata has a wrong type. All else is left to `validateSchema`.
 * Metadata that is the very same in an object that is `proven` needs no look.
 */
export function toObject(
  kind: AnyKind,
  version: string,
  document: JsonRecord,
  proven?: KubeObject,
): KubeObject {
  // It has passed the check below.
  if (proven !== undefined && document.metadata === proven.metadata) return document as KubeObject
  const sent = document.metadata ?? {}
  const metadata = isRecord(sent) ? withoutNulls?.(sent, proven?.metadata) : sent
  const walk = new Walk()
  check(
    isRecord(metadata) && proven !== undefined ? changedFields(metadata, proven.metadata) : metadata,
    walk,
  )
  if (walk.errors.length > 0) {
    // Parts of an owner reference that are missing are empty to Go, and refused with all else that is empty.
    const why = goTypeError(objectMetaSchema.json, metadata, '')
    if (why !== undefined) throw badRequest(cannotBeHandled(kind, version, why))
  }
  const crowded = crowdedList(metadata)
  if (crowded !== undefined) throw badRequest(cannotBeHandled(kind, version, crowded))
  // The check has just shown that metadata has its type; a name is asked for by validateMetadata.
  return (metadata === document.metadata ? document : { ...document, metadata }) as KubeObject
}

/** None is required, so that the others can be left out. */
function changedFields(metadata: JsonRecord, proven: JsonRecord): JsonRecord {
  const changed: Record<string, unknown> = {}
  for (const name of Object.keys(metadata))
    if (metadata[name] !== proven[name]) setEntry(changed, name, metadata[name])
  return changed
}

function crowdedList(metadata: unknown): string | undefined {
  if (!isRecord(metadata)) return undefined
  for (const name of ['finalizers', 'ownerReferences']) {
    const { [name]: list } = metadata
    if (Array.isArray(list) && list.length > maxOwnedItems)
      return `metadata.${name}: must have at most ${maxOwnedItems} items`
  }
  return undefined
}

/** The sentence that a kube-apiserver puts around a decoding error. */
export function cannotBeHandled(kind: AnyKind, version: string, why: string): string {
  return `${kind.kind} in version "${version}" cannot be handled as a ${kind.kind}: ${why}`
}

/** The first thing that Go's decoder would refuse, in its words. `path` has no indices and no map keys. */
function goTypeError(schema: JsonSchema, value: unknown, path: string): string | undefined {
  const got = goKind(value)
  const fraction = schema.type === 'integer' && typeof value === 'number' && !Number.isSafeInteger(value)
  if (fraction || got !== wantedGoKind(schema)) {
    const place =
      path === ''
        ? 'Go value of type v1.ObjectMeta'
        : `Go struct field ObjectMeta.${path} of type ${goType(schema)}`
    return `json: cannot unmarshal ${fraction ? `number ${String(value)}` : got} into ${place}`
  }
  if (schema.format === 'date-time' && typeof value === 'string' && !isDateTime(value)) {
    return `parsing time ${JSON.stringify(value)} as "2006-01-02T15:04:05Z07:00": cannot parse it as RFC 3339`
  }
  return goTypeErrorWithin(schema, value, path)
}

function goTypeErrorWithin(schema: JsonSchema, value: unknown, path: string): string | undefined {
  if (Array.isArray(value)) return firstOf(value, item => goTypeError(schema.items ?? {}, item, path))
  if (!isRecord(value)) return undefined
  if (schema.additionalProperties !== undefined) {
    const values = schema.additionalProperties
    return firstOf(Object.values(value), inner => goTypeError(values, inner, path))
  }
  return firstOf(Object.entries(schema.properties ?? {}), ([name, field]) =>
    value[name] === undefined
      ? undefined
      : goTypeError(field, value[name], path === '' ? name : `${path}.${name}`),
  )
}

function firstOf<T>(items: readonly T[], find: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item)
    if (found !== undefined) return found
  }
  return undefined
}

function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  if (typeof value === 'bigint') return 'number'
  return typeof value === 'boolean' ? 'bool' : typeof value
}

function wantedGoKind(schema: JsonSchema): string {
  if (schema.type === 'integer') return 'number'
  return schema.type === 'boolean' ? 'bool' : (schema.type ?? 'object')
}

function goType(schema: JsonSchema): string {
  const { type, format, items = {}, additionalProperties } = schema
  if (type === 'string') return format === 'date-time' ? 'v1.Time' : 'string'
  if (type === 'integer') return format ?? 'int64'
  if (type === 'boolean') return 'bool'
  if (type === 'array') return `[]${goType(items)}`
  return additionalProperties === undefined ? 'struct' : `map[string]${goType(additionalProperties)}`
}
