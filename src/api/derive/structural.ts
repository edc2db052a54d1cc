/**
 * Structural validation with the wording of kube-apiserver. A schema is compiled into closures, one for each node, that
 * look at a value and report to a `Walk`.
 */
import {
  duplicateValue,
  invalidValue,
  notSupported,
  required,
  tooLong,
  tooMany,
  typeInvalid,
} from '../../kernel/field-error.ts'
import { isRecord } from '../record.ts'
import type { JsonSchema } from '../schema.ts'
import { integerRanges, stringFormats } from './formats.ts'
import type { Walk } from './visit.ts'

export type Check = (value: unknown, walk: Walk) => void

export function compileCheck(schema: JsonSchema): Check {
  const check = schema['x-kubernetes-int-or-string'] === true ? checkIntOrString : checkOfType(schema)
  if (schema.nullable !== true) return check
  return (value, walk) => {
    if (value !== null) check(value, walk)
  }
}

const checks: Readonly<Record<NonNullable<JsonSchema['type']>, (schema: JsonSchema) => Check>> = {
  string: stringCheck,
  integer: integerCheck,
  number: numberCheck,
  boolean: () => typeCheck('boolean', value => typeof value === 'boolean'),
  array: listCheck,
  object: objectCheck,
}

function checkOfType(schema: JsonSchema): Check {
  return schema.type === undefined ? anything : checks[schema.type](schema)
}

const anything: Check = () => undefined

/** The name of a value's type in JSON Schema. */
function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  if (isInteger(value)) return 'integer'
  return typeof value
}

function reportType(value: unknown, wanted: string, walk: Walk): void {
  const got = typeName(value)
  const detail = `${walk.inBody()} must be of type ${wanted}: "${got}"`
  walk.report(typeInvalid(walk.at(), got, detail))
}

function typeCheck(wanted: string, holds: (value: unknown) => boolean, then?: Check): Check {
  return (value, walk) => {
    if (!holds(value)) reportType(value, wanted, walk)
    else then?.(value, walk)
  }
}

/** What Go has an integer for: beyond int64 it has floats, which are integers no more. */
function isInteger(value: unknown): boolean {
  return typeof value === 'bigint' || Number.isSafeInteger(value)
}

const checkIntOrString = typeCheck('integer,string', value => typeof value === 'string' || isInteger(value))

// ---- strings ----------------------------------------------------------------------------------------------------

type StringCheck = (value: string, walk: Walk) => boolean

/** The checks run in order; after the first that fails the others would only repeat it. */
function stringCheck(schema: JsonSchema): Check {
  const checks = [
    lengthCheck(schema),
    ...(schema.pattern === undefined ? [] : [patternCheck(schema.pattern)]),
    ...(schema.format === undefined ? [] : [formatCheck(schema.format)]),
    ...(schema.enum === undefined ? [] : [enumCheck(schema.enum)]),
  ]
  return (value, walk) => {
    if (typeof value !== 'string') reportType(value, 'string', walk)
    else for (const check of checks) if (!check(value, walk)) return
  }
}

function lengthCheck({ minLength = 0, maxLength = Number.POSITIVE_INFINITY }: JsonSchema): StringCheck {
  return (value, walk) => {
    if (value.length < minLength) {
      walk.report(
        invalidValue(walk.at(), value, `${walk.inBody()} should be at least ${minLength} chars long`),
      )
      return false
    }
    // Characters outside the BMP are two units each and count once.
    if (value.length <= maxLength || [...value].length <= maxLength) return true
    walk.report(tooLong(walk.at(), `may not be more than ${maxLength} bytes`))
    return false
  }
}

function patternCheck(pattern: string): StringCheck {
  const compiled = new RegExp(pattern, 'u')
  return (value, walk) => {
    if (compiled.test(value)) return true
    walk.report(invalidValue(walk.at(), value, `${walk.inBody()} should match '${pattern}'`))
    return false
  }
}

function formatCheck(format: string): StringCheck {
  const holds = stringFormats.get(format) ?? (() => true)
  return (value, walk) => {
    if (holds(value)) return true
    walk.report(typeInvalid(walk.at(), value, `${walk.inBody()} must be of type ${format}: "${value}"`))
    return false
  }
}

function enumCheck(values: readonly string[]): StringCheck {
  return (value, walk) => {
    if (values.includes(value)) return true
    walk.report(notSupported(walk.at(), value, values))
    return false
  }
}

// ---- numbers ----------------------------------------------------------------------------------------------------

function integerCheck(schema: JsonSchema): Check {
  const [least, greatest] = integerRanges.get(schema.format ?? '') ?? [-Infinity, Infinity]
  return typeCheck(
    'integer',
    isInteger,
    boundsCheck(Math.max(least, schema.minimum ?? least), Math.min(greatest, schema.maximum ?? greatest)),
  )
}

