/** What of a configuration is not of the type that the schema says, in the words of structured-merge-diff. */
import type { AnyKind } from '../kind.ts'
import type { KubeObject } from '../meta.ts'
import { isRecord, type JsonRecord } from '../record.ts'
import type { JsonSchema } from '../schema.ts'
import { fieldShape, itemElement } from './field-paths.ts'
import { elementText, fieldElement, valueElement } from './field-set.ts'
import { type Shape, shapeOf } from './field-shape.ts'
import { maxFaults } from './visit.ts'

/** As `.spec.ports[port=80,protocol="TCP"].nodePort: expected numeric (int or float), got string`. At most 100. */
export function typeFaults(kind: AnyKind, { metadata: _read, ...applied }: KubeObject): readonly string[] {
  const faults: string[] = []
  visit({ schema: kind.schema, shape: shapeOf(kind), path: '' }, applied, faults)
  return faults.slice(0, maxFaults)
}

type Place = { readonly schema: JsonSchema; readonly shape: Shape; readonly path: string }

/** Null stands for nothing, whatever the type. */
function visit(place: Place, value: unknown, faults: string[]): void {
  const { schema, path } = place
  if (value === null || schema['x-kubernetes-int-or-string'] === true || faults.length >= maxFaults) return
  if (schema.type === 'object') {
    if (isRecord(value)) visitFields(place, value, faults)
    else faults.push(`${path}: expected map, got ${pointed(value)}`)
  } else if (schema.type === 'array') {
    if (Array.isArray(value)) visitItems(place, value, faults)
    else faults.push(`${path}: expected list, got ${pointed(value)}`)
  } else {
    const why = scalarFault(schema, value)
    if (why !== undefined) faults.push(`${path}: ${why}`)
  }
}

function scalarFault({ type }: JsonSchema, value: unknown): string | undefined {
  switch (type) {
    case 'string':
      return typeof value === 'string'
        ? undefined
        : `expected string, got &value.valueUnstructured{Value:${inGo(value)}}`
    case 'boolean':
      return typeof value === 'boolean' ? undefined : `expected boolean, got ${pointed(value)}`
    case 'integer':
    case 'number':
      return typeof value === 'number' || typeof value === 'bigint'
        ? undefined
        : `expected numeric (int or float), got ${goType(value)}`
    case 'array':
    case 'object':
    case undefined:
      break
  }
  return undefined
}

function visitFields({ schema, shape, path }: Place, record: JsonRecord, faults: string[]): void {
  const { properties = {}, additionalProperties } = schema
  for (const name of Object.keys(record)) {
    const inner = Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    if (inner === undefined || isUnchecked(inner, record[name])) continue
    const at = {
      schema: inner,
      shape: fieldShape(shape, name) ?? shape,
      path: path + elementText(fieldElement(name)),
    }
    visit(at, record[name], faults)
  }
}

/** Most values are strings that are to be strings, and need no path. */
function isUnchecked({ type }: JsonSchema, value: unknown): boolean {
  return type === typeof value && type !== 'object'
}

function visitItems({ schema, shape, path }: Place, items: readonly unknown[], faults: string[]): void {
  const { items: inner = {} } = schema
  const isKeyed = shape.type === 'keyed'
  for (const [i, item] of items.entries()) {
    if (isUnchecked(inner, item)) continue
    const why = isKeyed ? itemFault(item) : undefined
    if (why === undefined) {
      const at = path + itemText(shape, item, i)
      visit({ schema: inner, shape: isKeyed ? shape.items : shape, path: at }, item, faults)
    } else {
      faults.push(`${path}: element ${i}: associative list with keys may not have ${why}`)
    }
  }
}

function itemFault(item: unknown): string | undefined {
  if (item === null) return 'a null element'
  return isRecord(item) ? undefined : 'non-map elements'
}

function itemText(shape: Shape, item: unknown, at: number): string {
  if (shape.type === 'keyed') return elementText(itemElement(shape, item))
  return shape.type === 'set' ? elementText(valueElement(item)) : `[${at}]`
}

function goType(value: unknown): string {
  if (typeof value === 'boolean') return 'bool'
  if (Array.isArray(value)) return '[]interface {}'
  return isRecord(value) ? 'map[string]interface {}' : typeof value
}

function pointed(value: unknown): string {
  return `&{${inGo(value)}}`
}

const maxShown = 100

/** A value as Go prints it, when it is short. */
function inGo(value: unknown): string {
  if (Array.isArray(value)) return value.length > maxShown ? '[...]' : `[${value.map(inGo).join(' ')}]`
  if (!isRecord(value)) return String(value).slice(0, maxShown)
  const names = Object.keys(value)
  return names.length > maxShown
    ? 'map[...]'
    : `map[${names.map(name => `${name}:${inGo(value[name])}`).join(' ')}]`
}
