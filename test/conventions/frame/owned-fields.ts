/**
 * Which fields a manager owns that applies an object, worked out from the schema alone: a second opinion beside the
 * server's. https://kubernetes.io/docs/reference/using-api/server-side-apply/#merge-strategy
 */
import { byText } from '../../../src/api/order.ts'
import type { JsonSchema } from '../../../src/api/schema.ts'

export type Fields = { [element: string]: Fields }

/** The `fieldsV1` of an applied value; `.` for items of keyed lists, nothing else is owned beside its parts. */
export function appliedFields(schema: JsonSchema, value: unknown): Fields {
  if (Array.isArray(value)) return listFields(schema, value)
  if (typeof value !== 'object' || value === null || isWhole(schema)) return {}
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      const below = schema.properties?.[name] ?? schema.additionalProperties ?? open
      return [`f:${name}`, appliedFields(below, field)]
    }),
  )
}

/** Where the schema says nothing, objects are owned key by key and lists as a whole. */
const open: JsonSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }

function isWhole(schema: JsonSchema): boolean {
  return schema['x-kubernetes-map-type'] === 'atomic' || schema['x-kubernetes-int-or-string'] === true
}

function listFields(schema: JsonSchema, items: readonly unknown[]): Fields {
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'set') return Object.fromEntries(items.map(item => [`v:${JSON.stringify(item)}`, {}]))
  if (listType !== 'map') return {}
  const { properties = {} } = schema.items ?? {}
  const keys = (schema['x-kubernetes-list-map-keys'] ?? []).toSorted(byText)
  return Object.fromEntries(
    items.map(item => {
      // Items of a keyed list are objects.
      const record = item as Readonly<Record<string, unknown>>
      const key = Object.fromEntries(keys.map(name => [name, record[name] ?? properties[name]?.default]))
      const parts = appliedFields(schema.items ?? {}, item)
      // An item that is owned as a whole has nothing beside itself.
      return [`k:${JSON.stringify(key)}`, isWhole(schema.items ?? {}) ? {} : { '.': {}, ...parts }]
    }),
  )
}