function numberCheck(schema: JsonSchema): Check {
  return typeCheck(
    'number',
    value => typeof value === 'number' || typeof value === 'bigint',
    boundsCheck(schema.minimum ?? -Infinity, schema.maximum ?? Infinity),
  )
}

function boundsCheck(minimum: number, maximum: number): Check {
  return (value, walk) => {
    // Numbers and bigints compare by what they are worth. The type has just been checked.
    const number = value as number | bigint
    if (number < minimum) {
      walk.report(
        invalidValue(walk.at(), value, `${walk.inBody()} should be greater than or equal to ${minimum}`),
      )
    } else if (number > maximum) {
      walk.report(
        invalidValue(walk.at(), value, `${walk.inBody()} should be less than or equal to ${maximum}`),
      )
    }
  }
}

// ---- lists ------------------------------------------------------------------------------------------------------

function listCheck(schema: JsonSchema): Check {
  const item = schema.items === undefined ? undefined : compileCheck(schema.items)
  const count = countCheck(schema)
  const distinct = distinctCheck(schema)
  return (value, walk) => {
    if (!Array.isArray(value)) return reportType(value, 'array', walk)
    const items: readonly unknown[] = value
    count(items, walk)
    if (item !== undefined) {
      for (let i = 0; i < items.length; i++) {
        walk.path.push(i)
        item(items[i], walk)
        walk.path.pop()
      }
    }
    if (items.length > 1) distinct?.(items, walk)
  }
}

/** Items that are told apart are looked for, compared and owned one by one. */
export const maxOwnedItems = 10_000

function mostItems({ 'x-kubernetes-list-type': listType }: JsonSchema): number {
  return listType === 'set' || listType === 'map' ? maxOwnedItems : Number.POSITIVE_INFINITY
}

type ListCheck = (items: readonly unknown[], walk: Walk) => void

function countCheck(schema: JsonSchema): ListCheck {
  const { minItems = 0 } = schema
  const maxItems = Math.min(schema.maxItems ?? Number.POSITIVE_INFINITY, mostItems(schema))
  return (items, walk) => {
    if (items.length > maxItems) walk.report(tooMany(walk.at(), items.length, maxItems))
    else if (items.length < minItems) {
      walk.report(
        invalidValue(walk.at(), items.length, `${walk.inBody()} should have at least ${minItems} items`),
      )
    }
  }
}

function distinctCheck(schema: JsonSchema): ListCheck | undefined {
  const keys = schema['x-kubernetes-list-map-keys'] ?? []
  const listType = schema['x-kubernetes-list-type']
  if (listType === 'set') return distinctBy(item => item)
  if (listType !== 'map') return undefined
  return distinctBy(item => (isRecord(item) ? mapKey(item, keys) : undefined))
}

function mapKey(item: Readonly<Record<string, unknown>>, keys: readonly string[]): unknown {
  const present = keys.filter(key => item[key] !== undefined)
  return Object.fromEntries(present.map(key => [key, item[key]]))
}

function distinctBy(keyOf: (item: unknown) => unknown): ListCheck {
  return (items, walk) => {
    const seen = new Set<string>()
    items.forEach((item, index) => {
      const key = keyOf(item)
      const text = JSON.stringify(key)
      if (key !== undefined && seen.has(text)) {
        walk.path.push(index)
        walk.report(duplicateValue(walk.at(), key))
        walk.path.pop()
      }
      seen.add(text)
    })
  }
}

// ---- objects ----------------------------------------------------------------------------------------------------

type Field = { readonly name: string; readonly required: boolean; readonly check: Check }

function checkField(field: Field, value: unknown, walk: Walk): void {
  if (value === undefined && !field.required) return
  walk.path.push(field.name)
  if (value === undefined) walk.report(required(walk.at(), ''))
  else field.check(value, walk)
  walk.path.pop()
}

function objectCheck(schema: JsonSchema): Check {
  const fields = Object.entries(schema.properties ?? {}).map(
    ([name, field]): Field => ({
      name,
      required: schema.required?.includes(name) === true,
      check: compileCheck(field),
    }),
  )
  const values =
    schema.additionalProperties === undefined ? undefined : compileCheck(schema.additionalProperties)
  return (value, walk) => {
    if (!isRecord(value)) return reportType(value, 'object', walk)
    for (const field of fields) checkField(field, value[field.name], walk)
    if (values !== undefined) checkValues(value, values, walk)
  }
}

function checkValues(map: Readonly<Record<string, unknown>>, check: Check, walk: Walk): void {
  for (const key of Object.keys(map)) {
    walk.path.push(key)
    check(map[key], walk)
    walk.path.pop()
  }
}
