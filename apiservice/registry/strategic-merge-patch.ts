/**
 * Strategic merge patch (k8s.io/apimachinery `strategicpatch`): a merge patch in which lists merge by the keys that the
 * schema names, and which may carry directives: `$patch`, `$retainKeys`, `$deleteFromPrimitiveList/<field>` and
 * `$setElementOrder/<field>`.
 */
import { isRecord, type JsonRecord } from '../../src/api/record.ts'
import type { JsonSchema } from '../../src/api/schema.ts'
import { badRequest } from '../../src/kernel/errors.ts'
import { ordered, placesOf } from './element-order.ts'

const directive = '$patch'
const retainKeys = '$retainKeys'
const deletion = '$deleteFromPrimitiveList/'
const order = '$setElementOrder/'

/** Changes neither document. Throws 400 for a directive that is none, and for list items without their merge key. */
export function strategicMergePatch(original: JsonRecord, patch: JsonRecord, schema: JsonSchema): JsonRecord {
  switch (patch[directive]) {
    case undefined:
    case 'merge':
      return merge(retained(original, patch), patch, schema)
    case 'replace':
      return merge({}, patch, schema)
    case 'delete':
      return {}
    default:
      throw badRequest(`unknown patch type: ${String(patch[directive])}`)
  }
}

function merge(original: JsonRecord, patch: JsonRecord, schema: JsonSchema): JsonRecord {
  const merged = new Map(Object.entries(original))
  for (const field of fieldsOf(patch)) {
    const value = Object.hasOwn(patch, field) ? patch[field] : undefined
    if (value === null) merged.delete(field)
    else {
      const next = fieldValue(merged.get(field), value, { field, patch, schema: schemaOf(schema, field) })
      if (next !== undefined) merged.set(field, next)
    }
  }
  return Object.fromEntries(merged)
}

/** The fields that a patch speaks of, by value or by directive. */
function fieldsOf(patch: JsonRecord): ReadonlySet<string> {
  const fields = new Set<string>()
  for (const key of Object.keys(patch)) {
    if (key.startsWith(deletion)) fields.add(key.slice(deletion.length))
    else if (key.startsWith(order)) fields.add(key.slice(order.length))
    else if (key !== directive && key !== retainKeys) fields.add(key)
  }
  return fields
}

function schemaOf(schema: JsonSchema, field: string): JsonSchema {
  const { properties = {} } = schema
  const known = Object.hasOwn(properties, field) ? properties[field] : undefined
  return known ?? schema.additionalProperties ?? {}
}

type Field = { readonly field: string; readonly patch: JsonRecord; readonly schema: JsonSchema }

function fieldValue(before: unknown, value: unknown, field: Field): unknown {
  if (isRecord(value)) return strategicMergePatch(isRecord(before) ? before : {}, value, field.schema)
  const strategy = field.schema['x-kubernetes-patch-strategy']?.split(',') ?? []
  const isMerged = strategy.includes('merge') && (value === undefined || Array.isArray(value))
  if (!isMerged) return value ?? before
  return before === undefined && value === undefined ? undefined : mergeList(before, value, field)
}

function mergeList(
  before: unknown,
  items: readonly unknown[] | undefined,
  { field, patch, schema }: Field,
): unknown {
  const list: List = {
    before: Array.isArray(before) ? before : [],
    items: items ?? [],
    removed: listDirective(patch, deletion + field),
    order: listDirective(patch, order + field),
  }
  const mergeKey = schema['x-kubernetes-patch-merge-key']
  return mergeKey === undefined ? mergeScalars(list) : mergeItems(list, mergeKey, schema.items ?? {})
}

type List = {
  readonly before: readonly unknown[]
  readonly items: readonly unknown[]
  readonly removed: readonly unknown[] | undefined
  readonly order: readonly unknown[] | undefined
}

function listDirective(patch: JsonRecord, name: string): readonly unknown[] | undefined {
  const value = patch[name]
  if (value === undefined || value === null) return undefined
  if (!Array.isArray(value)) throw badRequest(`${name} must be a list`)
  return value
}

function mergeScalars({ before, items, removed = [], order }: List): readonly unknown[] {
  const gone = new Set(removed)
  const merged = new Set([...before.filter(item => !gone.has(item)), ...items])
  return ordered([...merged], { before, wanted: order ?? items, keyOf: item => item })
}

/** Of items that share a key the first is meant. Items with `$patch: delete` take out, one with `$patch: replace` makes the others all there is. */
function mergeItems(
  { before, items, order }: List,
  mergeKey: string,
  schema: JsonSchema,
): readonly unknown[] {
  const keyOf = (item: unknown): unknown => keyIn(item, mergeKey)
  const patches = items.map(toItem)
  const replaces = patches.some(item => item[directive] === 'replace')
  const gone = new Set(patches.filter(item => item[directive] === 'delete').map(keyOf))
  const merged: unknown[] = replaces ? [] : before.filter(item => !gone.has(keyOf(item)))
  const places = placesOf(merged, keyOf)
  const wanted = patches.filter(item => item[directive] !== 'delete' && item[directive] !== 'replace')
  for (const item of wanted) {
    const place = places.get(keyOf(item)) ?? merged.length
    places.set(keyOf(item), place)
    const known = merged[place]
    merged[place] = strategicMergePatch(isRecord(known) ? known : {}, item, schema)
  }
  return ordered(merged, { before, wanted: order ?? wanted, keyOf })
}

function toItem(item: unknown): JsonRecord {
  if (!isRecord(item)) throw badRequest('an item of a list that merges by a key must be an object')
  return item
}

function keyIn(item: unknown, mergeKey: string): unknown {
  const key = isRecord(item) ? item[mergeKey] : undefined
  if (key !== undefined) return key
  throw badRequest(`an item does not contain the declared merge key: ${mergeKey}`)
}

/** `$retainKeys`: of a union, only these are left. */
function retained(original: JsonRecord, patch: JsonRecord): JsonRecord {
  const names = listDirective(patch, retainKeys)
  if (names === undefined) return original
  const kept = new Set(names)
  const stray = [...fieldsOf(patch)].find(field => patch[field] !== null && !kept.has(field))
  if (stray !== undefined) throw badRequest(`${retainKeys} does not name ${stray}, which the patch sets`)
  return Object.fromEntries(Object.entries(original).filter(([key]) => kept.has(key)))
}
