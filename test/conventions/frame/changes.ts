/** Other contents of an object, made from the schema of its kind. Not each of them is one that the kind allows. */
import fc from 'fast-check'
import type { AnyKind } from '../../../src/api/kind.ts'
import type { KubeObject } from '../../../src/api/meta.ts'
import type { JsonSchema } from '../../../src/api/schema.ts'
import { valueMatching } from '../../support/kind-arbitrary.ts'

type Step = string | number
export type Path = readonly Step[]
export type Change = { readonly path: Path; readonly value: unknown }

/** Changes of one scalar each outside of metadata and status, in the order of the schema. */
export function changesOf({ schema }: AnyKind, object: KubeObject): readonly Change[] {
  const { status: _status, ...properties } = schema.properties ?? {}
  return changesWithin({ ...schema, properties }, object, [])
}

/** Changes of one scalar each inside of the status. */
export function statusChangesOf({ schema }: AnyKind, { status }: KubeObject): readonly Change[] {
  return changesWithin(schema.properties?.status ?? {}, status, ['status'])
}

/** The object with another value at one place. */
export function changed(object: KubeObject, { path, value }: Change): KubeObject {
  return replacedAt(object, path, value) as KubeObject
}

/** The text of a path in messages: `spec.ports[0].name`. */
export function pathText(path: Path): string {
  return path
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join('')
}

/** Statuses that the schema allows, always the same ones, the fullest first. */
export function statusesOf({ schema }: AnyKind): readonly Readonly<Record<string, unknown>>[] {
  const status = schema.properties?.status
  if (status === undefined) return []
  return samplesOf(status, 60)
    .map(value => value as Readonly<Record<string, unknown>>)
    .toSorted((a, b) => Object.keys(b).length - Object.keys(a).length)
}

/** Always the same. Integers are such that the JSON of tests can carry them. */
function samplesOf(schema: JsonSchema, count: number): readonly unknown[] {
  return fc.sample(valueMatching(schema), { seed: 7, numRuns: count }).map(inJson)
}

function inJson(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(BigInt.asUintN(31, value))
  if (typeof value === 'number') return Number.isSafeInteger(value) ? value : Math.trunc(value) % 2 ** 31
  if (Array.isArray(value)) return value.map(inJson)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, inJson(field)]))
}

/** Where objects of a closed schema stand in an object: nothing but what the schema names may be put there. */
export function closedPaths(schema: JsonSchema, value: unknown, path: Path = []): readonly Path[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => closedPaths(schema.items ?? {}, item, [...path, at]))
  }
  if (typeof value !== 'object' || value === null || schema.properties === undefined) return []
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return []
  const { properties } = schema
  const inner = Object.entries(value).flatMap(([name, field]) =>
    closedPaths(properties[name] ?? {}, field, [...path, name]),
  )
  return [path, ...inner]
}

function changesWithin(schema: JsonSchema, value: unknown, path: Path): readonly Change[] {
  if (Array.isArray(value)) {
    return value.flatMap((item, at) => changesWithin(schema.items ?? {}, item, [...path, at]))
  }
  if (typeof value === 'object' && value !== null) {
    const { properties = {}, additionalProperties } = schema
    const within = Object.entries(value).flatMap(([name, field]) =>
      changesWithin(properties[name] ?? additionalProperties ?? {}, field, [...path, name]),
    )
    const missing = Object.entries(properties)
      .filter(([name]) => !Object.hasOwn(value, name))
      .flatMap(([name, field]) => samplesOf(field, 3).map(made => ({ path: [...path, name], value: made })))
    return path.length === 0 ? within : [...within, ...missing]
  }
  return others(schema, value).map(other => ({ path, value: other }))
}

/** Values that the schema takes in the place of one. */
function others(schema: JsonSchema, value: unknown): readonly unknown[] {
  if (typeof value === 'boolean') return [!value]
  if (typeof value === 'number') {
    const { minimum = -Infinity, maximum = Infinity } = schema
    return [value + 1, value - 1].filter(other => other >= minimum && other <= maximum)
  }
  if (typeof value !== 'string') return []
  if (schema.enum !== undefined) return schema.enum.filter(other => other !== value)
  return schema.format === undefined ? [`${value}x`, value.slice(0, -1)] : ['2020-02-02T02:02:02Z']
}

function replacedAt(value: unknown, path: Path, replacement: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return replacement
  if (Array.isArray(value)) {
    return value.map((item, at) => (at === step ? replacedAt(item, rest, replacement) : item))
  }
  // The path leads through objects of this value.
  const record = (value ?? {}) as Readonly<Record<string, unknown>>
  return { ...record, [step]: replacedAt(record[step], rest, replacement) }
}
